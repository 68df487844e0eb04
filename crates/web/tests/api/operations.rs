//! Every operation as every caller over the API: refused where it must be, told to the audit once where it writes.

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_jobs::NewJob;
use munshi_operations::HOUSE;
use munshi_pack::operation::{OperationScope, OperationSpec, RouteMethod};
use munshi_safety::audit::AUDIT;
use munshi_store::{PlatformTx, Tx, across_tenants, params};
use munshi_test_support::models::ScriptedTurn;
use munshi_types::JobId;
use serde_json::{Value, json};

use crate::api::support::Installation;

/// What one business has that operations are about.
struct Subjects {
    key: String,
    act: String,
    keeper_key: String,
    job: String,
    person: String,
    /// One who can leave for each that may let them.
    leavers: Vec<String>,
}

/// A request that would do; the number makes what is made anew another one each time.
fn sample(spec: &OperationSpec, subjects: &Subjects, number: usize) -> (String, Option<Value>) {
    let path = |id: &str| spec.path.replace("{id}", id);
    let plain = || spec.path.to_owned();
    match spec.id().as_str() {
        "add_key" => {
            let new = json!({ "name": format!("key {number}"), "role": "viewer", "speaks_as": "program" });
            (plain(), Some(new))
        }
        "read_key" | "revoke_key" | "rotate_key" => (path(&subjects.key), None),
        "add_person" => (spec.path.to_owned(), Some(json!({ "name": format!("Person {number}") }))),
        "change_person" => (path(&subjects.person), Some(json!({ "name": format!("Person {number}") }))),
        "read_person" => (path(&subjects.person), None),
        "leave_person" => (path(&subjects.leavers[number % subjects.leavers.len()]), None),
        "read_act" => (path(&subjects.act), None),
        "add_tenant" => (plain(), Some(json!({ "name": format!("tenant-{number}") }))),
        "read_tenant" | "pause_tenant" => (spec.path.replace("{name}", "awake"), None),
        "resume_tenant" => (spec.path.replace("{name}", "asleep"), None),
        "archive_tenant" => (spec.path.replace("{name}", "over"), None),
        "read_job" | "retry_job" => (path(&subjects.job), None),
        "revoke_keeper_key" => (path(&subjects.keeper_key), None),
        "set_limit" => (plain(), Some(json!({ "limit": "tenant.day.tokens", "amount": "100000" }))),
        "set_plan" => (plain(), Some(json!({ "plan": "pro" }))),
        "retry_jobs" | "read_plan" => (plain(), None),
        _ if spec.verb == "list" => (plain(), None),
        other => panic!("{other} has no sample: write one, so that it is walked through"),
    }
}

async fn subjects(house: &Installation, owner: &str) -> Subjects {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let say = json!({ "binding": "counter", "text": "wipe it", "person": house.shop.staff });
    house.post("/v1/chat", owner, say).await.is(200);
    let acts = house.get("/v1/acts", owner).await.is(200);
    let new = json!({ "name": "subject", "role": "viewer", "speaks_as": "program" });
    let key = house.post("/v1/keys", owner, new).await.is(201);
    let mut people = Vec::new();
    for number in 0..6 {
        let new = json!({ "name": format!("Raju {number}"), "handle": format!("raju{number}") });
        people.push(text(&house.post("/v1/persons", owner, new).await.is(201)["id"]));
    }
    let keeper_key = house.keeper_key("spare").await;
    let keeper = house.keeper_key("walker").await;
    for name in ["awake", "asleep", "over"] {
        house.post("/v1/tenants", &keeper, json!({ "name": name })).await.is(201);
    }
    house.call("POST", "/v1/tenants/asleep/pause", &keeper, None).await.is(200);
    Subjects {
        key: text(&key["id"]),
        act: text(&acts["items"][0]["id"]),
        keeper_key: keeper_key[..11].to_owned(),
        job: bury_job(house, "letter").await,
        person: people.remove(0),
        leavers: people,
    }
}

/// A job that was given up.
async fn bury_job(house: &Installation, kind: &'static str) -> String {
    let queue = house.queue.clone();
    let unit = move |tx: &mut Tx<'_>| -> munshi_jobs::Result<JobId> {
        let id = queue.enqueue(tx, &NewJob::new(kind, &())?)?.id();
        tx.execute("UPDATE jobs SET state = 'dead' WHERE tenant_id = $1 AND id = $2", params![id])?;
        Ok(id)
    };
    house.db.write(house.shop.tenant, unit).await.unwrap().to_string()
}

/// What is told in all chains.
async fn count_entries(house: &Installation) -> i64 {
    let count = |tx: &mut PlatformTx<'_>| {
        tx.one(across_tenants("SELECT COUNT(*) FROM audit_entries"), &[], |row| row.get(0))
    };
    house.db.platform(AUDIT).read(count).await.unwrap()
}

/// Sets right what a call has changed, so that the next one finds things as they were.
async fn restore(house: &Installation, id: &str, subjects: &mut Subjects) {
    match id {
        "revoke_key" => house.restore_key(&subjects.key).await,
        "retry_job" | "retry_jobs" => subjects.job = bury_job(house, "letter").await,
        _ => {}
    }
}

on_both! {
    async fn each_opens_for_those_it_names_and_for_nobody_else(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::call("wipe", &json!({ "text": "all" }))]).await;
        let owner = house.key(Role::Owner).await;
        let mut subjects = subjects(&house, &owner).await;
        let customer = house.customer("Raju").await;
        let customer = house.key_with(house.shop.tenant, KeySubject::Person(customer), None, None).await;
        let elsewhere = house.key_of(house.other.tenant, Role::Owner).await;
        let narrow = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), Some(&["chat"]), None).await;
        let keeper = house.keeper_key("keeper").await;
        for (at, entry) in HOUSE.iter().filter(|entry| entry.spec.has_route()).enumerate() {
            let (spec, id) = (&entry.spec, entry.spec.id());
            let method = spec.method.as_str();
            let least = spec.needs.minimum_role();
            for (role, number) in [(Role::Viewer, 0), (Role::Staff, 1), (Role::Admin, 2), (Role::Owner, 3)] {
                let key = house.key(role).await;
                let (mut path, body) = sample(spec, &subjects, at * 10 + number);
                if id == "rotate_key" && role <= Role::Admin {
                    // A key rotates what was made with it.
                    let new = json!({ "name": format!("own {number}"), "role": "viewer", "speaks_as": "program" });
                    let own = house.post("/v1/keys", &key, new).await.is(201);
                    path = spec.path.replace("{id}", own["id"].as_str().unwrap());
                }
                let before = count_entries(&house).await;
                let reply = house.call(method, &path, &key, body).await;
                let told = count_entries(&house).await - before;
                if least.is_some_and(|least| role <= least) {
                    reply.is(spec.method.status());
                    assert_eq!(told, i64::from(!spec.events().is_empty()), "{id} as {role}");
                    restore(&house, &id, &mut subjects).await;
                } else {
                    reply.refused(403, "forbidden");
                    assert_eq!(told, 0, "{id} as {role}");
                }
            }
            let (path, body) = sample(spec, &subjects, at * 10 + 4);
            let before = count_entries(&house).await;
            house.call(method, &path, "", body.clone()).await.refused(401, "unauthenticated");
            house.call(method, &path, &customer, body.clone()).await.refused(403, "forbidden");
            house.call(method, &path, &narrow, body.clone()).await.refused(403, "forbidden");
            let reply = house.call(method, &path, &elsewhere, body).await;
            if least.is_none() {
                reply.refused(403, "forbidden");
            } else if spec.path_fields().next().is_some() {
                reply.refused(404, "not_found");
            } else {
                let shown = reply.is(spec.method.status()).to_string();
                let Subjects { key, act, person, .. } = &subjects;
                assert!([key, act, person].iter().all(|one| !shown.contains(*one)), "{id} shows another tenant's");
            }
            assert_eq!(count_entries(&house).await, before, "{id} told of nobody's");

            let (path, body) = sample(spec, &subjects, at * 10 + 5);
            // A keeper is of no tenant until one is named, and of none that is not there.
            if spec.needs.scope() == OperationScope::Tenant {
                let reply = house.call_in("nowhere", (method, &path), &keeper, body.clone()).await;
                reply.refused(404, "not_found");
                let reply = house.call(method, &path, &keeper, body.clone()).await;
                assert!(reply.refused(422, "invalid").contains("several tenants"), "{id}");
            }
            let reply = match spec.needs.scope() {
                OperationScope::Tenant => house.call_in("shop", (method, &path), &keeper, body).await,
                OperationScope::Installation | OperationScope::Either => house.call(method, &path, &keeper, body).await,
            };
            reply.is(spec.method.status());
            assert_eq!(count_entries(&house).await - before, i64::from(!spec.events().is_empty()), "{id} as keeper");
            restore(&house, &id, &mut subjects).await;
        }
    }

    async fn what_is_malformed_is_said_and_changes_nothing(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::call("wipe", &json!({ "text": "all" }))]).await;
        let (owner, keeper) = (house.key(Role::Owner).await, house.keeper_key("keeper").await);
        let subjects = subjects(&house, &owner).await;
        let get = |path: String| {
            let (house, keeper) = (&house, &keeper);
            async move { house.call_in("shop", ("GET", &path), keeper, None).await }
        };
        for (at, entry) in HOUSE.iter().filter(|entry| entry.spec.has_route()).enumerate() {
            let (path, body) = sample(&entry.spec, &subjects, at);
            if entry.spec.method == RouteMethod::Get {
                get(format!("{path}?nothing=1")).await.refused(400, "bad_request");
                if entry.spec.verb == "list" {
                    for limit in ["0", "501", "many", "-1"] {
                        get(format!("{path}?limit={limit}")).await.refused(400, "bad_request");
                    }
                    get(format!("{path}?limit=1&limit=2")).await.refused(400, "bad_request");
                    get(format!("{path}?after=nowhere")).await.refused(400, "bad_request");
                }
            } else {
                let mut more = body.unwrap_or_else(|| json!({}));
                more["nothing"] = json!(1);
                let route = (entry.spec.method.as_str(), path.as_str());
                house.call_in("shop", route, &keeper, Some(more)).await.refused(422, "invalid");
                house.call_in("shop", route, &keeper, Some(json!([1]))).await.refused(422, "invalid");
            }
        }
        let key = house.get(&format!("/v1/keys/{}", subjects.key), &owner).await.is(200);
        assert_eq!((&key["state"], key["secrets"].as_array().unwrap().len()), (&json!("open"), 1));
        let people = house.get("/v1/persons?everybody=true&limit=500", &owner).await.is(200);
        assert!(people["items"].as_array().unwrap().iter().all(|person| person["left_at"].is_null()), "{people}");
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
