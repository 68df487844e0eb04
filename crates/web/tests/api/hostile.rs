//! Whatever is sent, the answer says what to do, and is never ours to be ashamed of.

use axum::body::Body;
use axum::http::Request;
use munshi_identity::Role;
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use crate::api::support::Installation;

fn deep(levels: usize) -> String {
    format!("{{\"binding\":\"counter\",\"text\":{}1{}}}", "[".repeat(levels), "]".repeat(levels))
}

on_both! {
    async fn bad_input_is_told_apart_and_never_a_failure(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 3)).await;
        let key = house.key(Role::Owner).await;
        for path in [
            "/v1/runs/nonsense", "/v1/runs/%00", "/v1/runs/%ff", "/v1/sessions/1", "/v1/sessions/x/messages", "/v1/persons/..%2f",
            "/v1/approvals/%F0%9F%98%80", "/v1/keys/-1", "/v1/bindings/%00", "/v1/bindings/A%20B", "/v1/tiers/human/%00",
            "/v1/runs?limit=0", "/v1/runs?limit=501", "/v1/runs?limit=99999999999999999999", "/v1/runs?limit=-1", "/v1/runs?limit=x",
            "/v1/runs?after=%00", "/v1/runs?after=ffffffffffffffff-01a1dd4132c0704fb28c400adb3d8fd2", "/v1/runs?state=%00", "/v1/runs?colour=red",
            "/v1/sessions?person=%00", "/v1/usage?since=0000-00-00", "/v1/usage?by=%00", "/v1/tiers/human/meera?version=99999999999",
            "/v1/persons?everybody=perhaps",
        ] {
            let reply = house.get(path, &key).await;
            assert!((400..500).contains(&reply.status), "{path}: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
            assert!(reply.json()["error"]["message"].is_string(), "{path}");
        }
        let good = json!({ "binding": "counter", "text": "hi" });
        let with = |field: &str, value: Value| { let mut body = good.clone(); body[field] = value; body };
        for body in [
            json!(null), json!([]), json!("x"), json!({}), with("binding", json!("A\0")), with("binding", json!(7)), with("binding", json!("x".repeat(500))),
            with("text", json!("")), with("text", json!("a\0b")), with("text", json!("x".repeat(70_000))), with("text", json!(null)),
            with("person", json!("nonsense")), with("person", json!({ "phone": "\0" })), with("person", json!({ "email": "a\0@b.c" })), with("person", json!({ "handle": "\0" })),
            with("person", json!({ "visitor": "0123456789abcde\0" })), with("person", json!({ "phone": "+919812345678", "colour": 1 })),
            with("person", json!({ "handle": "raju", "name": "A\0" })),
            with("message_id", json!("a\0")), with("message_id", json!("x".repeat(600))), with("message_id", json!("")),
            with("locale", json!("\0")), with("locale", json!("x".repeat(100))), with("stream", json!("yes")), with("colour", json!("red")),
        ] {
            let reply = house.post("/v1/chat", &key, body.clone()).await;
            assert!((400..500).contains(&reply.status), "{body}: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
        }
        let named = house.post("/v1/chat", &key, with("colour", json!("red"))).await.refused(422, "invalid");
        assert!(named.contains("colour"), "an unknown field is named: {named}");
        for (kind, body, status) in [
            ("text/plain", good.to_string(), 415), ("application/json", "{".to_owned(), 400), ("application/json", String::new(), 400),
            ("application/json", deep(10_000), 422), ("application/json", deep(100), 422), ("application/json", "\u{feff}{}".to_owned(), 400),
            ("application/json", r#"{"binding":"counter","text":"\ud800"}"#.to_owned(), 400),
            ("application/json", r#"{"binding":"counter","text":"a","text":"b"}"#.to_owned(), 422),
        ] {
            let request = Request::post("/v1/chat").header("authorization", format!("Bearer {key}")).header("content-type", kind);
            let response = house.send(request.body(Body::from(body.clone())).unwrap()).await;
            assert_eq!(response.status().as_u16(), status, "{kind} {}", body.chars().take(60).collect::<String>());
        }
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM runs WHERE tenant_id = $1").await, 0);
        house.call("DELETE", "/v1/runs", &key, None).await.refused(405, "method_not_allowed");
        house.get("/v1/nothing", &key).await.refused(404, "not_found");
    }

    async fn a_tenant_that_rests_says_so(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Owner).await;
        let tenant = house.shop.tenant;
        let pause = move |tx: &mut munshi_store::PlatformTx<'_>| {
            munshi_test_support::administer_platform(tx, |tx| munshi_store::tenants::set_status(tx, tenant, munshi_types::TenantStatus::Paused))
        };
        house.db.platform(munshi_store::tenants::TENANTS).write(pause).await.unwrap();
        let say = json!({ "binding": "counter", "text": "hi" });
        assert!(house.post("/v1/chat", &key, say).await.refused(409, "conflict").contains("is paused"));
        house.get("/v1/runs", &key).await.is(200);
    }
}
