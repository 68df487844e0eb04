//! Connectors declared, tested, logged out of and taken away through the API: by whom, and what is told of it.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use munshi_connectors::entries::{ConnectorEntries, ConnectorEntry};
use munshi_connectors::rows;
use munshi_identity::Role;
use munshi_identity::keys::{KeySpeaker, KeySubject};
use munshi_store::{JsonText, Tx, params};
use serde_json::{Value, json};

use crate::api::support::{Installation, Reply};

/// A connector of the shop shows another list of tools.
pub(crate) async fn show_tools(house: &Installation) {
    let now = house.now();
    let unit = move |tx: &mut Tx<'_>| -> munshi_connectors::Result<()> {
        let entry =
            ConnectorEntry { url: Some("https://127.0.0.1:9/mcp".to_owned()), ..ConnectorEntry::default() };
        rows::save_entries(tx, &ConnectorEntries([("odd".parse().unwrap(), entry)].into()), "asha", "", now)?;
        let seen = rows::list_manifests(tx, "odd")?.len();
        let accepted = (seen == 0).then_some(now);
        let sql = "INSERT INTO connector_manifests
                     (tenant_id, connector, hash, server, version, body, seen_at, accepted_at, accepted_by)
                   VALUES ($1, 'odd', $2, 'odd', '1', $3, $4, $5, 'first seen')";
        let at = now.plus(Duration::from_millis(u64::try_from(seen).unwrap()));
        tx.execute(sql, params![format!("hash {seen}"), JsonText::of(&json!({}))?, at, accepted])?;
        Ok(())
    };
    house.db.write(house.shop.tenant, unit).await.unwrap();
}

/// Somebody has logged in at the service of `odd`, which nobody can reach.
async fn log_in(house: &Installation, keeper: &str) {
    let client = json!({ "issuer": "https://127.0.0.1:9", "id": "munshi", "method": "none" });
    let login = json!({ "client": client, "token": "https://127.0.0.1:9/token", "resource": "https://127.0.0.1:9/mcp",
                        "revoke": "https://127.0.0.1:9/revoke", "access": "acc3ss-text" });
    let secret = json!({ "value": login.to_string() });
    let path = "/v1/secrets/connector%2Fodd%2Flogin";
    house.call_in("shop", ("POST", path), keeper, Some(secret)).await.is(200);
}

/// The events of the shop's chain that are about connectors, the oldest first.
async fn list_told(house: &Installation, keeper: &str) -> Vec<(String, Value)> {
    let audit = house.call_in("shop", ("GET", "/v1/audit?limit=500"), keeper, None).await.is(200);
    assert!(!audit.to_string().contains("acc3ss"), "{audit}");
    let entries = audit["items"].as_array().unwrap().iter().rev();
    let event = |entry: &Value| entry["event"].as_str().unwrap().to_owned();
    let about = entries.filter(|entry| event(entry).starts_with("connector"));
    about.map(|entry| (event(entry), entry["payload"].clone())).collect()
}

async fn add_key(house: &Installation, role: Role, areas: &[&str]) -> String {
    house.key_with(house.shop.tenant, KeySubject::Role(role), Some(areas), None).await
}

on_both! {
    async fn what_starts_a_program_or_reads_a_file_is_the_keepers(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (keeper, owner) = (house.keeper_key("keeper").await, add_key(&house, Role::Owner, &["connectors", "vault"]).await);
        let program = json!({ "name": "own", "command": ["python3", "-c", "print(1)"] });
        let words = house.post("/v1/connectors", &owner, program.clone()).await.refused(403, "forbidden");
        assert!(words.contains("starts a program"), "{words}");
        house.post("/v1/connectors", &owner, json!({ "name": "own", "openapi": "/etc/passwd" })).await.refused(403, "forbidden");
        // Nor does anybody else lead one into the installation's own network, or without looking at it.
        for place in ["http://127.0.0.1:9/mcp", "https://10.0.0.7/mcp", "http://books.local:8080/mcp"] {
            let words = house.post("/v1/connectors", &owner, json!({ "name": "own", "url": place })).await.refused(403, "forbidden");
            assert!(words.contains("leads a connector to"), "{words}");
        }
        let areas: Option<&[&str]> = Some(&["connectors", "vault"]);
        let machine = house.key_speaking(KeySpeaker::Program, house.shop.tenant, KeySubject::Role(Role::Owner), (areas, None)).await;
        let public = json!({ "name": "own", "url": "https://a.example/mcp" });
        house.post("/v1/connectors", &machine, public.clone()).await.refused(403, "forbidden");
        house.post("/v1/connectors", &owner, public).await.is(201);
        house.call("POST", "/v1/connectors/own/remove", &machine, None).await.refused(403, "forbidden");
        let replaced = json!({ "name": "own", "command": ["python3"], "replace": true });
        house.post("/v1/connectors", &owner, replaced).await.refused(403, "forbidden");
        let shown = house.get("/v1/connectors/own", &owner).await.is(200);
        assert_eq!(shown["reached"], "https://a.example/mcp", "nothing was changed");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM connector_files WHERE tenant_id = $1").await, 1);
        // Its keeper may, but for what no program may reach.
        let inside = json!({ "name": "in", "command": ["cat"], "reads": [test.place.folder().join("vault.key")] });
        let route = ("POST", "/v1/connectors");
        house.call_in("shop", route, &keeper, Some(inside)).await.refused(422, "invalid");
        house.call_in("shop", route, &keeper, Some(json!({ "name": "doc", "openapi": "/srv/x.json" }))).await.is(201);
        house.call_in("shop", route, &keeper, Some(json!({ "name": "prog", "command": ["cat"] }))).await.is(201);
        // Who may change connectors sees what a program said no more than who may not.
        house.get("/v1/connectors/prog/logs", &owner).await.refused(403, "forbidden");
        house.call("POST", "/v1/connectors/prog/test", &owner, None).await.refused(403, "forbidden");
    }

    async fn a_declaration_that_can_not_work_changes_nothing(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let admin = add_key(&house, Role::Admin, &["connectors"]).await;
        for (new, words) in [
            (json!({ "name": "a" }), "set how to reach it"),
            (json!({ "name": "a", "url": "ftp://a.example" }), "https://"),
            (json!({ "name": "a", "url": "https://a.example", "openapi": "https://b.example" }), "exactly one"),
            (json!({ "name": "a", "url": "https://u:p@a.example" }), "password"),
            (json!({ "name": "a", "openapi": "{\"swagger\": \"2.0\"}" }), "Swagger 2"),
            (json!({ "name": "a", "openapi": "{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"a\", \"version\": \"1\"}, \"paths\": {}}" }), "where its service is"),
            (json!({ "name": "a", "openapi": format!("{{{}", " ".repeat(1024 * 1024)) }), "larger than"),
            (json!({ "name": "a", "url": "https://a.example", "token": "vault:No Name" }), "token"),
            (json!({ "name": "ledger", "url": "https://a.example" }), "pack"),
            (json!({ "name": "A B", "url": "https://a.example" }), "name"),
        ] {
            let told = house.post("/v1/connectors", &admin, new.clone()).await.refused(422, "invalid");
            assert!(told.to_lowercase().contains(&words.to_lowercase()), "{new}: {told}");
        }
        let wrong = house.post("/v1/connectors", &admin, json!({ "name": "a", "url": "https://a.example", "token": 481516 })).await;
        assert!(!wrong.refused(422, "invalid").contains("481516"));
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM connector_files WHERE tenant_id = $1").await, 0);
        let new = |number: usize| json!({ "name": format!("c{number}"), "url": "https://a.example/mcp" });
        for number in 0..32 {
            house.post("/v1/connectors", &admin, new(number)).await.is(201);
        }
        house.post("/v1/connectors", &admin, new(32)).await.refused(422, "invalid");
        house.post("/v1/connectors", &admin, new(31)).await.refused(409, "conflict");
    }

    async fn a_secret_is_sent_where_those_say_who_may_set_it(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let keeper = house.keeper_key("keeper").await;
        let narrow = add_key(&house, Role::Admin, &["connectors"]).await;
        let wide = add_key(&house, Role::Admin, &["connectors", "vault"]).await;
        let new = |secret: &str| json!({ "name": "far", "url": "https://far.example/mcp", "headers": { "x-key": secret } });
        let words = house.post("/v1/connectors", &narrow, new("vault:razorpay.key")).await.refused(403, "forbidden");
        assert!(words.contains("vault"), "{words}");
        house.post("/v1/connectors", &wide, new("vault:connector/odd/login")).await.refused(403, "forbidden");
        house.post("/v1/connectors", &wide, new("vault:razorpay.key")).await.is(201);
        // What is written in plain text is warned of, and told to nobody.
        let plain = json!({ "name": "plain", "url": "https://far.example/mcp", "token": "acc3ss-plain" });
        let send = || async {
            let request = Request::builder().method("POST").uri("/v1/connectors").header("authorization", format!("Bearer {narrow}"));
            let request = request.header("idempotency-key", "one").header("content-type", "application/json");
            Reply::of(house.send(request.body(Body::from(plain.to_string())).unwrap()).await).await.is(201)
        };
        let (first, again) = (send().await, send().await);
        assert_eq!(first, again);
        assert!(first["warnings"][0].as_str().unwrap().contains("munshi vault set plain.key"), "{first}");
        let shown = house.get("/v1/connectors", &narrow).await.is(200);
        assert!(!first.to_string().contains("acc3ss") && !shown.to_string().contains("acc3ss"));
        let told = list_told(&house, &keeper).await;
        assert_eq!(told.len(), 2, "each once: {told:?}");
    }

    async fn a_document_is_stored_with_its_connector(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let admin = add_key(&house, Role::Admin, &["connectors"]).await;
        let document = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": {} }).to_string();
        let new = json!({ "name": "pets", "openapi": document, "server": "https://pets.example" });
        house.post("/v1/connectors", &admin, new).await.is(201);
        let shown = house.get("/v1/connectors/pets", &admin).await.is(200);
        assert_eq!(shown["reached"], format!("openapi: a document of {} bytes", document.len()));
        let stored = house.db.read(house.shop.tenant, |tx: &mut Tx<'_>| rows::load_entries(tx)).await.unwrap().1;
        assert_eq!(stored.0[&"pets".parse().unwrap()].openapi.as_deref(), Some(document.as_str()));
    }

    async fn a_login_that_is_taken_away_is_told_before_and_after(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (keeper, admin) = (house.keeper_key("keeper").await, add_key(&house, Role::Admin, &["connectors"]).await);
        let is_stored = "SELECT COUNT(*) FROM vault_secrets WHERE tenant_id = $1 AND name = 'connector/odd/login'";
        show_tools(&house).await;
        let nobody = house.call("POST", "/v1/connectors/odd/logout", &admin, None).await.is(200);
        assert_eq!(nobody, json!({ "connector": "odd", "logged_out": false, "login": null }));
        log_in(&house, &keeper).await;
        assert_ne!(house.get("/v1/connectors/odd", &admin).await.is(200)["logged_in_at"], Value::Null);
        let out = house.call("POST", "/v1/connectors/odd/logout", &admin, None).await.is(200);
        assert_eq!((&out["logged_out"], &out["login"]), (&json!(true), &json!("forgotten")), "{out}");
        assert!(out["login_note"].as_str().unwrap().contains("could not revoke it"), "{out}");
        assert_eq!(house.number(house.shop.tenant, is_stored).await, 0);
        assert_eq!(house.get("/v1/connectors/odd", &admin).await.is(200)["logged_in_at"], Value::Null);
        log_in(&house, &keeper).await;
        // Another address: the login of the one before is of no use to it.
        let moved = json!({ "name": "odd", "url": "https://elsewhere.example/mcp", "replace": true });
        let moved = house.post("/v1/connectors", &admin, moved).await.is(201);
        assert_eq!(moved["logins"][0]["login"], "forgotten", "{moved}");
        log_in(&house, &keeper).await;
        let removed = house.call("POST", "/v1/connectors/odd/remove", &admin, None).await.is(200);
        assert_eq!((&removed["login"], &removed["version"]), (&json!("forgotten"), &json!(3)), "{removed}");
        assert_eq!(house.number(house.shop.tenant, is_stored).await, 0);
        house.call("POST", "/v1/connectors/odd/logout", &admin, None).await.refused(404, "not_found");
        let told = list_told(&house, &keeper).await;
        let (asked, ended) = ("connector.logout_requested", "connector.logged_out");
        let changed = "connectors.changed";
        let names: Vec<&str> = told.iter().map(|(event, _)| event.as_str()).collect();
        assert_eq!(names, [asked, asked, ended, changed, asked, ended, changed, asked, ended]);
        let outcomes = told.iter().filter(|(event, _)| event == ended);
        assert!(outcomes.into_iter().all(|(_, payload)| payload["login"] == "forgotten"), "{told:?}");
    }

    async fn a_link_to_log_in_leads_to_the_page_and_is_not_kept(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (keeper, admin) = (house.keeper_key("keeper").await, add_key(&house, Role::Admin, &["connectors"]).await);
        show_tools(&house).await;
        let made = house.call("POST", "/v1/connectors/odd/login", &admin, None).await.is(200);
        let open = made["open"].as_str().unwrap();
        let token = open.strip_prefix("http://munshi.example/connectors/login/").unwrap();
        assert!(token.len() > 20, "{open}");
        let told = list_told(&house, &keeper).await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].0 == "connector.login_requested" && !told[0].1.to_string().contains(token));
        let stored = "SELECT COUNT(*) FROM connector_logins WHERE tenant_id = $1 AND kind = 'link'";
        assert_eq!(house.number(house.shop.tenant, stored).await, 1);
        // Logging out ends the ways in as well.
        house.call("POST", "/v1/connectors/odd/logout", &admin, None).await.is(200);
        assert_eq!(house.number(house.shop.tenant, stored).await, 0);
        let token = json!({ "name": "fixed", "url": "https://far.example/mcp", "token": "acc3ss-plain" });
        house.post("/v1/connectors", &admin, token).await.is(201);
        house.call("POST", "/v1/connectors/fixed/login", &admin, None).await.refused(409, "conflict");
    }

    async fn a_test_says_what_failed_and_is_told_before_and_after(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let keeper = house.keeper_key("keeper").await;
        show_tools(&house).await;
        let report = house.call_in("shop", ("POST", "/v1/connectors/odd/test"), &keeper, None).await.is(200);
        assert_eq!((&report["connector"], &report["findings"][0]["verdict"]), (&json!("odd"), &json!("fail")), "{report}");
        let told = list_told(&house, &keeper).await;
        assert_eq!(told[0], ("connector.test_requested".to_owned(), json!({ "write": false })));
        assert_eq!((told[1].0.as_str(), &told[1].1["failed"], told.len()), ("connector.tested", &json!(1), 2));
    }
}
