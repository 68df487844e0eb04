//! Every operation as every caller over the API: refused where it must be, told to the audit once where it writes.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use munshi_identity::Role;
use munshi_identity::keys::{Area, KeySpeaker, KeySubject};
use munshi_operations::HOUSE;
use munshi_pack::operation::{OperationScope, OperationSpec, RouteMethod};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{PageRequest, PlatformTx};
use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::TenantId;
use serde_json::{Value, json};

use crate::api::channels::declare_channel;
use crate::api::connectors::show_tools;
use crate::api::mcp;
use crate::api::operation_samples::{Subjects, folder, sample};
use crate::api::persons::forget;
use crate::api::support::{Installation, Reply, add_consents, add_outgoing, add_undoable, bury_job};

/// How many turns of the model [`subjects`] takes.
const TURNS: usize = 1 + 3 * EACH;
pub(super) const EACH: usize = 6;

/// How many drafts may be asked for; whatever else asks a model then hears one, too.
const DRAFTS: usize = 100;

pub(super) fn wipes() -> impl Iterator<Item = ScriptedTurn> {
    let wipes = std::iter::repeat_n(ScriptedTurn::call("wipe", &json!({ "text": "all" })), TURNS);
    wipes.chain(std::iter::repeat_n(ScriptedTurn::text("We open at nine."), DRAFTS))
}

/// What a person does in a conversation, as themselves.
const JOINING: [&str; 5] =
    ["take_session", "give_back_session", "write_session", "whisper_session", "draft_session"];

pub(super) async fn subjects(house: &Installation, owner: &str) -> Subjects {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let say = json!({ "binding": "counter", "text": "wipe it", "person": house.shop.staff });
    let chat = house.post("/v1/chat", owner, say).await.is(200);
    let acts = house.get("/v1/acts", owner).await.is(200);
    let new = json!({ "name": "subject", "role": "viewer", "speaks_as": "program" });
    let key = house.post("/v1/keys", owner, new).await.is(201);
    let mut people = Vec::new();
    for number in 0..=2 * EACH + 1 {
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
    let erasure = text(&forget(house, people.pop().unwrap()).await["id"]);
    let forgotten = people.split_off(1 + EACH);
    let keeper_key = house.keeper_key("spare").await;
    let keeper = house.keeper_key("walker").await;
    for name in ["awake", "asleep", "over"] {
        house.post("/v1/tenants", &keeper, json!({ "name": name })).await.is(201);
    }
    house.call("POST", "/v1/tenants/asleep/pause", &keeper, None).await.is(200);
    let host = json!({ "kid": "front", "jwks": "https://shop.example/keys", "algorithm": "RS256" });
    house.call_in("shop", ("POST", "/v1/host-keys"), &keeper, Some(host)).await.is(201);
    store_secrets(house, &keeper).await;
    for words in ["one", "two", "three", "four"] {
        house.call_in("shop", ("POST", "/v1/folder/apply"), &keeper, Some(folder(words))).await.is(200);
    }
    let (operators, invitations) = add_operators(house, &keeper).await;
    show_tools(house).await;
    show_tools(house).await;
    declare_channel(house).await;
    Subjects {
        session: text(&chat["session"]),
        runs,
        approvals,
        key: text(&key["id"]),
        act: text(&acts["items"][0]["id"]),
        undoable: add_undoable(house, &text(&acts["items"][0]["id"])).await,
        keeper_key: keeper_key[..11].to_owned(),
        job: bury_job(house).await,
        consents: add_consents(house, &people[0], EACH).await,
        outgoing: add_outgoing(house, EACH + 1).await,
        person: people.remove(0),
        leavers: people,
        forgotten,
        erasure,
        operators,
        invitations,
        proposals: ask_for_changes(house).await,
    }
}

/// What a program asks for, and nobody has decided on.
async fn ask_for_changes(house: &Installation) -> Vec<(String, String)> {
    let (shop, role) = (house.shop.tenant, KeySubject::Role(Role::Owner));
    let open = (Some(["administration", "persons"].as_slice()), None);
    let program = house.key_speaking(KeySpeaker::Program, shop, role, open).await;
    let mut proposals = Vec::new();
    for number in 0..2 * EACH {
        let asked =
            mcp::call(house, &program, "add_person", json!({ "name": format!("Asked {number}") })).await;
        let text = |name: &str| asked["structuredContent"][name].as_str().unwrap().to_owned();
        proposals.push((text("id"), text("digest")));
    }
    proposals
}

/// People who look after the shop, and invitations to it.
async fn add_operators(house: &Installation, keeper: &str) -> (Vec<String>, Vec<String>) {
    let (mut operators, mut invitations) = (Vec::new(), Vec::new());
    for number in 0..3 * EACH {
        let email = format!("op{number}@shop.example");
        operators.push(house.add_operator(&email, house.shop.tenant, Role::Staff).await.to_string());
    }
    let guests = (0..EACH).map(|number| format!("guest{number}@shop.example"));
    for email in guests.chain(["waiting@shop.example".to_owned()]) {
        let new = json!({ "email": email, "role": "viewer" });
        let made = house.call_in("shop", ("POST", "/v1/invitations"), keeper, Some(new)).await.is(201);
        invitations.push(made["id"].as_str().unwrap().to_owned());
    }
    (operators, invitations)
}

async fn store_secrets(house: &Installation, keeper: &str) {
    let secret = json!({ "value": "s3cret" });
    house.call_in("shop", ("POST", "/v1/secrets/gone"), keeper, Some(secret.clone())).await.is(200);
    house.post("/v1/secrets/gone", keeper, secret).await.is(200);
}

/// How often each chain heard of what an operation does; of one that is not told, of what any of them does: turns go on
/// meanwhile, and tell of themselves. Of what belongs to a tenant, the shop's chain and the installation's count; of the
/// rest, every chain.
async fn count_entries(house: &Installation, spec: &OperationSpec) -> BTreeMap<TenantId, i64> {
    let every = || HOUSE.iter().flat_map(|entry| entry.spec.events()).copied().collect::<Vec<_>>();
    let events = if spec.events().is_empty() { every() } else { spec.events().to_vec() };
    let words = events.iter().map(|event| format!("'{event}'")).collect::<Vec<_>>().join(", ");
    let all = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event IN";
    let sql: &'static str = format!("{all} ({words})").leak();
    let mut chains = vec![TenantId::PLATFORM, house.shop.tenant];
    if spec.grant().is_none() {
        let read = |tx: &mut PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, 500));
        let all = house.db.platform(TENANTS).read(read).await.unwrap().items;
        chains.extend(all.into_iter().map(|tenant| tenant.id).filter(|id| *id != house.shop.tenant));
    }
    let mut count = BTreeMap::new();
    for chain in chains {
        count.insert(chain, house.number(chain, sql).await);
    }
    count
}

/// How often the audit heard since. What stands in the installation's chain besides a tenant's is one thing.
async fn count_since(house: &Installation, spec: &OperationSpec, before: &BTreeMap<TenantId, i64>) -> i64 {
    let after = count_entries(house, spec).await;
    let since = |(chain, count): (&TenantId, &i64)| count - before.get(chain).copied().unwrap_or_default();
    let (own, others): (Vec<_>, Vec<_>) = after.iter().partition(|(chain, _)| **chain == TenantId::PLATFORM);
    own.into_iter().map(since).sum::<i64>().max(others.into_iter().map(since).sum())
}

/// How often the audit hears of an operation: of one that starts something else before and after.
fn count_told(spec: &OperationSpec) -> i64 {
    match (spec.id().as_str(), spec.events()) {
        (
            "make_backup" | "rotate_tenant_key" | "test_channel" | "test_connector" | "test_model"
            | "grant_proposal",
            _,
        ) => 2,
        (_, events) => i64::from(!events.is_empty()),
    }
}

/// Sets right what a call has changed, so that the next one finds things as they were.
async fn restore(house: &Installation, id: &str, subjects: &mut Subjects, keeper: &str) {
    match id {
        "revoke_key" => house.restore_key(&subjects.key).await,
        "retry_job" | "retry_jobs" => subjects.job = bury_job(house).await,
        "accept_connector" | "remove_connector" => show_tools(house).await,
        "remove_channel" => declare_channel(house).await,
        "remove_secret" => store_secrets(house, keeper).await,
        "take_session" | "write_session" => {
            let path = format!("/v1/sessions/{}/give-back", subjects.session);
            house.call_in("shop", ("POST", &path), keeper, None).await.is(200);
        }
        _ => {}
    }
}

/// Who goes through all operations.
struct Walk {
    house: Installation,
    subjects: Subjects,
    owner: String,
    customer: String,
    elsewhere: String,
    narrow: String,
    keeper: String,
}

impl Walk {
    async fn begin(test: &TestDb) -> Self {
        let house = Installation::open(test, wipes()).await;
        let (shop, owner_role) = (house.shop.tenant, KeySubject::Role(Role::Owner));
        let owner = house.key(Role::Owner).await;
        let subjects = subjects(&house, &owner).await;
        let customer = house.customer("Raju").await;
        let customer = house.key_with(shop, KeySubject::Person(customer), None, None).await;
        let elsewhere = house.key_of(house.other.tenant, Role::Owner).await;
        let narrow = house.key_with(shop, owner_role, Some(&["chat"]), None).await;
        let keeper = house.keeper_key("keeper").await;
        Self { house, subjects, owner, customer, elsewhere, narrow, keeper }
    }

    /// A key of somebody with a role, who has the session in hand where that is needed: only a person joins in.
    async fn join(&self, id: &str, role: Role) -> String {
        let (house, new) = (&self.house, json!({ "name": "Kamal", "role": role.to_string() }));
        let person = house.post("/v1/persons", &self.owner, new).await.is(201);
        let person = KeySubject::Person(person["id"].as_str().unwrap().parse().unwrap());
        let key = house.key_with(house.shop.tenant, person, None, None).await;
        if role <= Role::Staff && ["give_back_session", "write_session"].contains(&id) {
            let path = format!("/v1/sessions/{}/take", self.subjects.session);
            house.call("POST", &path, &key, None).await.is(200);
        }
        key
    }

    /// As each role: refused below the one it names, told once from there on.
    async fn try_roles(&mut self, spec: &OperationSpec, at: usize) {
        let (house, id, method) = (&self.house, spec.id(), spec.method.as_str());
        let area = spec.grant().map(|grant| grant.area);
        for (role, number) in [(Role::Viewer, 0), (Role::Staff, 1), (Role::Admin, 2), (Role::Owner, 3)] {
            let key = match JOINING.contains(&id.as_str()) {
                true => self.join(&id, role).await,
                false => house.naming_key(role, area).await,
            };
            let (mut path, body) = sample(spec, &self.subjects, at * 10 + number);
            if id == "rotate_key" && role <= Role::Admin {
                // A key rotates what was made with it.
                let new =
                    json!({ "name": format!("own {number}"), "role": "viewer", "speaks_as": "program" });
                let own = house.post("/v1/keys", &key, new).await.is(201);
                path = spec.path.replace("{id}", own["id"].as_str().unwrap());
            }
            let before = count_entries(house, spec).await;
            let reply = house.call(method, &path, &key, body).await;
            let told = count_since(house, spec, &before).await;
            // Of approvals the policy says besides whose they are to answer: not a colleague's.
            let is_theirs = spec.resource != "approvals" || !spec.writes() || role <= Role::Admin;
            // Where somebody is reached is for themselves to say, and for those who look after everybody.
            let is_theirs = is_theirs && (id != "change_reach" || role <= Role::Admin);
            let is_high = spec.needs.minimum_role().is_none_or(|lowest| role <= lowest);
            if id == "draft_session" && area.is_some() && is_high {
                // The folder that was applied on the way here permits no model: they may, and hear that.
                assert!(reply.refused(503, "unavailable").contains("permits no model"));
                assert_eq!(told, count_told(spec), "{id} as {role}");
            } else if area.is_some() && is_theirs && is_high {
                reply.is(spec.method.status());
                assert_eq!(told, count_told(spec), "{id} as {role}");
                restore(house, &id, &mut self.subjects, &self.keeper).await;
            } else {
                reply.refused(403, "forbidden");
                assert_eq!(told, 0, "{id} as {role}");
            }
        }
    }

    /// As those who have nothing to do with it: nothing is changed, nothing is told, nothing is seen.
    async fn try_strangers(&self, spec: &OperationSpec, at: usize) {
        let (house, id, method) = (&self.house, spec.id(), spec.method.as_str());
        let area = spec.grant().map(|grant| grant.area);
        let (path, body) = sample(spec, &self.subjects, at * 10 + 4);
        let before = count_entries(house, spec).await;
        house.call(method, &path, "", body.clone()).await.refused(401, "unauthenticated");
        let reply = house.call(method, &path, &self.customer, body.clone()).await;
        if area == Some(Area::Chat) {
            // Whoever may chat does it with their own.
            reply.refused(404, "not_found");
        } else {
            reply.refused(403, "forbidden");
            house.call(method, &path, &self.narrow, body.clone()).await.refused(403, "forbidden");
        }
        let named = area.filter(|area| area.must_be_named());
        let role = KeySubject::Role(Role::Owner);
        let elsewhere = match area.filter(|area| named.is_some() || *area == Area::Tiers) {
            Some(area) => house.key_with(house.other.tenant, role, Some(&[area.as_str()]), None).await,
            None => self.elsewhere.clone(),
        };
        self.check_elsewhere(spec, &house.call(method, &path, &elsewhere, body.clone()).await);
        // One from before the area was there has not gained it, and one for some bindings never has it.
        if let Some(area) = named {
            house.call(method, &path, &self.owner, body.clone()).await.refused(403, "forbidden");
            let bound = Some(vec![house.shop.binding]);
            let bound = house.key_with(house.shop.tenant, role, Some(&[area.as_str()]), bound).await;
            house.call(method, &path, &bound, body).await.refused(403, "forbidden");
        }
        let mut after = count_entries(house, spec).await;
        if id == "invite_operator" {
            // Of the other tenant's own invitation the installation hears.
            after.insert(TenantId::PLATFORM, before[&TenantId::PLATFORM]);
        }
        assert_eq!(after, before, "{id} told of nobody's");
    }

    /// What an owner of another tenant hears.
    fn check_elsewhere(&self, spec: &OperationSpec, reply: &Reply) {
        let status = spec.method.status();
        // A name may be their own as well.
        let is_named = spec.path_fields().all(|field| field == "kind" || field == "name");
        if spec.grant().is_none() {
            reply.refused(403, "forbidden");
        } else if spec.path_fields().next().is_some() && !(is_named && reply.status == status) {
            reply.refused(404, "not_found");
        } else {
            let shown = reply.is(status).to_string();
            let Subjects { key, act, person, session, runs, approvals, operators, proposals, .. } =
                &self.subjects;
            let others =
                [key, act, person, session, &runs[0], &approvals[0].0, &operators[0], &proposals[0].0];
            assert!(others.iter().all(|one| !shown.contains(*one)), "{} shows another tenant's", spec.id());
        }
    }

    /// A keeper is of no tenant until one is named, and of none that is not there.
    async fn try_keeper(&mut self, spec: &OperationSpec, at: usize) {
        let (house, id, method) = (&self.house, spec.id(), spec.method.as_str());
        let (path, body) = sample(spec, &self.subjects, at * 10 + 5);
        if id == "give_back_session" {
            self.join(&id, Role::Staff).await;
        }
        let before = count_entries(house, spec).await;
        if spec.needs.scope() == OperationScope::Tenant {
            let reply = house.call_in("nowhere", (method, &path), &self.keeper, body.clone()).await;
            reply.refused(404, "not_found");
            let reply = house.call(method, &path, &self.keeper, body.clone()).await;
            assert!(reply.refused(422, "invalid").contains("several tenants"), "{id}");
        }
        let reply = match spec.needs.scope() {
            OperationScope::Tenant => house.call_in("shop", (method, &path), &self.keeper, body).await,
            // Whose folder it is, is said by it or by whoever sends it.
            _ if ["folders", "proposals"].contains(&spec.resource) => {
                house.call_in("shop", (method, &path), &self.keeper, body).await
            }
            _ => house.call(method, &path, &self.keeper, body).await,
        };
        if id == "grant_approval" || (JOINING.contains(&id.as_str()) && id != "give_back_session") {
            // A yes is for somebody of the tenant to say, and so is a word to a customer.
            reply.refused(403, "forbidden");
            return;
        }
        if id == "make_backup" && house.db.engine() == "postgres" {
            assert!(reply.refused(403, "forbidden").contains("its own tools"));
            return;
        }
        reply.is(spec.method.status());
        let told = count_since(house, spec, &before).await;
        assert_eq!(told, count_told(spec), "{id} as keeper");
        restore(house, &id, &mut self.subjects, &self.keeper).await;
    }
}

on_both! {
    async fn each_opens_for_those_it_names_and_for_nobody_else(test: TestDb) {
        let mut walk = Walk::begin(&test).await;
        for (at, entry) in HOUSE.iter().filter(|entry| entry.spec.has_route()).enumerate() {
            walk.try_roles(&entry.spec, at).await;
            // So many come without a key within a minute, and no more.
            test.clock.advance(Duration::from_secs(4));
            walk.try_strangers(&entry.spec, at).await;
            walk.try_keeper(&entry.spec, at).await;
        }
    }

    async fn what_is_malformed_is_said_and_changes_nothing(test: TestDb) {
        let house = Installation::open(&test, wipes()).await;
        let (owner, keeper) = (house.key(Role::Owner).await, house.keeper_key("keeper").await);
        let subjects = subjects(&house, &owner).await;
        let get = |path: String| {
            let (house, keeper) = (&house, &keeper);
            async move { house.call_in("shop", ("GET", &path), keeper, None).await }
        };
        for (at, entry) in HOUSE.iter().filter(|entry| entry.spec.has_route()).enumerate() {
            let (path, body) = sample(&entry.spec, &subjects, at);
            if entry.spec.method == RouteMethod::Get {
                get(format!("{path}{}nothing=1", if path.contains('?') { '&' } else { '?' })).await.refused(400, "bad_request");
                if entry.spec.verb == "list" {
                    for limit in ["0", "501", "many", "-1"] {
                        get(format!("{path}?limit={limit}")).await.refused(400, "bad_request");
                    }
                    get(format!("{path}?limit=1&limit=2")).await.refused(400, "bad_request");
                    // Lists by name go on behind any.
                    if !["secrets", "host-keys", "channels", "connectors", "limits", "tiers", "bindings", "operators", "model-targets", "model-capabilities", "backups"].contains(&entry.spec.resource) {
                        get(format!("{path}?after=nowhere")).await.refused(400, "bad_request");
                    }
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
        // Who was forgotten has no name.
        assert!(people["items"].as_array().unwrap().iter().all(|person| person["left_at"].is_null() || person["name"] == ""), "{people}");
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
        house.get(&path, &house.key_of(house.other.tenant, Role::Owner).await).await.refused(404, "not_found");
        assert_eq!(house.number(house.shop.tenant, opened).await, 3);
    }

    async fn a_change_under_a_key_is_made_once(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (owner, other) = (house.key(Role::Owner).await, house.key(Role::Owner).await);
        let keeper = house.keeper_key("keeper").await;
        let send = |route: (&'static str, &'static str), key: &str, name: &'static str, body: Value| {
            let request = Request::builder()
                .method(route.0)
                .uri(route.1)
                .header("authorization", format!("Bearer {key}"))
                .header("idempotency-key", name)
                .header("content-type", "application/json");
            let request = request.body(Body::from(body.to_string())).unwrap();
            let house = &house;
            async move { Reply::of(house.send(request).await).await }
        };
        let persons = ("POST", "/v1/persons");
        let first = send(persons, &owner, "one", json!({ "name": "Raju" })).await.is(201);
        let again = send(persons, &owner, "one", json!({ "name": "Raju" })).await.is(201);
        assert_eq!(first, again);
        send(persons, &owner, "one", json!({ "name": "Rita" })).await.refused(409, "conflict");
        send(("POST", "/v1/keys"), &owner, "one", json!({ "name": "k", "role": "viewer", "speaks_as": "program" })).await.refused(409, "conflict");
        // Nobody hears another's answers.
        let theirs = send(persons, &other, "one", json!({ "name": "Raju" })).await.is(201);
        assert_ne!(first["id"], theirs["id"]);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'person.added'";
        assert_eq!(house.number(house.shop.tenant, told).await, 2);

        // What is shown once is not kept.
        let new = json!({ "name": "till", "role": "viewer", "speaks_as": "program" });
        send(("POST", "/v1/keys"), &owner, "two", new.clone()).await.is(201);
        send(("POST", "/v1/keys"), &owner, "two", new).await.refused(409, "conflict");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM answered_requests WHERE tenant_id = $1 AND answer IS NULL").await, 1);

        // Of what is refused nothing is kept.
        send(("POST", "/v1/usage/plan"), &owner, "three", json!({ "plan": "pro" })).await.refused(403, "forbidden");
        let tenants = ("POST", "/v1/tenants");
        send(tenants, &keeper, "three", json!({ "name": "No Name" })).await.refused(422, "invalid");
        send(tenants, &keeper, "three", json!({ "name": "third" })).await.is(201);
        let third = send(tenants, &keeper, "three", json!({ "name": "third" })).await.is(201);
        assert_eq!(third["name"], "third");
        for bad in ["", "two words"] {
            send(persons, &owner, bad, json!({ "name": "Raju" })).await.refused(422, "invalid");
        }
        let (one, two) = tokio::join!(
            send(persons, &owner, "four", json!({ "name": "Mina" })),
            send(persons, &owner, "four", json!({ "name": "Mina" }))
        );
        let statuses = [one.status, two.status];
        assert!(statuses.contains(&201) && statuses.iter().all(|status| [201, 409].contains(status)), "{statuses:?}");
        assert_eq!(house.count_named(house.shop.tenant, "Mina").await, 1);
    }

    async fn what_a_keepers_key_makes_ends_with_it(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let keeper = house.keeper_key("keeper").await;
        let new = |name: &str| Some(json!({ "name": name, "role": "owner", "speaks_as": "person" }));
        let made = house.call_in("shop", ("POST", "/v1/keys"), &keeper, new("made")).await.is(201);
        let made = made["text"].as_str().unwrap();
        house.get("/v1/runs", made).await.is(200);
        // A second of knowing it may pass on another node: what was made then ends with it, too.
        let late = house.again(&test, []).await;
        late.get("/v1/tenants", &keeper).await.is(200);
        let revoked = house.call("POST", "/v1/keeper-keys/keeper/revoke", &keeper, None).await.is(200);
        assert_eq!((&revoked["changed"], &revoked["made_with_it"]), (&json!(true), &json!(["made"])));
        let after = late.call_in("shop", ("POST", "/v1/keys"), &keeper, new("after")).await;
        house.get("/v1/tenants", &keeper).await.refused(401, "unauthenticated");
        house.get("/v1/runs", made).await.refused(401, "unauthenticated");
        if after.status == 201 {
            let after = after.json()["text"].as_str().unwrap().to_owned();
            house.get("/v1/runs", &after).await.refused(401, "unauthenticated");
        }
        test.clock.advance(Duration::from_secs(2));
        late.get("/v1/tenants", &keeper).await.refused(401, "unauthenticated");
    }
}
