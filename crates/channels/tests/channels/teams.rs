//! Teams, with a stand-in of the Bot Framework that asks of requests what its documents ask.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use munshi_channels::incoming::{ArrivedFile, ArrivedMessage, IntakeOutcome};
use munshi_channels::link::{FaultDuration, WorkingSign};
use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendIdempotency, SendRetryability};
use munshi_test_support::on_both_engines;
use munshi_types::tier::Channel;
use munshi_types::{Clock, OutboundAttachment, OutboundMessage};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};

use super::link_shop::{LinkShop, open_link_shop};
use super::loopback_server::{LoopbackAnswer, LoopbackRequest, LoopbackServer};
use super::sdks::{SentRequest, check_request, check_update};
use super::support::migrations;

const APP: &str = "11111111-2222-3333-4444-555555555555";
const DIRECTORY: &str = "99999999-2222-3333-4444-555555555555";
const KEYS: &str = include_str!("keys/bot_keys.json");

/// What the Bot Framework answers where nothing is wrong.
fn answer_as_microsoft(request: &LoopbackRequest) -> LoopbackAnswer {
    let token_path = format!("/{DIRECTORY}/oauth2/v2.0/token");
    match request.path.as_str() {
        "/v1/.well-known/openidconfiguration" => {
            let keys = format!("http://{}/v1/.well-known/keys", request.header("host"));
            LoopbackAnswer::json(200, &json!({ "issuer": "https://api.botframework.com", "jwks_uri": keys }))
        }
        "/v1/.well-known/keys" => LoopbackAnswer::json(200, &serde_json::from_str(KEYS).unwrap()),
        path if path == token_path => {
            let field = |name: &str| request.field(name).unwrap_or_default();
            let is_good = field("grant_type") == "client_credentials"
                && field("client_id") == APP
                && field("client_secret") == "s3cret"
                && field("scope") == "https://api.botframework.com/.default";
            match is_good {
                true => {
                    LoopbackAnswer::json(200, &json!({ "access_token": "bot-token", "expires_in": 3600 }))
                }
                false => LoopbackAnswer::json(
                    401,
                    &json!({ "error": "invalid_client", "error_description": "AADSTS7000215: no" }),
                ),
            }
        }
        path if path.starts_with("/in/v3/conversations/") && path.ends_with("/activities") => {
            let media_type = request.header("content-type");
            let sent =
                SentRequest { method: &request.method, path: &request.path, media_type, body: &request.body };
            if let Err(why) = check_request("teams", &sent) {
                return LoopbackAnswer::json(
                    400,
                    &json!({ "error": { "code": "BadSyntax", "message": why } }),
                );
            }
            match request.header("authorization") {
                "Bearer bot-token" => LoopbackAnswer::json(201, &json!({ "id": "1794713400100" })),
                _ => LoopbackAnswer::json(401, &json!({ "message": "Authorization has been denied" })),
            }
        }
        _ => LoopbackAnswer::json(404, &json!({ "error": { "code": "ConversationNotFound" } })),
    }
}

async fn open_teams(shop: &LinkShop, url: &str) {
    shop.set_secret("teams.secret", "s3cret").await;
    shop.declare(&format!(
        "[teams]\nkind = \"teams\"\naccount_id = \"{APP}\"\nowner_id = \"{DIRECTORY}\"\ntoken = \"vault:teams.secret\"\napi_url = \"{url}\"\n"
    ))
    .await;
}

/// A token as the Bot Framework makes it, with what else it says.
#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn make_token(shop: &LinkShop, kid: &str, service: &str, more: Value) -> String {
    let now = shop.test.clock.now().as_micros() / 1_000_000;
    let mut claims = json!({
        "iss": "https://api.botframework.com", "aud": APP, "serviceurl": service, "nbf": now - 10, "exp": now + 3600,
    });
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&json!({ "alg": "RS256", "kid": kid, "typ": "JWT" })), part(&claims));
    let key = RsaKeyPair::from_pkcs8(include_bytes!("keys/bot_signing_key.der")).unwrap();
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).unwrap();
    format!("Bearer {signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn activity(service: &str, id: &str) -> Value {
    json!({
        "type": "message", "id": id, "timestamp": "2026-11-15T03:30:00.000Z", "serviceUrl": service,
        "channelId": "msteams", "from": { "id": "29:meera", "name": "Meera" }, "recipient": { "id": "28:bot" },
        "conversation": { "conversationType": "personal", "tenantId": DIRECTORY, "id": "a:1x" }, "text": "Namaste",
    })
}

async fn tell(shop: &LinkShop, token: &str, told: &Value) -> IntakeOutcome {
    check_update("teams", told).unwrap();
    let headers = [("authorization", token), ("content-type", "application/json")];
    shop.take("teams", &shop.build_request(&headers, told.to_string().as_bytes())).await
}

fn place(url: &str, person: Option<&str>) -> String {
    json!({ "s": format!("{url}/in/"), "c": "19:a@thread.tacv2;messageid=1", "p": person }).to_string()
}

on_both_engines! {
    with all migrations();

    async fn a_file_is_fetched_from_no_private_place(test: TestDb) {
        let shop = open_link_shop(test).await;
        let microsoft = LoopbackServer::start(answer_as_microsoft).await;
        open_teams(&shop, &microsoft.url).await;
        let link = shop.find_link("teams").await;
        for address in ["https://169.254.169.254/latest", "https://10.0.0.7/", "https://[::1]/"] {
            let reference = address.to_owned();
            let file = ArrivedFile { reference, media_type: String::new(), name: None, size: None };
            let Err(fault) = link.open_file(&file).await else { panic!("{address}") };
            assert_eq!(fault.lasting, FaultDuration::Lasting, "{address}: {fault:?}");
        }
    }

    async fn a_file_that_teams_does_not_take_is_refused_before_anything_leaves(test: TestDb) {
        let shop = open_link_shop(test).await;
        let microsoft = LoopbackServer::start(answer_as_microsoft).await;
        open_teams(&shop, &microsoft.url).await;
        let sender = shop.find_sender(Channel::Teams).await;
        let file = |media_type: &str| OutboundAttachment::File {
            file: shop.test.ids.next(),
            name: "bill.pdf".to_owned(),
            media_type: media_type.to_owned(),
        };
        let message = OutboundMessage {
            attachments: vec![file("application/pdf")],
            ..shop.message(Channel::Teams, &place(&microsoft.url, None), "Here is your bill.")
        };
        let refused = sender.send_part(&message, 0).await.unwrap_err();
        assert_eq!((refused.happened, refused.retryable), (DeliveryCertainty::No, SendRetryability::No), "{refused:?}");
        assert!(microsoft.list_asked("/in/v3/conversations/19:a@thread.tacv2;messageid=1/activities").is_empty());
        assert!(refused.why.contains("link"), "{refused:?}");
    }

    async fn what_the_bot_framework_signs_is_stored_once(test: TestDb) {
        let shop = open_link_shop(test).await;
        let microsoft = LoopbackServer::start(answer_as_microsoft).await;
        open_teams(&shop, &microsoft.url).await;
        let service = format!("{}/in/", microsoft.url);
        let token = make_token(&shop, "test-kid", &service, json!({}));
        for _ in 0..3 {
            assert!(matches!(tell(&shop, &token, &activity(&service, "1")).await, IntakeOutcome::Stored(_)));
        }
        tell(&shop, &token, &activity(&service, "2")).await;
        assert_eq!(shop.count_arrivals().await, 2);
        assert_eq!(microsoft.list_asked("/v1/.well-known/keys").len(), 1, "keys are kept for a day");
        let mut invoke = activity(&service, "3");
        invoke["type"] = json!("invoke");
        invoke["name"] = json!("adaptiveCard/action");
        let IntakeOutcome::Answered(answer) = tell(&shop, &token, &invoke).await else { panic!("no answer") };
        let answer: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(answer["statusCode"], 200);
        let mut foreign = activity(&service, "4");
        foreign["conversation"]["tenantId"] = json!("another");
        assert_eq!(tell(&shop, &token, &foreign).await, IntakeOutcome::Ignored);
    }

    async fn what_anybody_else_signs_is_not_believed(test: TestDb) {
        let shop = open_link_shop(test).await;
        let microsoft = LoopbackServer::start(answer_as_microsoft).await;
        open_teams(&shop, &microsoft.url).await;
        let service = format!("{}/in/", microsoft.url);
        let told = activity(&service, "1");
        let now = shop.test.clock.now().as_micros() / 1_000_000;
        let good = make_token(&shop, "test-kid", &service, json!({}));
        let mut tokens = vec![
            String::new(),
            "Bearer".to_owned(),
            "Bearer x.y.z".to_owned(),
            good.replace("Bearer", "Basic"),
            make_token(&shop, "unendorsed", &service, json!({})),
        ];
        for more in [
            json!({ "iss": "https://login.microsoftonline.com/x/v2.0" }),
            json!({ "iss": "https://sts.windows.net/x/" }),
            json!({ "aud": "another" }),
            json!({ "serviceurl": "https://evil.example/" }),
            json!({ "serviceurl": null }),
            json!({ "exp": now - 301 }),
            json!({ "exp": null }),
            json!({ "nbf": now + 301 }),
        ] {
            tokens.push(make_token(&shop, "test-kid", &service, more));
        }
        for token in &tokens {
            let outcome = tell(&shop, token, &told).await;
            assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "{outcome:?} {token}");
        }
        let mut emulated = told.clone();
        emulated["channelId"] = json!("emulator");
        assert!(matches!(tell(&shop, &good, &emulated).await, IntakeOutcome::Unverified(_)));
        let mut elsewhere = told.clone();
        elsewhere["serviceUrl"] = json!("https://evil.example/");
        assert!(matches!(tell(&shop, &good, &elsewhere).await, IntakeOutcome::Unverified(_)));
        let mut runner = TestRunner::deterministic();
        let changes = (0..good.len() - 7, any::<u8>());
        for _ in 0..100 {
            let (at, byte) = changes.new_tree(&mut runner).unwrap().current();
            let mut bytes = good.clone().into_bytes();
            let letter = b'A' + byte % 26;
            if bytes[7 + at] == letter {
                continue;
            }
            bytes[7 + at] = letter;
            let outcome = tell(&shop, &String::from_utf8(bytes).unwrap(), &told).await;
            assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "byte {at}: {outcome:?}");
        }
        for _ in 0..200 {
            let body = prop::collection::vec(any::<u8>(), 0..200).new_tree(&mut runner).unwrap().current();
            let request = shop.build_request(&[("authorization", good.as_str())], &body);
            let outcome = shop.take("teams", &request).await;
            assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "{outcome:?}");
        }
        assert_eq!(shop.count_arrivals().await, 0);
    }

    async fn keys_are_read_again_when_they_change_and_not_for_anybody(test: TestDb) {
        let shop = open_link_shop(test).await;
        let is_away = Arc::new(Mutex::new(true));
        let away = is_away.clone();
        let microsoft = LoopbackServer::start(move |request| match *away.lock().unwrap() {
            true => LoopbackAnswer::json(503, &json!({})),
            false => answer_as_microsoft(request),
        }).await;
        open_teams(&shop, &microsoft.url).await;
        let service = format!("{}/in/", microsoft.url);
        let told = activity(&service, "1");
        let token = |kid: &str| make_token(&shop, kid, &service, json!({}));
        let read = || microsoft.list_asked("/v1/.well-known/openidconfiguration").len();
        assert!(matches!(tell(&shop, &token("test-kid"), &told).await, IntakeOutcome::Failed(_)), "it comes again");
        *is_away.lock().unwrap() = false;
        shop.test.clock.advance(Duration::from_secs(11));
        assert!(matches!(tell(&shop, &token("test-kid"), &told).await, IntakeOutcome::Stored(_)));
        assert_eq!(read(), 2);
        for _ in 0..3 {
            assert!(matches!(tell(&shop, &token("unknown"), &told).await, IntakeOutcome::Unverified(_)));
        }
        assert_eq!(read(), 2, "an unknown key is looked for once an hour");
        shop.test.clock.advance(Duration::from_secs(3601));
        assert!(matches!(tell(&shop, &token("unknown"), &told).await, IntakeOutcome::Unverified(_)));
        assert_eq!(read(), 3);
        *is_away.lock().unwrap() = true;
        shop.test.clock.advance(Duration::from_secs(25 * 3600));
        assert!(matches!(tell(&shop, &token("test-kid"), &told).await, IntakeOutcome::Stored(_)), "the old ones are good a while");
    }

    async fn the_bot_framework_takes_a_reply_as_we_send_it(test: TestDb) {
        let shop = open_link_shop(test).await;
        let microsoft = LoopbackServer::start(answer_as_microsoft).await;
        open_teams(&shop, &microsoft.url).await;
        let sender = shop.find_sender(Channel::Teams).await;
        assert_eq!(sender.idempotency(), SendIdempotency::Once);
        let reply = OutboundMessage {
            suggestions: vec!["Yes".to_owned(), "No".to_owned()],
            attachments: vec![OutboundAttachment::Qr { text: "upi://pay?pa=a@b".to_owned(), title: String::new() }],
            answers: Some("19:a@thread.tacv2;messageid=1|77".to_owned()),
            ..shop.message(Channel::Teams, &place(&microsoft.url, Some("29:meera")), "**₹500** is due. Shall I?")
        };
        assert_eq!(sender.count_parts(&reply), 2);
        let sent = sender.send_part(&reply, 0).await.unwrap();
        assert_eq!(sent.outside_id.as_deref(), Some("19:a@thread.tacv2;messageid=1|1794713400100"));
        sender.send_part(&reply, 1).await.unwrap();
        let posted = microsoft.list_asked("/in/v3/conversations/19:a@thread.tacv2;messageid=1/activities");
        let words = posted[0].json();
        assert_eq!((&words["type"], &words["replyToId"]), (&json!("message"), &json!("77")));
        assert!(words["text"].as_str().unwrap().starts_with("**₹500**"), "{words}");
        let card = &words["attachments"][0]["content"]["body"][0]["actions"][0]["data"]["munshi"];
        assert_eq!(card, &json!({ "say": "Yes", "of": reply.id, "for": "29:meera" }));
        let picture = posted[1].json();
        let url = picture["attachments"][0]["contentUrl"].as_str().unwrap();
        assert!(url.starts_with("data:image/png;base64,iVBOR"), "{url}");
        assert_eq!(microsoft.list_asked(&format!("/{DIRECTORY}/oauth2/v2.0/token")).len(), 1, "a token is kept");
        let link = shop.find_link("teams").await;
        let message = ArrivedMessage { reply_to: place(&microsoft.url, None), ..ArrivedMessage::default() };
        link.show_working(&message, WorkingSign::Shown).await.unwrap();
        link.show_working(&message, WorkingSign::Removed).await.unwrap();
        let posted = microsoft.list_asked("/in/v3/conversations/19:a@thread.tacv2;messageid=1/activities");
        assert_eq!((posted.len(), posted[2].json()), (3, json!({ "type": "typing" })));
    }

    async fn our_token_goes_nowhere_else(test: TestDb) {
        let shop = open_link_shop(test).await;
        let microsoft = LoopbackServer::start(answer_as_microsoft).await;
        let evil = LoopbackServer::start(|_| LoopbackAnswer::json(201, &json!({ "id": "1" }))).await;
        open_teams(&shop, &microsoft.url).await;
        let sender = shop.find_sender(Channel::Teams).await;
        for to in [place(&evil.url, None), "29:meera".to_owned(), String::new()] {
            let fault = sender.send(&shop.message(Channel::Teams, &to, "Namaste")).await.unwrap_err();
            assert_eq!((fault.retryable, fault.happened), (SendRetryability::No, DeliveryCertainty::No), "{to}");
        }
        assert!(evil.list_asked("/in/v3/conversations/19:a@thread.tacv2;messageid=1/activities").is_empty());
    }

    async fn what_teams_refuses_is_told_as_it_is(test: TestDb) {
        let shop = open_link_shop(test).await;
        let next = Arc::new(Mutex::new(Vec::<LoopbackAnswer>::new()));
        let answers = next.clone();
        let microsoft = LoopbackServer::start(move |request| match request.path.starts_with("/in/") {
            true => answers.lock().unwrap().pop().unwrap_or(LoopbackAnswer::Lost),
            false => answer_as_microsoft(request),
        }).await;
        open_teams(&shop, &microsoft.url).await;
        let sender = shop.find_sender(Channel::Teams).await;
        let to = place(&microsoft.url, None);
        let send = async |answers: Vec<LoopbackAnswer>| {
            *next.lock().unwrap() = answers;
            sender.send(&shop.message(Channel::Teams, &to, "Namaste")).await
        };
        let fail = |status: u16| vec![LoopbackAnswer::json(status, &json!({ "error": { "code": "X" } }))];
        let limited = LoopbackAnswer::json(429, &json!({})).with("retry-after", "8");
        assert_eq!(send(vec![limited]).await.unwrap_err().retry_after, Some(Duration::from_secs(8)));
        let lost = send(vec![LoopbackAnswer::Lost]).await.unwrap_err();
        assert_eq!(lost.happened, DeliveryCertainty::Maybe);
        assert_eq!(send(fail(502)).await.unwrap_err().happened, DeliveryCertainty::Maybe);
        assert_eq!(send(fail(412)).await.unwrap_err().retryable, SendRetryability::Yes);
        assert_eq!(send(fail(403)).await.unwrap_err().subject, FaultSubject::Recipient);
        // The last of them is taken first.
        let renewed = vec![LoopbackAnswer::json(201, &json!({ "id": "1" })), LoopbackAnswer::json(401, &json!({}))];
        assert!(send(renewed).await.is_ok(), "a token that is taken no more is asked for anew");
        shop.set_secret("teams.secret", "wrong").await;
        let renewed = send(vec![LoopbackAnswer::json(401, &json!({}))]).await.unwrap_err();
        assert_eq!((renewed.happened, renewed.retryable), (DeliveryCertainty::No, SendRetryability::Yes));
        assert!(renewed.why.contains("AADSTS7000215") && !renewed.why.contains("wrong"), "{}", renewed.why);
    }

    async fn an_inspection_says_what_is_left_to_do(test: TestDb) {
        let shop = open_link_shop(test).await;
        let microsoft = LoopbackServer::start(answer_as_microsoft).await;
        open_teams(&shop, &microsoft.url).await;
        let link = shop.find_link("teams").await;
        let report = link.inspect().await;
        assert!(report.steps.iter().all(|step| step.failed.is_none()), "{report:?}");
        assert!(report.to_do[0].contains("https://munshi.example/channels/sharma/teams"), "{report:?}");
        shop.set_secret("teams.secret", "wrong").await;
        let report = link.inspect().await;
        assert!(report.steps[0].failed.as_deref().unwrap().contains("invalid_client"), "{report:?}");
        assert!(link.guide().len() > 3);
    }
}
