//! Whatever is sent to the addresses of channels breaks nothing, and nothing of it is stored that its provider did not send.

use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::http::Request;
use munshi_channels::accounts::parse;
use munshi_channels::rows;
use munshi_store::Tx;
use munshi_web::Peer;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::json;

use crate::api::support::Installation;

const KINDS: [&str; 8] = ["wa", "gup", "bot", "slack", "teams", "twilio", "msg91", "mail"];

/// A channel of each kind that is told by a webhook.
const FILE: &str = r#"
[wa]
kind = "whatsapp"
account_id = "277321005464405"
number = "+15550967852"
token = "vault:token"
secret = "vault:secret"
[gup]
kind = "gupshup"
account_id = "SharmaTraders"
number = "+917834811114"
token = "vault:token"
[bot]
kind = "telegram"
token = "vault:bot"
[slack]
kind = "slack"
token = "vault:token"
secret = "vault:secret"
[teams]
kind = "teams"
account_id = "11111111-2222-3333-4444-555555555555"
owner_id = "99999999-2222-3333-4444-555555555555"
token = "vault:token"
[twilio]
kind = "twilio"
account_id = "AC0123456789abcdef0123456789abcdef"
number = "+14155550100"
token = "vault:token"
[msg91]
kind = "msg91"
account_id = "SHARMA"
token = "vault:token"
templates = { any = "65f0" }
[mail]
kind = "email"
host = "smtp.example.com"
from = "shop@example.com"
receive = "webhook"
secret = "vault:secret"
"#;

async fn open(house: &Installation) {
    let key = house
        .key_with(
            house.shop.tenant,
            munshi_identity::keys::KeySubject::Role(munshi_identity::Role::Admin),
            Some(&["vault"]),
            None,
        )
        .await;
    for (name, value) in [("token", "0123456789abcdef"), ("secret", "app_secret"), ("bot", "700:AA-secret")] {
        house.post(&format!("/v1/secrets/{name}"), &key, json!({ "value": value })).await.is(200);
    }
    let (declared, now) = (parse(FILE).unwrap(), house.now());
    let save = move |tx: &mut Tx<'_>| rows::save_accounts(tx, &declared, "asha", "", now);
    house.db.write(house.shop.tenant, save).await.unwrap();
}

/// What somebody might send who knows the platforms' documents, and nobody's secret.
fn any_request(
    kind: &'static str,
) -> impl Strategy<Value = (String, String, Vec<(String, String)>, Vec<u8>)> {
    let method = prop_oneof![8 => Just("POST"), 2 => Just("GET"), 1 => Just("PUT")].prop_map(str::to_owned);
    let word = "[a-zA-Z0-9%_.~-]{0,70}";
    let query = prop_oneof![
        Just(String::new()),
        "\\?[a-z.]{1,20}=[a-zA-Z0-9%]{0,20}",
        word.prop_map(|token| format!("?hub.mode=subscribe&hub.challenge=1&hub.verify_token={token}")),
    ];
    let path = (prop_oneof![Just(String::new()), word.prop_map(|secret| format!("/{secret}"))], query)
        .prop_map(move |(secret, query)| format!("/channels/shop/{kind}{secret}{query}"));
    let name = prop_oneof![
        Just("x-hub-signature-256"),
        Just("x-telegram-bot-api-secret-token"),
        Just("x-slack-signature"),
        Just("x-slack-request-timestamp"),
        Just("x-twilio-signature"),
        Just("authorization"),
        Just("content-encoding"),
        Just("x-forwarded-for"),
    ];
    let value = prop_oneof![
        "[ -~]{0,80}",
        "sha256=[0-9a-f]{64}",
        "v0=[0-9a-f]{64}",
        "Bearer [A-Za-z0-9_.-]{0,200}",
        "[0-9]{10}"
    ];
    let media_type = prop_oneof![
        Just("application/json"),
        Just("application/x-www-form-urlencoded"),
        Just("multipart/form-data; boundary=x"),
        Just(""),
    ];
    let headers = (media_type, prop::collection::vec((name.prop_map(str::to_owned), value), 0..4)).prop_map(
        |(media_type, mut headers)| {
            headers.push(("content-type".to_owned(), media_type.to_owned()));
            headers
        },
    );
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        "[\\[{\"}\\]:,0-9a-z]{0,200}".prop_map(String::into_bytes),
        Just(json!({ "update_id": 1, "message": { "message_id": 1, "date": 1, "text": "x", "chat": { "id": 1, "type": "private" } } }).to_string().into_bytes()),
        Just(json!({ "type": "url_verification", "challenge": "x" }).to_string().into_bytes()),
        Just(json!({ "object": "whatsapp_business_account", "entry": [{ "changes": [{ "field": "messages", "value": {} }] }] }).to_string().into_bytes()),
        Just(b"[".repeat(5000)),
        Just(b"MessageSid=SM1&From=%2B1&Body=x".to_vec()),
        Just(b"From: a@b.example\r\n\r\nhello".to_vec()),
    ];
    (method, path, headers, body)
}

on_both! {
    async fn nothing_that_anybody_sends_is_an_error_of_ours_or_stored(test: TestDb) {
        let house = Installation::open(&test, []).await;
        open(&house).await;
        let mut runner = TestRunner::deterministic();
        let mut asked: u16 = 0;
        for kind in KINDS {
            let mut looked_at = 0;
            let requests = any_request(kind);
            for _ in 0..120 {
                let (method, path, headers, body) = requests.new_tree(&mut runner).unwrap().current();
                // Everybody has an address of their own, so that none is limited for what another did.
                asked += 1;
                let [high, low] = asked.to_be_bytes();
                let address = IpAddr::from([203, 0, high, low]);
                let mut request = Request::builder().method(method.as_str()).uri(path.as_str());
                for (name, value) in &headers {
                    request = request.header(name.as_str(), value.as_str());
                }
                let Ok(mut request) = request.body(Body::from(body)) else { continue };
                request.extensions_mut().insert(Peer(SocketAddr::new(address, 4000)));
                let status = house.send(request).await.status().as_u16();
                assert!((200..500).contains(&status), "{status}: {method} {path} {headers:?}");
                looked_at += u32::from(matches!(status, 200 | 401));
            }
            assert!(looked_at > 60, "{kind}: only {looked_at} were looked at");
        }
        let stored = house.number(house.shop.tenant, "SELECT COUNT(*) FROM channel_arrivals WHERE tenant_id = $1").await;
        assert_eq!(stored, 0);
    }
}
