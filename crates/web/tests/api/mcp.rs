//! Munshi as an MCP server, through the router.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use munshi_identity::Role;
use munshi_identity::keys::{KeySpeaker, KeySubject};
use munshi_operations::HOUSE;
use munshi_pack::operation::OperationEffect;
use munshi_store::Tx;
use munshi_test_app::notes::OPEN_POLICY;
use munshi_test_support::PATIENCE;
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use crate::api::support::{Installation, Reply, files};
use crate::api::visits::consents;

/// One request as a client of the older handshake sends it, which needs no session here.
async fn send(house: &Installation, key: &str, body: &Value) -> Reply {
    send_in(house, None, key, body).await
}

/// As a keeper who names a tenant.
async fn send_in(house: &Installation, tenant: Option<&str>, key: &str, body: &Value) -> Reply {
    let mut request = Request::post("/mcp")
        .header("host", "localhost:8400")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-06-18");
    if !key.is_empty() {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    if let Some(tenant) = tenant {
        request = request.header("x-munshi-tenant", tenant);
    }
    Reply::of(house.send(request.body(Body::from(body.to_string())).unwrap()).await).await
}

async fn ask(house: &Installation, key: &str, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let answer = send(house, key, &body).await.is(200);
    assert_eq!(answer["id"], 1, "{answer}");
    answer
}

async fn names(house: &Installation, key: &str) -> Vec<String> {
    let listed = ask(house, key, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

pub(crate) async fn call(house: &Installation, key: &str, name: &str, arguments: Value) -> Value {
    let answer = ask(house, key, "tools/call", json!({ "name": name, "arguments": arguments })).await;
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// The digest that an answer quotes: whoever may answer looks it up.
async fn digest(house: &Installation, key: &str, id: &str) -> Value {
    house.get(&format!("/v1/approvals/{id}"), key).await.is(200)["digest"].clone()
}

/// Says yes to an approval, and gives its id.
async fn approve(house: &Installation, key: &str, result: &Value) -> String {
    let id = result["structuredContent"]["approval"].as_str().unwrap().to_owned();
    let digest = digest(house, key, &id).await;
    house.post(&format!("/v1/approvals/{id}/grant"), key, json!({ "digest": digest })).await.is(200);
    id
}

on_both! {
    async fn a_client_shakes_hands_and_sees_what_its_key_reaches(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Owner).await;
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let hello = ask(&house, &key, "initialize", hello).await;
        assert_eq!(hello["result"]["serverInfo"]["name"], "munshi");
        assert!(hello["result"]["capabilities"]["tools"].is_object() && hello["result"]["capabilities"]["prompts"].is_null());
        assert_eq!(
            names(&house, &key).await,
            ["ask_back", "ask_counter", "ask_front", "count", "go_on", "note", "show", "wipe"]
        );
        let listed = ask(&house, &key, "tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(find("count")["annotations"]["readOnlyHint"], true);
        assert_eq!(find("count")["_meta"]["munshi/tool"], json!({ "effect": "read", "scope": "shop.count" }));
        let wipe = find("wipe");
        assert_eq!(wipe["annotations"]["destructiveHint"], true);
        assert_eq!(wipe["_meta"]["munshi/tool"]["dangerous"], true);
        assert!(wipe["inputSchema"]["properties"]["idempotency_key"].is_object());
        assert!(find("note")["inputSchema"]["properties"]["dry_run"].is_object());
        for method in ["prompts/list", "resources/list", "nothing/such"] {
            assert_eq!(ask(&house, &key, method, json!({})).await["error"]["code"], -32601, "{method}");
        }
    }

    async fn what_needs_a_conversation_is_not_for_programs(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let agent = "name = \"Plain\"\ntools = [\"recall\", \"show\"]\n[policy]\nautonomy = \"act\"\nread = [\"*\"]\n";
        house.apply_tenant(&files("shop").with_agent(agent).with_policy(OPEN_POLICY)).await;
        let key = house.key(Role::Owner).await;
        let listed = names(&house, &key).await;
        assert!(listed.contains(&"show".to_owned()) && !listed.contains(&"recall".to_owned()), "{listed:?}");
        let called = ask(&house, &key, "tools/call", json!({ "name": "recall", "arguments": { "text": "atta" } })).await;
        assert_eq!(called["error"]["code"], -32602, "{called}");
    }

    async fn what_needs_a_consent_says_so_and_no_key_gives_it(test: TestDb) {
        let house = consents::opened(&test, []).await;
        let key = house.key(Role::Owner).await;
        let listed = ask(&house, &key, "tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let score = tools.iter().find(|tool| tool["name"] == "score").unwrap();
        assert_eq!(score["_meta"]["munshi/tool"]["consent"], "credit_check");
        let nobody = call(&house, &key, "score", json!({ "text": "Asha" })).await;
        assert!(nobody["isError"] == true && nobody.to_string().contains("no_consent"), "{nobody}");
        let theirs = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.owner), None, None).await;
        let asked = call(&house, &theirs, "score", json!({ "text": "Asha" })).await;
        let id = asked["structuredContent"]["approval"].as_str().unwrap().to_owned();
        let digest = digest(&house, &theirs, &id).await;
        let again = call(&house, &theirs, "score", json!({ "text": "Ravi" })).await;
        assert!(again.to_string().contains("no_consent"), "they are asked once: {again}");
        for key in [&key, &theirs] {
            let granted = house.post(&format!("/v1/approvals/{id}/grant"), key, json!({ "digest": digest })).await;
            granted.refused(403, "forbidden");
        }
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM consents WHERE tenant_id = $1").await, 0);
    }

    async fn a_key_opens_what_its_areas_and_bindings_open_and_no_more(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        let role = KeySubject::Role(Role::Owner);
        let looks = house.key_with(shop, role, Some(&["tools:read"]), None).await;
        assert_eq!(names(&house, &looks).await, ["count", "go_on", "show"]);
        let speaks = house.key_with(shop, role, Some(&["chat"]), None).await;
        assert_eq!(names(&house, &speaks).await, ["ask_back", "ask_counter", "ask_front", "go_on"]);
        let one = house.key_with(shop, role, None, Some(vec![house.shop.binding])).await;
        assert_eq!(names(&house, &one).await, ["ask_counter", "count", "go_on", "note", "show", "wipe"]);
        let none = house.key_with(shop, role, None, Some(vec![test.ids.next()])).await;
        assert!(names(&house, &none).await.is_empty());
        let other = house.key_with(shop, role, Some(&["usage"]), None).await;
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        send(&house, &other, &body).await.refused(403, "forbidden");
        let refused = send(&house, "", &body).await;
        refused.refused(401, "unauthenticated");
        assert!(refused.header("www-authenticate").starts_with("Bearer"));
        send(&house, "mk_nothing", &body).await.refused(401, "unauthenticated");
        // What is not reached looks like what is not there.
        let answer = ask(&house, &looks, "tools/call", json!({ "name": "note", "arguments": { "text": "x" } })).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let answer = ask(&house, &speaks, "tools/call", json!({ "name": "count", "arguments": {} })).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(house.number(shop, "SELECT COUNT(*) FROM acts WHERE tenant_id = $1").await, 0);
    }

    async fn a_key_that_names_administration_looks_at_how_it_is_run(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, role) = (house.shop.tenant, KeySubject::Role(Role::Owner));
        let looks = house.key_with(shop, role, Some(&["administration", "persons:read", "audit:read", "keys"]), None).await;
        let offered = names(&house, &looks).await;
        for name in ["list_persons", "read_person", "list_audit", "verify_audit"] {
            assert!(offered.iter().any(|known| known == name), "{name} of {offered:?}");
        }
        // Not what it has no right to change, nor what it has no area for, nor what lets people in.
        for name in ["add_person", "add_key", "export_audit", "list_runs", "list_keys", "list_approvals", "list_secrets", "read_policy", "list_tenants"] {
            assert!(!offered.iter().any(|known| known == name), "{name}");
            let answer = ask(&house, &looks, "tools/call", json!({ "name": name, "arguments": {} })).await;
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
        let told = call(&house, &looks, "list_persons", json!({ "limit": 1 })).await;
        assert_eq!(told["structuredContent"]["items"].as_array().unwrap().len(), 1, "{told}");
        assert!(told["structuredContent"]["next"].is_string());
        let wrong = call(&house, &looks, "list_persons", json!({ "limit": 0 })).await;
        assert_eq!((&wrong["isError"], &wrong["structuredContent"]["code"]), (&json!(true), &json!("invalid")));
        // One that opens everything was not opened for it; nobody below an owner is.
        let all = house.key(Role::Owner).await;
        assert!(!names(&house, &all).await.iter().any(|known| known == "list_persons"));
        let admin = house.key_with(shop, KeySubject::Role(Role::Admin), Some(&["administration", "persons:read", "chat"]), None).await;
        assert!(!names(&house, &admin).await.iter().any(|known| known == "list_persons"));
        let keeper = house.keeper_key("keeper").await;
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "list_tenants", "arguments": {} } });
        send(&house, &keeper, &body).await.refused(422, "invalid");
        let told = send_in(&house, Some("shop"), &keeper, &body).await;
        assert!(String::from_utf8_lossy(&told.body).contains("other"), "{told:?}");
    }

    async fn each_operation_is_offered_to_those_it_is_for_and_to_nobody_else(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        // What the house never offers, whoever asks: what lets people in, decides, or holds secrets and files.
        let withheld = ["approvals", "folders", "host-keys", "invitations", "keeper-keys", "keepers", "keys", "operators", "policy", "secrets"];
        for entry in HOUSE.iter().filter(|entry| entry.spec.has_route()) {
            let (spec, id) = (&entry.spec, entry.spec.id());
            let area = spec.grant().map(|grant| grant.to_string());
            // With `chat` every key has something here, and none is refused whole.
            let named: Vec<&str> = ["administration", "chat"].into_iter().chain(area.as_deref()).collect();
            let offers = |key: String| async { let key = key; names(&house, &key).await.contains(&id) };
            let role = |role| KeySubject::Role(role);
            let owner = offers(house.key_with(shop, role(Role::Owner), Some(&named), None).await).await;
            if withheld.contains(&spec.resource) || area.is_none() {
                assert!(!owner, "{id} is offered to an owner");
            }
            let looks = spec.effect == OperationEffect::Read;
            if looks && area.is_some() && !withheld.contains(&spec.resource) {
                assert!(owner, "{id} is not offered to an owner");
            }
            if spec.resource == "proposals" {
                assert_eq!(owner, !spec.writes(), "{id}");
            }
            // Owners alone, with both areas, and to change something with the whole of administration.
            let admin = offers(house.key_with(shop, role(Role::Admin), Some(&named), None).await).await;
            assert!(!admin, "{id} is offered to an admin");
            if let Some(area) = area.as_deref().filter(|area| !area.starts_with("administration") && !area.starts_with("chat")) {
                let without = [area, "chat"];
                assert!(!offers(house.key_with(shop, role(Role::Owner), Some(&without), None).await).await, "{id} without administration");
                let looks = ["administration:read", "chat", area];
                let looks = offers(house.key_with(shop, role(Role::Owner), Some(&looks), None).await).await;
                assert_eq!(looks, owner && !spec.writes(), "{id} to one who looks");
                let only = offers(house.key_with(shop, role(Role::Owner), Some(&["administration", "chat"]), None).await).await;
                assert!(!only, "{id} without its area");
            }
        }
    }

    async fn what_a_program_wants_changed_waits_for_a_person(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, role) = (house.shop.tenant, KeySubject::Role(Role::Owner));
        let open = ["administration", "persons", "tiers", "connectors"];
        let program = house.key_speaking(KeySpeaker::Program, shop, role, (Some(&open), None)).await;
        let offered = names(&house, &program).await;
        for name in ["add_person", "leave_person", "rollback_tier", "remove_connector", "read_proposal"] {
            assert!(offered.iter().any(|known| known == name), "{name} of {offered:?}");
        }
        // Not what holds secrets, leads elsewhere, shows something once or decides.
        for name in ["add_connector", "accept_connector", "login_connector", "apply_folder", "set_plan", "add_tenant", "grant_proposal", "refuse_proposal"] {
            assert!(!offered.iter().any(|known| known == name), "{name}");
        }
        let looks = house.key_with(shop, role, Some(&["administration:read", "persons"]), None).await;
        assert!(!names(&house, &looks).await.iter().any(|known| known == "add_person"), "it may look only");
        let asked = call(&house, &program, "add_person", json!({ "name": "Rekha", "role": "staff" })).await;
        let proposal = &asked["structuredContent"];
        assert_eq!((&asked["isError"], &proposal["state"]), (&json!(false), &json!("waiting")), "{asked}");
        assert!(text(&asked).starts_with("Nothing is changed yet") && text(&asked).contains("--tenant shop"), "{asked}");
        assert_eq!(house.count_named(shop, "Rekha").await, 0);
        // Asked again it is the same; what could never be done, or might mean somebody else later, is not asked for.
        let again = call(&house, &program, "add_person", json!({ "name": "Rekha", "role": "staff" })).await;
        assert_eq!(again["structuredContent"]["id"], proposal["id"]);
        for (tool, wrong) in [
            ("add_person", json!({ "called": "Rekha" })),
            ("leave_person", json!({ "id": "Asha" })),
            ("rollback_tier", json!({ "kind": "human", "name": "meera" })),
        ] {
            let wrong = call(&house, &program, tool, wrong).await;
            assert_eq!((&wrong["isError"], &wrong["structuredContent"]["code"]), (&json!(true), &json!("invalid")));
        }
        let (id, yes) = (proposal["id"].as_str().unwrap(), json!({ "digest": proposal["digest"] }));
        let grant = format!("/v1/proposals/{id}/grant");
        // Not by a program, nor by whoever could not do it, has not seen it, or is of another tenant.
        house.post(&grant, &program, yes.clone()).await.refused(403, "forbidden");
        let narrow = house.key_with(shop, role, Some(&["administration"]), None).await;
        house.post(&grant, &narrow, yes.clone()).await.refused(403, "forbidden");
        assert_eq!(house.get(&format!("/v1/proposals/{id}"), &narrow).await.is(200)["input"], json!(null));
        let admin = house.key_with(shop, KeySubject::Role(Role::Admin), Some(&open), None).await;
        house.post(&grant, &admin, yes.clone()).await.refused(403, "forbidden");
        let other = house.key_with(house.other.tenant, role, Some(&open), None).await;
        house.post(&grant, &other, yes.clone()).await.refused(404, "not_found");
        let boss = house.key_with(shop, role, Some(&open), None).await;
        house.post(&grant, &boss, json!({ "digest": "00" })).await.refused(422, "invalid");
        assert_eq!(house.count_named(shop, "Rekha").await, 0);
        let shown = house.get(&format!("/v1/proposals/{id}"), &boss).await.is(200);
        assert_eq!((&shown["state"], &shown["operation"], &shown["input"]["name"]), (&json!("waiting"), &json!("add_person"), &json!("Rekha")));
        let done = house.post(&grant, &boss, yes.clone()).await.is(200);
        assert_eq!((&done["state"], &done["outcome"]["name"]), (&json!("done"), &json!("Rekha")), "{done}");
        assert_eq!(house.count_named(shop, "Rekha").await, 1);
        house.post(&grant, &boss, yes).await.refused(409, "conflict");
        let read = call(&house, &program, "read_proposal", json!({ "id": id })).await;
        assert_eq!(read["structuredContent"]["state"], "done");
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event IN ('operation.proposed', 'operation.granted', 'person.added', 'operation.concluded')";
        assert_eq!(house.number(shop, told).await, 4);
        let heard = house.call_in("shop", ("GET", "/v1/audit"), &house.keeper_key("auditor").await, None).await.is(200);
        assert!(!heard.to_string().contains("Rekha"), "names stay out of the audit: {heard}");
    }

    async fn a_proposal_is_refused_fails_or_lapses(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, role) = (house.shop.tenant, KeySubject::Role(Role::Owner));
        let open = ["administration", "persons"];
        let program = house.key_speaking(KeySpeaker::Program, shop, role, (Some(&open), None)).await;
        let boss = house.key_with(shop, role, Some(&open), None).await;
        let ask = |id: Value| {
            let (house, program) = (&house, &program);
            async move {
                let asked = call(house, program, "leave_person", json!({ "id": id })).await;
                let text = |name: &str| asked["structuredContent"][name].as_str().unwrap().to_owned();
                (format!("/v1/proposals/{}", text("id")), json!({ "digest": text("digest") }))
            }
        };
        let (path, yes) = ask(json!(house.shop.staff)).await;
        let elses = house.key_speaking(KeySpeaker::Program, shop, role, (Some(&open), None)).await;
        house.call("POST", &format!("{path}/refuse"), &elses, None).await.refused(403, "forbidden");
        assert_eq!(house.call("POST", &format!("{path}/refuse"), &boss, None).await.is(200)["state"], "refused");
        house.post(&format!("{path}/grant"), &boss, yes).await.refused(409, "conflict");
        // What fails is told to whoever asked; what nobody decides on lapses.
        let (path, yes) = ask(json!(test.ids.next::<munshi_types::PersonId>())).await;
        let failed = house.post(&format!("{path}/grant"), &boss, yes).await.is(200);
        assert_eq!((&failed["state"], &failed["outcome"]["code"]), (&json!("failed"), &json!("not_found")), "{failed}");
        let (path, yes) = ask(json!(house.shop.staff)).await;
        test.clock.advance(Duration::from_secs(24 * 60 * 60));
        assert_eq!(house.get(&path, &boss).await.is(200)["state"], "lapsed");
        house.post(&format!("{path}/grant"), &boss, yes).await.refused(409, "conflict");
        // What a key asked for that has ended since is granted by nobody.
        let (path, yes) = ask(json!(house.shop.staff)).await;
        let revoke = "UPDATE api_keys SET revoked_at = made_at WHERE tenant_id = $1 AND speaks_as = 'program'";
        house.db.write(shop, move |tx: &mut Tx<'_>| tx.execute(revoke, &[])).await.unwrap();
        let refused = house.post(&format!("{path}/grant"), &boss, yes).await;
        assert!(refused.refused(403, "forbidden").contains("revoked"));
    }

    async fn nobody_grants_what_their_own_program_asks_for(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let keeper = house.keeper_key("keeper").await;
        let new = |name: &str, speaks_as: &str| {
            Some(json!({ "name": name, "role": "owner", "speaks_as": speaks_as, "areas": ["administration", "persons"] }))
        };
        let add = ("POST", "/v1/keys");
        let program = house.call_in("shop", add, &keeper, new("agent", "program")).await.is(201);
        let person = house.call_in("shop", add, &keeper, new("mine", "person")).await.is(201);
        let asked = call(&house, program["text"].as_str().unwrap(), "add_person", json!({ "name": "Rekha" })).await;
        let grant = format!("/v1/proposals/{}/grant", asked["structuredContent"]["id"].as_str().unwrap());
        let yes = json!({ "digest": asked["structuredContent"]["digest"] });
        house.post(&grant, person["text"].as_str().unwrap(), yes.clone()).await.refused(403, "forbidden");
        house.call_in("shop", ("POST", &grant), &keeper, Some(yes.clone())).await.refused(403, "forbidden");
        let open = ["administration", "persons"];
        let boss = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), Some(&open), None).await;
        assert_eq!(house.post(&grant, &boss, yes).await.is(200)["state"], "done");
    }

    async fn a_grant_that_was_cut_short_is_carried_out_once(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, role) = (house.shop.tenant, KeySubject::Role(Role::Owner));
        let open = ["administration", "persons"];
        let program = house.key_speaking(KeySpeaker::Program, shop, role, (Some(&open), None)).await;
        let (boss, other) = (house.key_with(shop, role, Some(&open), None).await, house.key_with(shop, role, Some(&open), None).await);
        let cut = |state: &'static str| {
            let set = move |tx: &mut Tx<'_>| tx.execute(state, munshi_store::params![]);
            let db = house.db.clone();
            async move { db.write(shop, set).await.unwrap() }
        };
        let asked = call(&house, &program, "add_person", json!({ "name": "Rekha" })).await;
        let grant = format!("/v1/proposals/{}/grant", asked["structuredContent"]["id"].as_str().unwrap());
        let yes = json!({ "digest": asked["structuredContent"]["digest"] });
        // After the yes, before the work: nobody else is at it while it may be under way, then whoever may goes on.
        cut("UPDATE proposed_operations SET state = 'granted', decided_by = 'somebody', decided_at = asked_at WHERE tenant_id = $1").await;
        assert!(house.post(&grant, &boss, yes.clone()).await.refused(409, "conflict").contains("being done"));
        test.clock.advance(Duration::from_secs(600));
        assert_eq!(house.post(&grant, &boss, yes.clone()).await.is(200)["state"], "done");
        // After the work, before its outcome was kept: the answer is known, also to another.
        cut("UPDATE proposed_operations SET state = 'granted', outcome = NULL WHERE tenant_id = $1").await;
        test.clock.advance(Duration::from_secs(600));
        let again = house.post(&grant, &other, yes.clone()).await.is(200);
        assert_eq!((&again["state"], &again["outcome"]["name"]), (&json!("done"), &json!("Rekha")));
        // In the middle: nobody knows, and nobody does it twice.
        cut("UPDATE proposed_operations SET state = 'granted', outcome = NULL WHERE tenant_id = $1").await;
        cut("UPDATE answered_requests SET answer = NULL WHERE tenant_id = $1").await;
        test.clock.advance(Duration::from_secs(600));
        let again = house.post(&grant, &other, yes).await.is(200);
        assert_eq!(again["state"], "interrupted", "{again}");
        assert_eq!(house.count_named(shop, "Rekha").await, 1);
    }

    async fn a_look_is_answered_and_stands_in_the_books(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Staff).await;
        let result = call(&house, &key, "count", json!({})).await;
        assert_eq!(result["isError"], false);
        assert_eq!(result["structuredContent"], json!({ "ok": true, "result": { "count": 0 } }));
        assert_eq!(serde_json::from_str::<Value>(text(&result)).unwrap(), result["structuredContent"]);
        let wrong = call(&house, &key, "count", json!({ "text": 7 })).await;
        assert_eq!(wrong["isError"], true, "{wrong}");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM acts WHERE tenant_id = $1 AND state = 'applied'").await, 1);
    }

    async fn a_write_waits_for_a_yes_and_is_done_once(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (key, boss) = (house.key(Role::Owner).await, house.key(Role::Owner).await);
        let say = json!({ "text": "eggs", "idempotency_key": "k-1" });
        let asked = call(&house, &key, "note", say.clone()).await;
        assert_eq!((&asked["isError"], &asked["structuredContent"]["code"]), (&json!(true), &json!("waiting_approval")));
        assert!(text(&asked).contains("go_on") && text(&asked).contains("eggs"), "{asked}");
        let again = call(&house, &key, "note", say.clone()).await;
        assert_eq!(again["structuredContent"]["approval"], asked["structuredContent"]["approval"]);
        let notes = "SELECT COUNT(*) FROM notes WHERE tenant_id = $1";
        assert_eq!(house.number(house.shop.tenant, notes).await, 0);
        let id = approve(&house, &boss, &asked).await;
        let done = call(&house, &key, "go_on", json!({ "approval": id })).await;
        assert_eq!((&done["isError"], &done["structuredContent"]["result"]["noted"]), (&json!(false), &json!("eggs")));
        let same = call(&house, &key, "go_on", json!({ "approval": id })).await;
        assert_eq!(same["structuredContent"]["result"]["noted"], "eggs");
        assert_eq!(call(&house, &key, "note", say).await["structuredContent"]["result"]["noted"], "eggs");
        assert_eq!(house.number(house.shop.tenant, notes).await, 1);
        let changed = call(&house, &key, "note", json!({ "text": "milk", "idempotency_key": "k-1" })).await;
        assert_eq!(changed["isError"], true);
        assert_eq!(house.number(house.shop.tenant, notes).await, 1);
    }

    async fn the_key_that_asks_can_not_say_yes(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (key, boss) = (house.key(Role::Owner).await, house.key(Role::Owner).await);
        let asked = call(&house, &key, "note", json!({ "text": "eggs" })).await;
        let id = asked["structuredContent"]["approval"].as_str().unwrap();
        let digest = digest(&house, &key, id).await;
        assert!(!asked.to_string().contains(digest.as_str().unwrap()), "a model needs no digest: {asked}");
        let (grant, body) = (format!("/v1/approvals/{id}/grant"), json!({ "digest": digest }));
        house.post(&grant, &key, body.clone()).await.refused(403, "forbidden");
        assert_eq!(call(&house, &key, "go_on", json!({ "approval": id })).await["structuredContent"]["code"], "waiting_approval");
        house.post(&grant, &boss, body).await.is(200);
        assert_eq!(call(&house, &key, "go_on", json!({ "approval": id })).await["isError"], false);
        // It may take back what it asked for.
        let asked = call(&house, &key, "note", json!({ "text": "milk" })).await;
        let id = asked["structuredContent"]["approval"].as_str().unwrap();
        let digest = self::digest(&house, &key, id).await;
        // Another program may not, whoever's it is.
        let other = house.key_speaking(KeySpeaker::Program, house.shop.tenant, KeySubject::Role(Role::Owner), (None, None)).await;
        house.post(&format!("/v1/approvals/{id}/refuse"), &other, json!({ "digest": digest })).await.refused(403, "forbidden");
        assert_eq!(call(&house, &key, "go_on", json!({ "approval": id })).await["structuredContent"]["code"], "waiting_approval");
        house.post(&format!("/v1/approvals/{id}/refuse"), &key, json!({ "digest": digest })).await.is(200);
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM notes WHERE tenant_id = $1").await, 1);
    }

    async fn what_was_tried_out_under_a_key_is_not_done_by_it(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (key, boss) = (house.key(Role::Owner).await, house.key(Role::Owner).await);
        let notes = "SELECT COUNT(*) FROM notes WHERE tenant_id = $1";
        let tried = call(&house, &key, "note", json!({ "text": "eggs", "idempotency_key": "k", "dry_run": true })).await;
        assert_eq!(tried["structuredContent"]["rehearsal"]["noted"], "eggs", "{tried}");
        let say = json!({ "text": "eggs", "idempotency_key": "k" });
        let asked = call(&house, &key, "note", say.clone()).await;
        assert_eq!(asked["structuredContent"]["code"], "waiting_approval", "{asked}");
        let id = approve(&house, &boss, &asked).await;
        let done = call(&house, &key, "go_on", json!({ "approval": id })).await;
        assert_eq!(done["structuredContent"]["result"]["noted"], "eggs", "{done}");
        assert_eq!(house.number(house.shop.tenant, notes).await, 1);
        // The same the other way round.
        let again = call(&house, &key, "note", json!({ "text": "eggs", "idempotency_key": "k", "dry_run": true })).await;
        assert_eq!(again["structuredContent"]["rehearsal"]["noted"], "eggs", "{again}");
        assert_eq!(call(&house, &key, "note", say).await["structuredContent"]["result"]["noted"], "eggs");
        assert_eq!(house.number(house.shop.tenant, notes).await, 1);
    }

    async fn what_takes_long_is_said_so_and_heard_later(test: TestDb) {
        let house = Installation::open(&test, []).await;
        house.world.hurried.store(true, Ordering::SeqCst);
        house.world.held.store(true, Ordering::SeqCst);
        let house = house.again(&test, []).await;
        let (key, boss) = (house.key(Role::Owner).await, house.key(Role::Owner).await);
        let say = json!({ "text": "all", "idempotency_key": "k" });
        let asked = call(&house, &key, "wipe", say.clone()).await;
        approve(&house, &boss, &asked).await;
        let answered = tokio::time::timeout(PATIENCE, call(&house, &key, "wipe", say)).await;
        let working = answered.expect("it is waited for without end");
        let act = working["structuredContent"]["act"].clone();
        assert_eq!((&working["isError"], &working["structuredContent"]["code"]), (&json!(true), &json!("running")), "{working}");
        assert_eq!(working["_meta"]["munshi/failure"]["maybe"], true, "{working}");
        assert!(text(&working).contains("go_on") && text(&working).contains(act.as_str().unwrap()), "{working}");
        let still = call(&house, &key, "go_on", json!({ "act": act })).await;
        assert_eq!(still["structuredContent"]["code"], "running", "{still}");
        let strange = call(&house, &boss, "go_on", json!({ "act": act })).await;
        assert!(strange["isError"] == true && text(&strange).contains("no act"), "{strange}");
        house.world.held.store(false, Ordering::SeqCst);
        let (mut done, began) = (Value::Null, Instant::now());
        while done["isError"] != false {
            assert!(began.elapsed() < PATIENCE, "{done}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            done = call(&house, &key, "go_on", json!({ "act": act })).await;
        }
        assert_eq!(done["structuredContent"]["result"]["wiped"], "all", "{done}");
        assert_eq!(house.world.wiped.lock().unwrap().len(), 1);
    }

    async fn another_key_of_the_same_role_hears_nothing(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (key, other) = (house.key(Role::Owner).await, house.key(Role::Owner).await);
        let asked = call(&house, &key, "note", json!({ "text": "eggs" })).await;
        let id = approve(&house, &other, &asked).await;
        let strange = call(&house, &other, "go_on", json!({ "approval": id })).await;
        assert!(strange["isError"] == true && !strange.to_string().contains("eggs"), "{strange}");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM notes WHERE tenant_id = $1").await, 0);
        // Two keys of one person are that person's.
        let person = KeySubject::Person(house.shop.owner);
        let one = house.key_with(house.shop.tenant, person, None, None).await;
        let two = house.key_with(house.shop.tenant, person, None, None).await;
        let asked = call(&house, &one, "note", json!({ "text": "milk" })).await;
        let id = approve(&house, &two, &asked).await;
        let done = call(&house, &two, "go_on", json!({ "approval": id })).await;
        assert_eq!(done["structuredContent"]["result"]["noted"], "milk", "{done}");
    }

    async fn going_on_counts_as_a_call_does(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Owner).await;
        let mut last = Value::Null;
        for _ in 0..=munshi_web::api::limits::PERSON_LIMIT.count {
            last = call(&house, &key, "go_on", json!({ "act": test.ids.next::<munshi_types::ActId>() })).await;
        }
        assert!(text(&last).contains("Too many"), "{last}");
    }

    async fn what_is_only_tried_out_changes_nothing(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Owner).await;
        let tried = call(&house, &key, "note", json!({ "text": "eggs", "dry_run": true })).await;
        assert_eq!(tried["structuredContent"]["rehearsal"]["noted"], "eggs", "{tried}");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM notes WHERE tenant_id = $1").await, 0);
    }

    async fn an_agent_answers_and_waits_for_people_as_in_a_chat(test: TestDb) {
        let script = [
            ScriptedTurn::text("We open at nine."),
            ScriptedTurn::call("wipe", &json!({ "text": "all" })),
            ScriptedTurn::text("It is wiped."),
        ];
        let house = Installation::open(&test, script).await;
        let key = house.key(Role::Owner).await;
        let said = call(&house, &key, "ask_counter", json!({ "message": "When do you open?" })).await;
        assert_eq!((text(&said), &said["isError"]), ("We open at nine.", &json!(false)));
        assert_eq!(said["structuredContent"]["state"], "done");
        let person = house.shop.staff.to_string();
        let empty = call(&house, &key, "ask_counter", json!({ "message": " " })).await;
        assert_eq!(empty["isError"], true, "{empty}");
        let staff = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        let other = call(&house, &staff, "ask_counter", json!({ "message": "hi", "person": "@somebody" })).await;
        assert!(text(&other).contains("one person"), "{other} {person}");
        let waits = call(&house, &staff, "ask_counter", json!({ "message": "wipe it" })).await;
        let run = waits["structuredContent"]["run"].clone();
        assert!(text(&waits).contains("go_on"), "{waits}");
        let approval = waits["structuredContent"]["approval"].as_str().unwrap();
        let shown = house.get(&format!("/v1/approvals/{approval}"), &key).await.is(200);
        house.post(&format!("/v1/approvals/{approval}/grant"), &key, json!({ "digest": shown["digest"] })).await.is(200);
        let heard = call(&house, &staff, "go_on", json!({ "run": run })).await;
        assert!(text(&heard).ends_with("It is wiped."), "{heard}");
        assert_eq!(house.world.wiped.lock().unwrap().len(), 1);
    }

    async fn another_tenants_key_sees_nothing_of_ours(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Hello.")]).await;
        let (ours, theirs) = (house.key(Role::Owner).await, house.key_of(house.other.tenant, Role::Owner).await);
        let asked = call(&house, &ours, "note", json!({ "text": "ours" })).await;
        let id = asked["structuredContent"]["approval"].as_str().unwrap();
        let strange = call(&house, &theirs, "go_on", json!({ "approval": id })).await;
        assert!(strange["isError"] == true && !strange.to_string().contains("ours"), "{strange}");
        let digest = digest(&house, &ours, id).await;
        house.post(&format!("/v1/approvals/{id}/grant"), &theirs, json!({ "digest": digest })).await.refused(404, "not_found");
        let said = call(&house, &ours, "ask_counter", json!({ "message": "hello" })).await;
        let run = said["structuredContent"]["run"].clone();
        assert_eq!(call(&house, &theirs, "go_on", json!({ "run": run })).await["isError"], true);
        assert_eq!(call(&house, &theirs, "count", json!({})).await["structuredContent"]["result"]["count"], 0);
        // Neither does a key of ours that stands for somebody else, or for another binding.
        let staff = house.key(Role::Staff).await;
        assert_eq!(call(&house, &staff, "go_on", json!({ "approval": id })).await["isError"], true);
        let elsewhere = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), None, Some(vec![test.ids.next()])).await;
        assert_eq!(call(&house, &elsewhere, "go_on", json!({ "approval": id })).await["isError"], true);
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM notes WHERE tenant_id = $1").await, 0);
    }

    async fn pages_of_others_and_too_many_calls_are_turned_away(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Owner).await;
        let request = |origin: &str| {
            Request::post("/mcp")
                .header("authorization", format!("Bearer {key}"))
                .header("origin", origin)
                .header("host", "evil.example")
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .body(Body::from(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string()))
                .unwrap()
        };
        Reply::of(house.send(request("http://evil.example")).await).await.refused(403, "forbidden");
        assert_eq!(house.send(request("http://localhost:8400")).await.status(), 200);
        let mut refused = None;
        for _ in 0..=munshi_web::api::limits::PERSON_LIMIT.count {
            let result = call(&house, &key, "count", json!({})).await;
            if result["isError"] == true {
                refused = Some(result);
                break;
            }
        }
        assert!(text(&refused.expect("it is never enough")).contains("Too many"));
    }
}
