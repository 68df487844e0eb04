//! The platforms' own verifiers and ours say the same of every request, signed rightly or not.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use munshi_channels::incoming::{ChannelRequest, IntakeOutcome};
use munshi_test_support::on_both_engines;
use munshi_types::Clock;
use ring::hmac;

use super::link_shop::{LinkShop, open_link_shop};
use super::sdks::{SignedCall, is_believed};
use super::support::migrations;

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const ACCOUNT: &str = "AC0123456789abcdef0123456789abcdef";

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sign_sha256(secret: &str, body: &[u8]) -> String {
    to_hex(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body).as_ref())
}

/// A right signature, and what somebody may make of it.
fn list_signatures(right: &str, of_others: &[String]) -> Vec<String> {
    let mut all = vec![right.to_owned(), String::new(), right[..right.len() - 1].to_owned()];
    all.extend([format!("{right}0"), right.to_uppercase(), right.replacen('=', "", 1)]);
    for at in (0..right.len()).step_by(7) {
        let mut changed = right.as_bytes().to_vec();
        changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
        all.push(String::from_utf8(changed).unwrap());
    }
    all.extend(of_others.iter().cloned());
    all
}

/// How many of the requests were believed: by the SDK, and so by us.
async fn compare(shop: &LinkShop, name: &str, platform: &str, requests: Vec<ChannelRequest>) -> usize {
    let mut believed = 0;
    for request in requests {
        let call =
            SignedCall { secret: SECRET, url: &request.url, headers: &request.headers, body: &request.body };
        let theirs = is_believed(platform, &call);
        let outcome = shop.take(name, &request).await;
        let ours = !matches!(outcome, IntakeOutcome::Unverified(_));
        assert_eq!(ours, theirs, "{platform} {:?}: {outcome:?}", request.headers);
        believed += usize::from(ours);
    }
    believed
}

on_both_engines! {
    with all migrations();

    async fn meta_and_we_believe_the_same_signatures(test: TestDb) {
        let shop = open_link_shop(test).await;
        shop.set_secret("wa.token", "EAAG").await;
        shop.set_secret("wa.secret", SECRET).await;
        shop.declare(
            "[wa]\nkind = \"whatsapp\"\naccount_id = \"277321005464405\"\nnumber = \"+15550967852\"\n\
             token = \"vault:wa.token\"\nsecret = \"vault:wa.secret\"\napi_url = \"http://127.0.0.1:9\"\n",
        )
        .await;
        let body = r#"{"object":"whatsapp_business_account","entry":[]}"#.as_bytes();
        let right = format!("sha256={}", sign_sha256(SECRET, body));
        let others = [sign_sha256("another", body), sign_sha256(SECRET, b"{}")].map(|hex| format!("sha256={hex}"));
        let requests = list_signatures(&right, &others).into_iter();
        let requests = requests.map(|signature| shop.build_request(&[("x-hub-signature-256", &signature)], body));
        assert_eq!(compare(&shop, "wa", "whatsapp", requests.collect()).await, 1);
    }

    async fn slack_and_we_believe_the_same_signatures(test: TestDb) {
        let shop = open_link_shop(test).await;
        shop.set_secret("slack.token", "xoxb-1").await;
        shop.set_secret("slack.secret", SECRET).await;
        shop.declare("[slack]\nkind = \"slack\"\ntoken = \"vault:slack.token\"\nsecret = \"vault:slack.secret\"\napi_url = \"http://127.0.0.1:9\"\n")
            .await;
        let body = br#"{"type":"event_callback","team_id":"T1","event_id":"Ev1"}"#;
        let at = (shop.test.clock.now().as_micros() / 1_000_000).to_string();
        let signed = |secret: &str, at: &str| {
            let words = [format!("v0:{at}:").as_bytes(), body.as_slice()].concat();
            format!("v0={}", sign_sha256(secret, &words))
        };
        let others = [signed("another", &at), signed(SECRET, "1")];
        let requests = list_signatures(&signed(SECRET, &at), &others).into_iter().map(|signature| {
            let headers = [
                ("content-type", "application/json"), ("x-slack-request-timestamp", at.as_str()),
                ("x-slack-signature", signature.as_str()),
            ];
            shop.build_request(&headers, body)
        });
        assert_eq!(compare(&shop, "slack", "slack", requests.collect()).await, 1);
    }

    async fn twilio_and_we_believe_the_same_signatures(test: TestDb) {
        let shop = open_link_shop(test).await;
        shop.set_secret("sms.token", SECRET).await;
        shop.declare(&format!(
            "[sms]\nkind = \"twilio\"\naccount_id = \"{ACCOUNT}\"\nnumber = \"+14155550100\"\ntoken = \"vault:sms.token\"\n\
             api_url = \"http://127.0.0.1:9\"\n"
        ))
        .await;
        let fields: BTreeMap<&str, &str> =
            [("MessageSid", "SM1"), ("AccountSid", ACCOUNT), ("From", "+919812345678"), ("To", "+14155550100"), ("Body", "नमस्ते & hello")].into();
        let body = serde_urlencoded::to_string(&fields).unwrap();
        let url = "https://munshi.example/channels/sharma/sms";
        let signed = |token: &str, url: &str| {
            let words = fields.iter().fold(url.to_owned(), |text, (name, value)| text + name + value);
            let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, token.as_bytes());
            STANDARD.encode(hmac::sign(&key, words.as_bytes()))
        };
        let others = [signed("another", url), signed(SECRET, "https://elsewhere.example/")];
        let requests = list_signatures(&signed(SECRET, url), &others).into_iter().map(|signature| {
            let headers = [("content-type", "application/x-www-form-urlencoded"), ("x-twilio-signature", signature.as_str())];
            ChannelRequest { url: url.to_owned(), ..shop.build_request(&headers, body.as_bytes()) }
        });
        assert_eq!(compare(&shop, "sms", "twilio", requests.collect()).await, 1);
    }
}
