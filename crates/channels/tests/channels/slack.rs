//! Slack, with a stand-in that asks of requests what Slack's documents ask.

use std::sync::Mutex;
use std::time::Duration;

use munshi_channels::incoming::{ArrivedFile, ArrivedMessage, ChannelRequest, IntakeOutcome};
use munshi_channels::link::WorkingSign;
use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendIdempotency, SendRetryability};
use munshi_test_support::on_both_engines;
use munshi_types::tier::Channel;
use munshi_types::{Clock, OutboundAttachment, OutboundMessage};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use ring::hmac;
use serde_json::{Value, json};

use super::link_shop::{LinkShop, open_link_shop};
use super::loopback_server::{LoopbackAnswer, LoopbackRequest, LoopbackServer};
use super::sdks::{SentRequest, check_request};
use super::support::migrations;

const SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
const TOKEN: &str = "xoxb-1-token";

pub(crate) async fn open_slack(shop: &LinkShop, url: &str) {
    shop.set_secret("slack.token", TOKEN).await;
    shop.set_secret("slack.secret", SECRET).await;
    shop.declare(&format!(
        "[slack]\nkind = \"slack\"\nbindings = [\"counter\"]\ntoken = \"vault:slack.token\"\nsecret = \"vault:slack.secret\"\napi_url = \"{url}\"\n"
    ))
    .await;
}

/// What Slack answers; a request that it would refuse is refused.
fn answer_as_slack(request: &LoopbackRequest) -> LoopbackAnswer {
    let said = |body: Value| LoopbackAnswer::json(200, &body);
    let refuse = |error: &str| said(json!({ "ok": false, "error": error }));
    if request.path.starts_with("/upload/") {
        return LoopbackAnswer::json(200, &json!("OK"));
    }
    if request.header("authorization") != format!("Bearer {TOKEN}") {
        return refuse("invalid_auth");
    }
    let media_type = request.header("content-type");
    let sent = SentRequest { method: &request.method, path: &request.path, media_type, body: &request.body };
    if let Err(why) = check_request("slack", &sent) {
        return refuse(&format!("the SDK asks otherwise: {why}"));
    }
    let is_json = request.header("content-type").starts_with("application/json");
    match request.path.as_str() {
        "/chat.postMessage" if is_json => {
            let body = request.json();
            let blocks = body["blocks"].as_array().map(Vec::len).unwrap_or_default();
            if !(1..=50).contains(&blocks) || body["text"].as_str().is_none_or(str::is_empty) {
                return refuse("invalid_blocks");
            }
            said(json!({ "ok": true, "channel": "D7", "ts": "1794713400.000100", "message": {} }))
        }
        "/files.getUploadURLExternal" if !is_json => {
            let host = request.header("host");
            said(json!({ "ok": true, "file_id": "F1", "upload_url": format!("http://{host}/upload/1") }))
        }
        "/files.completeUploadExternal" if !is_json => {
            let files: Value = serde_json::from_str(&request.field("files").unwrap()).unwrap();
            said(json!({ "ok": true, "files": files }))
        }
        "/conversations.open" => said(json!({ "ok": true, "channel": { "id": "D7" } })),
        "/auth.test" => said(json!({
            "ok": true, "team": "Sharma Traders", "team_id": "T1", "user": "munshi", "user_id": "U0BOT", "bot_id": "B1",
        }))
        .with("x-oauth-scopes", "chat:write,im:history"),
        "/reactions.add" => refuse("already_reacted"),
        "/reactions.remove" => refuse("missing_scope"),
        _ => refuse("unknown_method"),
    }
}

pub(crate) fn sign(shop: &LinkShop, kind: &str, body: &str) -> ChannelRequest {
    let at = (shop.test.clock.now().as_micros() / 1_000_000).to_string();
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signed = hmac::sign(&key, format!("v0:{at}:{body}").as_bytes());
    let digits: String = signed.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let signature = format!("v0={digits}");
    let headers = [
        ("content-type", kind),
        ("x-slack-request-timestamp", at.as_str()),
        ("x-slack-signature", signature.as_str()),
    ];
    shop.build_request(&headers, body.as_bytes())
}

fn event(text: &str, ts: &str) -> String {
    json!({
        "type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event_id": format!("Ev{ts}"),
        "authorizations": [{ "team_id": "T1", "user_id": "U0BOT", "is_bot": true }],
        "event": { "type": "message", "channel_type": "im", "channel": "D7", "user": "U5", "text": text, "ts": ts },
    })
    .to_string()
}

on_both_engines! {
    with all migrations();

    async fn slack_takes_a_reply_as_we_send_it(test: TestDb) {
        let shop = open_link_shop(test).await;
        let slack = LoopbackServer::start(answer_as_slack).await;
        open_slack(&shop, &slack.url).await;
        let sender = shop.find_sender(Channel::Slack).await;
        assert_eq!(sender.idempotency(), SendIdempotency::Asked);
        let reply = OutboundMessage {
            suggestions: vec!["Yes".to_owned(), "No".to_owned()],
            attachments: vec![OutboundAttachment::Qr { text: "upi://pay?pa=a@b".to_owned(), title: String::new() }],
            ..shop.message(Channel::Slack, "C9/169.01/U5", "**₹500** is due. Shall I remind her?")
        };
        assert_eq!(sender.count_parts(&reply), 2);
        let words = sender.send_part(&reply, 0).await.unwrap();
        assert_eq!(words.outside_id.as_deref(), Some("D7:1794713400.000100"));
        let file = sender.send_part(&reply, 1).await.unwrap();
        assert_eq!(file.outside_id.as_deref(), Some("file:F1"));
        let posted = slack.list_asked("/chat.postMessage")[0].json();
        assert_eq!((&posted["channel"], &posted["thread_ts"]), (&json!("C9"), &json!("169.01")));
        assert_eq!(posted["metadata"]["event_payload"], json!({ "id": reply.id.to_string(), "part": 0 }));
        assert!(posted["blocks"][0]["text"]["text"].as_str().unwrap().starts_with("*₹500*"), "{posted}");
        assert_eq!(posted["blocks"][1]["elements"].as_array().unwrap().len(), 2);
        let uploaded = &slack.list_asked("/upload/1")[0];
        assert_eq!(uploaded.method, "POST");
        assert!(uploaded.header("authorization").is_empty(), "its address is leave enough");
        let length = slack.list_asked("/files.getUploadURLExternal")[0].field("length").unwrap();
        assert_eq!(length, uploaded.body.len().to_string());
        let complete = &slack.list_asked("/files.completeUploadExternal")[0];
        assert_eq!((complete.field("channel_id"), complete.field("thread_ts")), (Some("C9".into()), Some("169.01".into())));
    }

    async fn what_slack_refuses_is_told_as_it_is(test: TestDb) {
        let shop = open_link_shop(test).await;
        let next = std::sync::Arc::new(Mutex::new(Vec::<LoopbackAnswer>::new()));
        let answers = next.clone();
        let slack = LoopbackServer::start(move |_| answers.lock().unwrap().pop().unwrap_or(LoopbackAnswer::Lost)).await;
        open_slack(&shop, &slack.url).await;
        let sender = shop.find_sender(Channel::Slack).await;
        let send = async |answer: LoopbackAnswer| {
            next.lock().unwrap().push(answer);
            sender.send(&shop.message(Channel::Slack, "D7", "Namaste")).await.unwrap_err()
        };
        let limited = send(LoopbackAnswer::json(429, &json!({})).with("retry-after", "12")).await;
        assert_eq!(limited.retry_after, Some(Duration::from_secs(12)));
        let lost = send(LoopbackAnswer::Lost).await;
        assert_eq!((lost.happened, lost.retryable), (DeliveryCertainty::Maybe, SendRetryability::Yes));
        assert_eq!(send(LoopbackAnswer::json(500, &json!({}))).await.happened, DeliveryCertainty::Maybe);
        let gone = send(LoopbackAnswer::json(200, &json!({ "ok": false, "error": "channel_not_found" }))).await;
        assert_eq!((gone.subject, gone.retryable), (FaultSubject::Recipient, SendRetryability::No));
        let revoked = send(LoopbackAnswer::json(200, &json!({ "ok": false, "error": "token_revoked" }))).await;
        assert_eq!((revoked.subject, revoked.retryable), (FaultSubject::Account, SendRetryability::Yes));
        for fault in [limited, lost, gone, revoked] {
            assert!(!fault.why.contains(TOKEN) && !fault.why.contains("Namaste"), "{}", fault.why);
        }
        let nowhere = sender.send(&shop.message(Channel::Slack, "not a place", "Namaste")).await.unwrap_err();
        assert_eq!(nowhere.subject, FaultSubject::Recipient);
    }

    async fn whether_something_was_sent_is_asked(test: TestDb) {
        let shop = open_link_shop(test).await;
        let said = std::sync::Arc::new(Mutex::new(Vec::<Value>::new()));
        let known = said.clone();
        let slack = LoopbackServer::start(move |request| {
            let first = request.field("cursor").is_none();
            let messages = if first { json!([{ "ts": "1.1", "user": "U5" }]) } else { json!(*known.lock().unwrap()) };
            let cursor = if first { "next" } else { "" };
            LoopbackAnswer::json(200, &json!({
                "ok": true, "messages": messages, "has_more": first, "response_metadata": { "next_cursor": cursor },
            }))
        }).await;
        open_slack(&shop, &slack.url).await;
        let sender = shop.find_sender(Channel::Slack).await;
        let direct = shop.message(Channel::Slack, "D7", "Namaste");
        assert_eq!(sender.was_part_sent(&direct, 0).await.unwrap(), None);
        let asked = slack.list_asked("/conversations.history");
        assert_eq!((asked.len(), asked[0].field("channel").as_deref()), (2, Some("D7")));
        let block = json!({ "type": "section", "block_id": format!("munshi-{}-0", direct.id) });
        said.lock().unwrap().push(json!({ "ts": "1794713400.000300", "bot_id": "B1", "blocks": [block] }));
        let found = sender.was_part_sent(&direct, 0).await.unwrap().unwrap();
        assert_eq!(found.outside_id.as_deref(), Some("D7:1794713400.000300"));
        let other = shop.message(Channel::Slack, "C9/169.01/U5", "Namaste");
        assert_eq!(sender.was_part_sent(&other, 0).await.unwrap(), None);
        assert_eq!(slack.list_asked("/conversations.replies")[0].field("ts").as_deref(), Some("169.01"));
    }

    async fn where_slack_may_not_be_asked_nothing_is_taken_for_unsent(test: TestDb) {
        let shop = open_link_shop(test).await;
        let slack = LoopbackServer::start(|_| {
            LoopbackAnswer::json(200, &json!({ "ok": false, "error": "missing_scope", "needed": "im:history" }))
        }).await;
        open_slack(&shop, &slack.url).await;
        let sender = shop.find_sender(Channel::Slack).await;
        let fault = sender.was_sent(&shop.message(Channel::Slack, "D7", "Namaste")).await.unwrap_err();
        assert!(fault.why.contains("im:history"), "{}", fault.why);
    }

    async fn what_slack_tells_is_stored_once(test: TestDb) {
        let shop = open_link_shop(test).await;
        open_slack(&shop, "http://127.0.0.1:9").await;
        let json_type = "application/json";
        let question = sign(&shop, json_type, "{\"type\":\"url_verification\",\"challenge\":\"3eZbrw1a\"}");
        let IntakeOutcome::Answered(answer) = shop.take("slack", &question).await else { panic!("no answer") };
        assert_eq!(answer.text, "3eZbrw1a");
        let first = sign(&shop, json_type, &event("Namaste", "1794713400.000100"));
        for _ in 0..3 {
            assert!(matches!(shop.take("slack", &first).await, IntakeOutcome::Stored(_)));
        }
        assert_eq!(shop.count_arrivals().await, 1);
        let second = sign(&shop, json_type, &event("Namaste", "1794713400.000200"));
        shop.take("slack", &second).await;
        assert_eq!(shop.count_arrivals().await, 2);
        shop.test.clock.advance(Duration::from_secs(301));
        let old = ChannelRequest { now: shop.test.clock.now(), ..first };
        assert!(matches!(shop.take("slack", &old).await, IntakeOutcome::Unverified(_)), "somebody recorded it");
        let unreadable = sign(&shop, json_type, "{\"type\":7}");
        assert_eq!(shop.take("slack", &unreadable).await, IntakeOutcome::Ignored, "it would come for days");
    }

    async fn a_press_for_somebody_else_is_noted_to_whoever_pressed(test: TestDb) {
        let shop = open_link_shop(test).await;
        let (told, mut notes) = tokio::sync::mpsc::unbounded_channel();
        let slack = LoopbackServer::start(move |request| {
            told.send((request.path.clone(), request.json())).unwrap();
            LoopbackAnswer::json(200, &json!({ "ok": true }))
        }).await;
        open_slack(&shop, &slack.url).await;
        let message = shop.message(Channel::Slack, "C9", "");
        let press = |by: &str| {
            let value = json!({ "say": "Yes", "of": message.id, "for": "U7" }).to_string();
            let payload = json!({
                "type": "block_actions", "user": { "id": by }, "team": { "id": "T1" }, "channel": { "id": "C9" },
                "container": { "type": "message", "message_ts": "169.02", "channel_id": "C9", "thread_ts": "169.01" },
                "actions": [{ "type": "button", "action_id": "munshi-0", "action_ts": "169.03", "value": value }],
            });
            let body = serde_urlencoded::to_string([("payload", payload.to_string())]).unwrap();
            sign(&shop, "application/x-www-form-urlencoded", &body)
        };
        assert_eq!(shop.take("slack", &press("U5")).await, IntakeOutcome::Ignored);
        let (path, note) = notes.recv().await.unwrap();
        assert_eq!(path, "/chat.postEphemeral");
        assert_eq!((&note["channel"], &note["user"], &note["thread_ts"]), (&json!("C9"), &json!("U5"), &json!("169.01")));
        assert_eq!(shop.count_arrivals().await, 0);
        for _ in 0..2 {
            assert!(matches!(shop.take("slack", &press("U7")).await, IntakeOutcome::Stored(_)));
        }
        assert_eq!(shop.count_arrivals().await, 1, "pressed twice, it is said once");
    }

    async fn nothing_that_slack_did_not_sign_is_stored(test: TestDb) {
        let shop = open_link_shop(test).await;
        open_slack(&shop, "http://127.0.0.1:9").await;
        let at = (shop.test.clock.now().as_micros() / 1_000_000).to_string();
        let bodies = prop_oneof![Just(event("Namaste", "1.1").into_bytes()), prop::collection::vec(any::<u8>(), 0..200)];
        let requests = (bodies, prop_oneof![Just(at), "\\PC{0,20}"], prop_oneof!["v0=[0-9a-f]{64}", "\\PC{0,80}"], "\\PC{0,40}");
        let mut runner = TestRunner::deterministic();
        for _ in 0..300 {
            let (body, at, signature, kind) = requests.new_tree(&mut runner).unwrap().current();
            let headers =
                [("content-type", kind.as_str()), ("x-slack-request-timestamp", at.as_str()), ("x-slack-signature", signature.as_str())];
            let outcome = shop.take("slack", &shop.build_request(&headers, &body)).await;
            assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "{outcome:?}");
        }
        for _ in 0..100 {
            let body: String = "\\PC{0,200}".new_tree(&mut runner).unwrap().current();
            for kind in ["application/json", "application/x-www-form-urlencoded"] {
                let outcome = shop.take("slack", &sign(&shop, kind, &body)).await;
                assert_eq!(outcome, IntakeOutcome::Ignored, "signed, and nothing in it: {body}");
            }
        }
        assert_eq!(shop.count_arrivals().await, 0);
    }

    async fn an_inspection_names_what_is_missing(test: TestDb) {
        let shop = open_link_shop(test).await;
        let slack = LoopbackServer::start(answer_as_slack).await;
        open_slack(&shop, &slack.url).await;
        let link = shop.find_link("slack").await;
        let report = link.inspect().await;
        let find = |step: &str| report.steps.iter().find(|found| found.step == step).unwrap();
        assert_eq!(find("token").found.as_deref(), Some("munshi in Sharma Traders"));
        assert!(find("scopes").failed.as_deref().unwrap().contains("app_mentions:read"));
        let address = "https://munshi.example/channels/sharma/slack";
        assert_eq!(find("webhook").found.as_deref(), Some(address));
        assert!(report.to_do.iter().filter(|step| step.contains(address)).count() == 2, "{:?}", report.to_do);
        assert!(report.to_do.iter().any(|step| step.contains("files:read")), "{:?}", report.to_do);
        assert!(link.guide().iter().any(|step| step.contains(address)), "{:?}", link.guide());
        shop.set_secret("slack.token", "xoxb-revoked").await;
        let report = link.inspect().await;
        assert!(report.steps[0].failed.as_deref().unwrap().contains("invalid_auth"), "{report:?}");
        assert!(report.to_do[0].contains("api.slack.com"), "{report:?}");
    }

    async fn files_are_fetched_from_slack_alone(test: TestDb) {
        let shop = open_link_shop(test).await;
        let slack = LoopbackServer::start(|request| match request.path.as_str() {
            "/files/bill.pdf" if request.header("authorization") == format!("Bearer {TOKEN}") => LoopbackAnswer::Said {
                status: 200,
                headers: vec![("content-type", "application/pdf".to_owned())],
                body: b"%PDF-1.7".to_vec(),
            },
            "/files.info" => {
                let url = format!("http://{}/files/bill.pdf", request.header("host"));
                LoopbackAnswer::json(200, &json!({ "ok": true, "file": { "url_private_download": url } }))
            }
            "/files/page" => LoopbackAnswer::Said {
                status: 200,
                headers: vec![("content-type", "text/html".to_owned())],
                body: b"<html>sign in".to_vec(),
            },
            _ => LoopbackAnswer::json(404, &json!({})),
        }).await;
        open_slack(&shop, &slack.url).await;
        let link = shop.find_link("slack").await;
        let open = async |reference: &str| {
            let file = ArrivedFile {
                reference: reference.to_owned(),
                media_type: "application/pdf".to_owned(),
                name: None,
                size: None,
            };
            let mut stream = link.open_file(&file).await?;
            let mut read = Vec::new();
            while let Some(piece) = futures_util::StreamExt::next(&mut stream).await {
                read.extend_from_slice(&piece?);
            }
            Ok::<_, munshi_channels::link::LinkFault>(read)
        };
        assert_eq!(open(&format!("{}/files/bill.pdf", slack.url)).await.unwrap(), b"%PDF-1.7");
        assert_eq!(open("file:F1").await.unwrap(), b"%PDF-1.7");
        assert!(open(&format!("{}/files/page", slack.url)).await.unwrap_err().what.contains("files:read"));
        for elsewhere in ["https://evil.example/bill.pdf", "http://127.0.0.1:1/bill.pdf", "x"] {
            assert!(open(elsewhere).await.is_err(), "{elsewhere}");
        }
        assert_eq!(slack.list_asked("/files/bill.pdf").len(), 2);
    }

    async fn a_sign_that_can_not_be_shown_is_no_fault(test: TestDb) {
        let shop = open_link_shop(test).await;
        let slack = LoopbackServer::start(answer_as_slack).await;
        open_slack(&shop, &slack.url).await;
        let link = shop.find_link("slack").await;
        let message = ArrivedMessage { outside_id: "D7:1794713400.000100".to_owned(), ..ArrivedMessage::default() };
        link.show_working(&message, WorkingSign::Shown).await.unwrap();
        link.show_working(&message, WorkingSign::Removed).await.unwrap();
        let asked = slack.list_asked("/reactions.add")[0].json();
        assert_eq!(asked, json!({ "channel": "D7", "timestamp": "1794713400.000100", "name": "eyes" }));
        let press = ArrivedMessage { outside_id: "press:D7:1.1:U5:munshi-0".to_owned(), ..message };
        link.show_working(&press, WorkingSign::Shown).await.unwrap();
        assert_eq!(slack.list_asked("/reactions.add").len(), 1, "a press is no message");
    }
}
