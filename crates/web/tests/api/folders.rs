//! A tenant's configuration over the API: what a folder's files may change, for whom, and once.

use axum::body::Body;
use axum::http::Request;
use munshi_identity::Role;
use munshi_identity::keys::{Area, KeySpeaker, KeySubject};
use serde_json::{Value, json};

use crate::api::support::{Installation, Reply};

const APPLY: &str = "/v1/folder/apply";
const DIFF: &str = "/v1/folder/diff";
const CHANGED: &str = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'tier.changed'";

fn human(words: &str) -> String {
    format!("+++\nname = \"Spare\"\nidentity = \"{words}\"\n+++\n")
}

fn folder(files: &[(&str, &str)]) -> Value {
    let files: Vec<Value> = files.iter().map(|(path, text)| json!({ "path": path, "text": text })).collect();
    json!({ "folders": [{ "files": files }] })
}

fn named(tenant: &str, files: &[(&str, &str)]) -> Value {
    let mut body = folder(files);
    body["folders"][0]["tenant"] = json!(tenant);
    body
}

on_both! {
    async fn a_folder_is_compared_applied_taken_back_and_taken_out(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, admin) = (house.shop.tenant, house.naming_key(Role::Admin, Some(Area::Tiers)).await);
        let before = house.number(shop, CHANGED).await;
        let first = folder(&[("humans/spare.md", &human("You help."))]);
        let planned = house.post(DIFF, &admin, first.clone()).await.is(200);
        assert_eq!((&planned["applied"], &planned["plans"][0]["changes"][0]["action"]), (&json!(false), &json!("create")));
        assert_eq!(house.number(shop, CHANGED).await, before, "a look changes nothing");
        let done = house.post(APPLY, &admin, first.clone()).await.is(200);
        assert_eq!((&done["applied"], &done["plans"][0]["is_new"]), (&json!(true), &json!(false)));
        assert_eq!(house.post(APPLY, &admin, first).await.is(200)["plans"][0]["changes"], json!([]));
        assert_eq!(house.number(shop, CHANGED).await, before + 1, "what changes nothing is not told");
        house.post(APPLY, &admin, folder(&[("humans/spare.md", &human("You wait."))])).await.is(200);
        let back = house.post("/v1/tiers/human/spare/rollback", &admin, json!({})).await.is(200);
        assert_eq!((&back["back_to"], &back["changes"][0]["to"]), (&json!(1), &json!(3)));
        house.post("/v1/tiers/human/spare/rollback", &admin, json!({ "to": 9 })).await.refused(404, "not_found");
        assert_eq!(house.number(shop, CHANGED).await, before + 3);
        let log = house.get("/v1/tiers/human/spare/versions", &admin).await.is(200);
        assert_eq!(log["items"][0]["note"], "back to version 1");
        assert!(log["items"][0]["author"].as_str().unwrap().starts_with("api key "), "{log}");
        let taken = house.get("/v1/folder/export", &admin).await.is(200);
        // This installation reads tiers alone.
        let files = taken["files"].as_array().unwrap();
        let files: Vec<_> = files.iter().filter(|file| file["path"] != "policy.toml").collect();
        let spare = files.iter().find(|file| file["path"] == "humans/spare.md").unwrap();
        assert!(spare["text"].as_str().unwrap().contains("You help."), "{spare}");
        // What is taken out goes in again and changes nothing.
        let again = json!({ "folders": [{ "files": files }], "prune": true });
        assert_eq!(house.post(DIFF, &admin, again).await.is(200)["plans"][0]["changes"], json!([]));
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'tenant.exported'";
        assert_eq!(house.number(shop, told).await, 1);
    }

    async fn a_folder_is_applied_once_under_its_key(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, admin) = (house.shop.tenant, house.naming_key(Role::Admin, Some(Area::Tiers)).await);
        let send = |path: &'static str, key: &'static str, body: Value| {
            let request = Request::builder()
                .method("POST")
                .uri(path)
                .header("authorization", format!("Bearer {admin}"))
                .header("idempotency-key", key)
                .header("content-type", "application/json");
            let request = request.body(Body::from(body.to_string())).unwrap();
            let house = &house;
            async move { Reply::of(house.send(request).await).await }
        };
        let before = house.number(shop, CHANGED).await;
        let body = folder(&[("humans/spare.md", &human("You help."))]);
        let first = send(APPLY, "one", body.clone()).await.is(200);
        assert_eq!(send(APPLY, "one", body).await.is(200), first, "the first answer again, though nothing is left to do");
        send(APPLY, "one", folder(&[("humans/spare.md", &human("You wait."))])).await.refused(409, "conflict");
        send(APPLY, "two", folder(&[("humans/spare.md", &human("You wait."))])).await.is(200);
        let back = send("/v1/tiers/human/spare/rollback", "three", json!({})).await.is(200);
        assert_eq!(send("/v1/tiers/human/spare/rollback", "three", json!({})).await.is(200), back);
        assert_eq!(house.number(shop, CHANGED).await, before + 3);
    }

    async fn whose_folder_it_is_decides_who_may(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (owner, keeper) = (house.naming_key(Role::Owner, Some(Area::Tiers)).await, house.keeper_key("keeper").await);
        let file = human("You help.");
        let files = [("humans/spare.md", file.as_str())];
        for path in [APPLY, DIFF] {
            // Another's and nobody's look the same, and a tenant's key makes no tenant.
            for tenant in ["other", "nobody"] {
                house.post(path, &owner, named(tenant, &files)).await.refused(404, "not_found");
            }
            house.post(path, &keeper, folder(&files)).await.refused(422, "invalid");
        }
        let made = house.post(APPLY, &keeper, named("third", &files)).await.is(200);
        assert_eq!(made["plans"][0]["is_new"], true);
        house.post(APPLY, &owner, named("shop", &files)).await.is(200);
        let zone = json!({ "folders": [{ "files": [] }], "zone": "Asia/Dhaka" });
        house.post(APPLY, &owner, zone).await.refused(422, "invalid");
        // A key for one binding is for no more.
        let shop = house.shop;
        let bound = Some(vec![shop.binding]);
        let bound = house.key_with(shop.tenant, KeySubject::Role(Role::Owner), Some(&["tiers"]), bound).await;
        house.post(APPLY, &bound, folder(&files)).await.refused(403, "forbidden");
        house.post(DIFF, &bound, folder(&files)).await.refused(403, "forbidden");
        house.get("/v1/folder/export", &bound).await.refused(403, "forbidden");
        house.post("/v1/tiers/human/spare/rollback", &bound, json!({ "to": 1 })).await.refused(403, "forbidden");
        let looks = house.key_with(shop.tenant, KeySubject::Role(Role::Owner), Some(&["tiers:read"]), None).await;
        house.post(APPLY, &looks, folder(&files)).await.refused(403, "forbidden");
        house.get("/v1/folder/export", &looks).await.refused(403, "forbidden");
    }

    async fn what_is_no_file_of_a_tenant_changes_nothing(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, owner) = (house.shop.tenant, house.naming_key(Role::Owner, Some(Area::Tiers)).await);
        let before = house.number(shop, CHANGED).await;
        let good = human("You help.");
        let large = "x".repeat(256 * 1024 + 1);
        let bad: &[(&str, &str)] = &[
            ("../humans/spare.md", &good),
            ("/humans/spare.md", &good),
            ("humans/../spare.md", &good),
            ("humans/deep/spare.md", &good),
            ("humans/Not A Name.md", &good),
            ("humans/spare.toml", &good),
            ("agents/spare.md", &good),
            ("knowledge/spare.md", &good),
            ("README.md", &good),
            ("policies/x.toml", ""),
            ("humans/large.md", &large),
            ("humans/empty.md", ""),
            ("agents/odd.toml", "extends = \"nobody\"\n"),
            ("humans/nul.md", "+++\nname = \"A\"\nidentity = \"B\"\n+++\n\nx\u{0}y\n"),
        ];
        for (path, text) in bad {
            for verb in [DIFF, APPLY] {
                let body = folder(&[("humans/spare.md", &good), (path, text)]);
                let reply = house.post(verb, &owner, body).await;
                let said = reply.refused(422, "invalid");
                let problems = reply.json()["error"]["problems"].clone();
                assert!(problems.as_array().is_some_and(|all| !all.is_empty()), "{path}: {said}");
            }
        }
        let twice = folder(&[("humans/spare.md", &good), ("humans/spare.md", &good)]);
        house.post(APPLY, &owner, twice).await.refused(422, "invalid");
        house.post(APPLY, &owner, json!({ "folders": [] })).await.refused(422, "invalid");
        let both = json!({ "folders": [{ "files": [] }, { "tenant": "shop", "files": [] }] });
        house.post(APPLY, &owner, both).await.refused(422, "invalid");
        let mut long = folder(&[("humans/spare.md", &good)]);
        long["note"] = json!("x".repeat(1001));
        house.post(APPLY, &owner, long).await.refused(422, "invalid");
        assert_eq!(house.number(shop, CHANGED).await, before);
    }

    async fn whoever_is_let_in_takes_no_more_than_their_own_verbs_give(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, keeper) = (house.shop.tenant, house.keeper_key("keeper").await);
        let first = || folder(&[("humans/spare.md", &human("You help."))]);
        let unnamed = house.key(Role::Owner).await;
        assert!(house.post(APPLY, &unnamed, first()).await.refused(403, "forbidden").contains("names the area `tiers`"));
        let named: Option<&[&str]> = Some(&["tiers", "bindings"]);
        let program = house.key_speaking(KeySpeaker::Program, shop, KeySubject::Role(Role::Owner), (named, None)).await;
        assert!(house.post(APPLY, &program, first()).await.refused(403, "forbidden").contains("a program's key changes none"));
        let rollback = "/v1/tiers/human/meera/rollback";
        assert!(house.post(rollback, &program, json!({})).await.refused(403, "forbidden").contains("a program's key"));
        let tiers = house.key_with(shop, KeySubject::Role(Role::Owner), Some(&["tiers"]), None).await;
        house.post(APPLY, &tiers, first()).await.is(200);
        // Bindings are an area of their own, and addresses are the installation's.
        let taken = house.get("/v1/folder/export", &tiers).await.is(200);
        let files = taken["files"].as_array().unwrap();
        let binding = files.iter().find(|file| file["text"].as_str().unwrap().contains("host:")).unwrap();
        let (path, text) = (binding["path"].as_str().unwrap(), binding["text"].as_str().unwrap());
        let led = text.replacen("keys = [", "keys = [\"host:front.example\", ", 1);
        assert_ne!(led, text, "{text}");
        let led = folder(&[(path, &led)]);
        house.post(APPLY, &tiers, led.clone()).await.refused(403, "forbidden");
        let both = house.naming_key(Role::Owner, Some(Area::Tiers)).await;
        let refused = house.post(APPLY, &both, led.clone()).await.refused(403, "forbidden");
        assert!(refused.contains("the address host:front.example"), "{refused}");
        house.call_in("shop", ("POST", APPLY), &keeper, Some(led)).await.is(200);
    }
}
