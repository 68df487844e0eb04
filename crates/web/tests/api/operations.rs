//! Every operation as every caller over the API: refused where it must be, told to the audit once where it writes.

use std::time::Duration;

use munshi_identity::Role;
use munshi_identity::keys::{Area, KeySubject};
use munshi_operations::HOUSE;
use munshi_pack::operation::{OperationSpec, RouteMethod};
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use crate::api::support::Installation;

/// What one business has that operations are about.
struct Subjects {
    key: String,
    act: String,
    person: String,
    /// One who can leave for each that may let them.
    leavers: Vec<String>,
    session: String,
    /// One that waits for each that may stop it.
    runs: Vec<String>,
    /// One that waits for each that may answer it, and its digest.
    approvals: Vec<(String, String)>,
}

/// How many turns of the model [`subjects`] takes: as many runs are stopped as approvals are granted and refused.
const TURNS: usize = 1 + 3 * EACH;
const EACH: usize = 5;

fn wipes() -> impl Iterator<Item = ScriptedTurn> {
    std::iter::repeat_n(ScriptedTurn::call("wipe", &json!({ "text": "all" })), TURNS)
}

/// A request that would do; the number makes what is made anew another one each time.
fn sample(spec: &OperationSpec, subjects: &Subjects, number: usize) -> (String, Option<Value>) {
    let path = |id: &str| spec.path.replace("{id}", id);
    match spec.id().as_str() {
        "add_key" => {
            let new = json!({ "name": format!("key {number}"), "role": "viewer", "speaks_as": "program" });
            (spec.path.to_owned(), Some(new))
        }
        "read_key" | "revoke_key" | "rotate_key" => (path(&subjects.key), None),
        "add_person" => (spec.path.to_owned(), Some(json!({ "name": format!("Person {number}") }))),
        "change_person" => (path(&subjects.person), Some(json!({ "name": format!("Person {number}") }))),
        "read_person" => (path(&subjects.person), None),
        "leave_person" => (path(&subjects.leavers[number % subjects.leavers.len()]), None),
        "read_session" | "list_messages" => (path(&subjects.session), None),
        "read_run" => (path(&subjects.runs[0]), None),
        "cancel_run" => (path(&subjects.runs[number % subjects.runs.len()]), None),
        "read_approval" => (path(&subjects.approvals[0].0), None),
        "grant_approval" | "refuse_approval" => {
            let from = if spec.verb == "grant" { 0 } else { EACH };
            let (id, digest) = &subjects.approvals[from + number % EACH];
            (path(id), Some(json!({ "digest": digest })))
        }
        "read_tier" | "list_tier_versions" | "diff_tier" => {
            (spec.path.replace("{kind}", "binding").replace("{name}", "counter"), None)
        }
        "read_binding" => (spec.path.replace("{name}", "counter"), None),
        "read_act" => (path(&subjects.act), None),
        "read_stats" | "read_usage" | "list_keys" | "list_acts" | "list_approvals" | "list_bindings"
        | "list_tiers" | "list_persons" | "list_runs" | "list_sessions" | "list_violations" => {
            (spec.path.to_owned(), None)
        }
        other => panic!("{other} has no sample: write one, so that it is walked through"),
    }
}

async fn subjects(house: &Installation, owner: &str) -> Subjects {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let say = json!({ "binding": "counter", "text": "wipe it", "person": house.shop.staff });
    let chat = house.post("/v1/chat", owner, say).await.is(200);
    let acts = house.get("/v1/acts", owner).await.is(200);
    let new = json!({ "name": "subject", "role": "viewer", "speaks_as": "program" });
    let key = house.post("/v1/keys", owner, new).await.is(201);
    let mut people = Vec::new();
    for number in 0..6 {
        let new = json!({ "name": format!("Raju {number}"), "handle": format!("raju{number}") });
        people.push(text(&house.post("/v1/persons", owner, new).await.is(201)["id"]));
    }
    let (mut runs, mut approvals) = (Vec::new(), Vec::new());
    for number in 1..TURNS {
        let new = json!({ "name": format!("Nina {number}"), "role": "staff" });
        let staff = house.post("/v1/persons", owner, new).await.is(201);
        let say = json!({ "binding": "counter", "text": "wipe it", "person": staff["id"] });
        let waits = house.post("/v1/chat", owner, say).await.is(200);
        if runs.len() < EACH {
            runs.push(text(&waits["run"]));
            continue;
        }
        let id = text(&waits["approval"]);
        let digest = house.get(&format!("/v1/approvals/{id}"), owner).await.is(200);
        approvals.push((id, text(&digest["digest"])));
    }
    Subjects {
        session: text(&chat["session"]),
        runs,
        approvals,
        key: text(&key["id"]),
        act: text(&acts["items"][0]["id"]),
        person: people.remove(0),
        leavers: people,
    }
}

/// How often the audit heard of what an operation does; of one that is not told, of what any of them does. Turns go on
/// meanwhile, and tell of themselves.
async fn count_entries(house: &Installation, spec: &OperationSpec) -> i64 {
    let every = || HOUSE.iter().flat_map(|entry| entry.spec.events()).copied().collect::<Vec<_>>();
    let events = if spec.events().is_empty() { every() } else { spec.events().to_vec() };
    let words: Vec<String> = events.iter().map(|event| format!("'{event}'")).collect();
    let all = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event IN";
    house.number(house.shop.tenant, format!("{all} ({})", words.join(", ")).leak()).await
}

on_both! {
    async fn each_opens_for_those_it_names_and_for_nobody_else(test: TestDb) {
        let house = Installation::open(&test, wipes()).await;
        let owner = house.key(Role::Owner).await;
        let subjects = subjects(&house, &owner).await;
        let customer = house.customer("Raju").await;
        let customer = house.key_with(house.shop.tenant, KeySubject::Person(customer), None, None).await;
        let elsewhere = house.key_of(house.other.tenant, Role::Owner).await;
        let narrow = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), Some(&["chat"]), None).await;
        for (at, entry) in HOUSE.iter().enumerate() {
            let (spec, id) = (&entry.spec, entry.spec.id());
            let method = spec.method.as_str();
            for (role, number) in [(Role::Viewer, 0), (Role::Staff, 1), (Role::Admin, 2), (Role::Owner, 3)] {
                let key = house.key(role).await;
                let (mut path, body) = sample(spec, &subjects, at * 10 + number);
                if id == "rotate_key" && role <= Role::Admin {
                    // A key rotates what was made with it.
                    let new = json!({ "name": format!("own {number}"), "role": "viewer", "speaks_as": "program" });
                    let own = house.post("/v1/keys", &key, new).await.is(201);
                    path = spec.path.replace("{id}", own["id"].as_str().unwrap());
                }
                let before = count_entries(&house, spec).await;
                let reply = house.call(method, &path, &key, body).await;
                let told = count_entries(&house, spec).await - before;
                // Of approvals the policy says besides whose they are to answer: not a colleague's.
                let is_theirs = spec.resource != "approvals" || !spec.writes() || role <= Role::Admin;
                if is_theirs && spec.needs.minimum_role().is_none_or(|lowest| role <= lowest) {
                    reply.is(spec.method.status());
                    assert_eq!(told, i64::from(!spec.events().is_empty()), "{id} as {role}");
                } else {
                    reply.refused(403, "forbidden");
                    assert_eq!(told, 0, "{id} as {role}");
                }
                if id == "revoke_key" {
                    // The next one finds it as it was.
                    house.restore_key(&subjects.key).await;
                }
            }
            // So many come without a key within a minute, and no more.
            test.clock.advance(Duration::from_secs(4));
            let (path, body) = sample(spec, &subjects, at * 10 + 4);
            let before = count_entries(&house, spec).await;
            house.call(method, &path, "", body.clone()).await.refused(401, "unauthenticated");
            let reply = house.call(method, &path, &customer, body.clone()).await;
            if spec.grant().unwrap().area == Area::Chat {
                // Whoever may chat does it with their own.
                reply.refused(404, "not_found");
            } else {
                reply.refused(403, "forbidden");
                house.call(method, &path, &narrow, body.clone()).await.refused(403, "forbidden");
            }
            let reply = house.call(method, &path, &elsewhere, body).await;
            // A name may be their own as well.
            if spec.path_fields().any(|field| field != "kind" && field != "name") {
                reply.refused(404, "not_found");
            } else {
                let shown = reply.is(spec.method.status()).to_string();
                let Subjects { key, act, person, session, runs, approvals, .. } = &subjects;
                let binding = house.shop.binding.to_string();
                assert!([key, act, person, session, &runs[0], &approvals[0].0, &binding].iter().all(|one| !shown.contains(*one)), "{id} shows another tenant's");
            }
            assert_eq!(count_entries(&house, spec).await, before, "{id} told of nobody's");
        }
    }

    async fn what_is_malformed_is_said_and_changes_nothing(test: TestDb) {
        let house = Installation::open(&test, wipes()).await;
        let owner = house.key(Role::Owner).await;
        let subjects = subjects(&house, &owner).await;
        for (at, entry) in HOUSE.iter().enumerate() {
            let (path, body) = sample(&entry.spec, &subjects, at);
            if entry.spec.method == RouteMethod::Get {
                house.get(&format!("{path}?nothing=1"), &owner).await.refused(400, "bad_request");
                if entry.spec.verb == "list" {
                    for limit in ["0", "501", "many", "-1"] {
                        house.get(&format!("{path}?limit={limit}"), &owner).await.refused(400, "bad_request");
                    }
                    house.get(&format!("{path}?limit=1&limit=2"), &owner).await.refused(400, "bad_request");
                    // A list by name begins anywhere.
                    if !matches!(entry.spec.resource, "tiers" | "bindings") {
                        house.get(&format!("{path}?after=nowhere"), &owner).await.refused(400, "bad_request");
                    }
                }
            } else {
                let mut more = body.unwrap_or_else(|| json!({}));
                more["nothing"] = json!(1);
                let method = entry.spec.method.as_str();
                house.call(method, &path, &owner, Some(more)).await.refused(422, "invalid");
                house.call(method, &path, &owner, Some(json!([1]))).await.refused(422, "invalid");
            }
        }
        let key = house.get(&format!("/v1/keys/{}", subjects.key), &owner).await.is(200);
        assert_eq!((&key["state"], key["secrets"].as_array().unwrap().len()), (&json!("open"), 1));
        let people = house.get("/v1/persons?everybody=true&limit=500", &owner).await.is(200);
        assert!(people["items"].as_array().unwrap().iter().all(|person| person["left_at"].is_null()), "{people}");
    }

    async fn opening_somebody_elses_conversation_is_written_down(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Yes.")]).await;
        let own = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        let chat = house.post("/v1/chat", &own, json!({ "binding": "counter", "text": "hi" })).await.is(200);
        let path = format!("/v1/sessions/{}/messages", chat["session"].as_str().unwrap());
        let opened = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'conversation.opened'";
        assert_eq!(house.get(&path, &own).await.is(200)["items"].as_array().unwrap().len(), 2);
        assert_eq!(house.number(house.shop.tenant, opened).await, 0, "their own");
        let owner = house.key(Role::Owner).await;
        house.get(&path, &owner).await.is(200);
        assert_eq!(house.number(house.shop.tenant, opened).await, 1);
        let after = house.get(&format!("{path}?limit=1"), &owner).await.is(200);
        house.get(&format!("{path}?limit=1&after={}", after["next"].as_str().unwrap()), &owner).await.is(200);
        assert_eq!(house.number(house.shop.tenant, opened).await, 3, "a page can't be read unseen");
        let elsewhere = house.key_of(house.other.tenant, Role::Owner).await;
        house.get(&path, &elsewhere).await.refused(404, "not_found");
        assert_eq!(house.number(house.shop.tenant, opened).await, 3);
    }

    async fn a_rotated_key_shows_its_text_to_nobody_who_has_less(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop;
        let owner = house.key(Role::Owner).await;
        let wide = json!({ "name": "wide", "role": "staff", "speaks_as": "person" });
        let wide = house.post("/v1/keys", &owner, wide).await.is(201);
        let path = format!("/v1/keys/{}/rotate", wide["id"].as_str().unwrap());
        let role = KeySubject::Role(Role::Owner);
        let narrow = house.key_with(shop.tenant, role, Some(&["keys"]), None).await;
        house.call("POST", &path, &narrow, None).await.refused(403, "forbidden");
        let one_binding = house.key_with(shop.tenant, role, None, Some(vec![shop.binding])).await;
        house.call("POST", &path, &one_binding, None).await.refused(403, "forbidden");
        // One that did not make it would keep what it is shown after it was revoked itself.
        let other = house.key(Role::Owner).await;
        house.call("POST", &path, &other, None).await.refused(403, "forbidden");
        house.post(&path, &owner, json!({ "grace": 721 })).await.refused(422, "invalid");
        let rotated = house.post(&path, &owner, json!({ "grace": 0 })).await.is(200);
        house.get("/v1/runs", wide["text"].as_str().unwrap()).await.refused(401, "unauthenticated");
        house.get("/v1/runs", rotated["text"].as_str().unwrap()).await.is(200);
        let keys = house.get("/v1/keys", &owner).await.is(200);
        let keys = keys["items"].as_array().unwrap();
        let parent = keys.iter().find(|key| owner.starts_with(key["secrets"][0]["handle"].as_str().unwrap())).unwrap();
        let revoke = format!("/v1/keys/{}/revoke", parent["id"].as_str().unwrap());
        house.call("POST", &revoke, &other, None).await.is(200);
        house.get("/v1/runs", rotated["text"].as_str().unwrap()).await.refused(401, "unauthenticated");
    }

    async fn who_may_not_look_at_people_finds_none_by_making_keys(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let keys = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), Some(&["keys"]), None).await;
        for person in ["Asha", "+919812345678", "nobody@munshi.example"] {
            let new = json!({ "name": "", "speaks_as": "program", "person": person });
            house.post("/v1/keys", &keys, new).await.refused(403, "forbidden");
        }
    }
}
