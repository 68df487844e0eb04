//! Gupshup, both ways.

use std::time::Duration;

use munshi_channels::incoming::{
    ArrivedFile, ArrivedMessage, ChannelRequest, ChannelRequestMethod, IntakeOutcome,
};
use munshi_channels::link::{FaultDuration, WorkingSign};
use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendRetryability};
use munshi_test_support::on_both_engines;
use munshi_types::{OutboundAttachment, OutboundMessage, OutboundTemplate};
use serde_json::{Value, json};

use super::stand_in::{Asked, Mood, Reply};
use super::{MEERA, TOKEN, open_shop};
use crate::channels::support::migrations;

const MESSAGE: &str = "/wa/api/v1/msg";
const TEMPLATE: &str = "/wa/api/v1/template/msg";

const ACCOUNT: &str = "[wa]\nkind = \"gupshup\"\naccount_id = \"SharmaTraders\"\nnumber = \"+917834811114\"\n\
                       token = \"vault:wa.token\"\napi_url = \"URL\"\n";

fn check(asked: &Asked, _own: &str) -> Result<Reply, String> {
    if asked.path == "/files/1" {
        return match asked.header("apikey") {
            "" => Ok(Reply::Bytes(b"file".to_vec())),
            _ => Err("the key was told to a stranger".to_owned()),
        };
    }
    if asked.header("apikey") != TOKEN {
        return Err("no key".to_owned());
    }
    if asked.path == "/sm/api/v2/wallet/balance" {
        return Ok(Reply::Said(json!({ "status": "success", "balance": 12.5, "currency": "USD" })));
    }
    let is_form = asked.header("content-type") == "application/x-www-form-urlencoded";
    let is_ours = asked.field("channel") == "whatsapp" && asked.field("source") == "917834811114";
    let is_theirs =
        asked.field("destination") == "919812345678" && asked.field("src.name") == "SharmaTraders";
    if !(is_form && is_ours && is_theirs) {
        return Err(String::from_utf8_lossy(&asked.body).into_owned());
    }
    let field = if asked.path == TEMPLATE { "template" } else { "message" };
    let content: Value = serde_json::from_str(&asked.field(field)).map_err(|error| error.to_string())?;
    let is_whole = match (asked.path.as_str(), content["type"].as_str()) {
        (TEMPLATE, None) => content["id"].is_string() && content["params"].is_array(),
        (MESSAGE, Some("text")) => content["text"].is_string(),
        (MESSAGE, Some("reaction")) => content["msgId"].is_string() && content["emoji"].is_string(),
        (MESSAGE, Some("quick_reply")) => {
            content["options"].as_array().is_some_and(|options| options.len() <= 3)
        }
        (MESSAGE, Some("list")) => {
            content["items"][0]["options"].as_array().is_some_and(|rows| rows.len() <= 10)
        }
        _ => false,
    };
    match is_whole {
        true => {
            Ok(Reply::Taken(|number| json!({ "status": "submitted", "messageId": format!("gs-{number}") })))
        }
        false => Err(content.to_string()),
    }
}

on_both_engines! {
    with all migrations();

    async fn a_reply_is_submitted_in_its_parts(test: TestDb) {
        let shop = open_shop(test, check, ACCOUNT).await;
        let sender = shop.sender().await;
        let outbound = OutboundMessage {
            suggestions: vec!["Yes".to_owned()],
            attachments: vec![OutboundAttachment::Qr { text: "upi://pay?pa=a@b".to_owned(), title: "Pay".to_owned() }],
            ..shop.message("**Now?**")
        };
        assert_eq!(sender.count_parts(&outbound), 1);
        assert_eq!(sender.send(&outbound).await.unwrap().outside_id.as_deref(), Some("gs-1"));
        let asked: Value = serde_json::from_str(&shop.provider.asked(MESSAGE)[0].field("message")).unwrap();
        assert_eq!(asked["content"]["text"], "*Now?*\n\nPay: upi://pay?pa=a@b");
        assert_eq!(asked["options"][0]["postbackText"], format!("say:{}:Yes", outbound.id));
        let template = OutboundTemplate {
            name: "c6aecef6-bcb0-4fb1-8100-28c094e3bc6b".to_owned(),
            language: "hi".parse().unwrap(),
            values: vec!["500".to_owned()],
        };
        sender.send(&OutboundMessage { template: Some(template), ..shop.message("due") }).await.unwrap();
        assert_eq!(shop.provider.asked(TEMPLATE).len(), 1);
        let file = shop.hold_file(b"%PDF");
        let attachments =
            vec![OutboundAttachment::File { file, name: "a.pdf".to_owned(), media_type: "application/pdf".to_owned() }];
        let fault = sender.send(&OutboundMessage { attachments, ..shop.message("Your bill") }).await.unwrap_err();
        assert_eq!((fault.retryable, fault.happened), (SendRetryability::No, DeliveryCertainty::No));
        assert_eq!((shop.provider.asked(MESSAGE).len(), shop.provider.wrong()), (1, Vec::new()));
    }

    async fn what_becomes_of_a_message_is_told_as_it_is(test: TestDb) {
        use DeliveryCertainty::{Maybe, No};
        use SendRetryability::{No as Never, Yes};
        let shop = open_shop(test, check, ACCOUNT).await;
        let (sender, outbound) = (shop.sender().await, shop.message("hi"));
        let says = |status: u16, message: &str| {
            Mood::Says { status, body: json!({ "status": "error", "message": message }), retry_after: None }
        };
        for (mood, retryable, happened, subject, pause) in [
            (Mood::Lost, Yes, Maybe, FaultSubject::Account, None),
            (says(500, "x"), Yes, Maybe, FaultSubject::Account, None),
            (says(401, "Authentication Failed"), Yes, No, FaultSubject::Account, None),
            (says(429, "Too Many Requests"), Yes, No, FaultSubject::Account, Some(60)),
            (says(400, "Invalid Destination 919812345678"), Never, No, FaultSubject::Recipient, None),
            (says(202, "Invalid message"), Never, No, FaultSubject::Account, None),
        ] {
            shop.provider.be(mood);
            let fault = sender.send(&outbound).await.unwrap_err();
            assert_eq!((fault.retryable, fault.happened, fault.subject), (retryable, happened, subject), "{fault:?}");
            assert_eq!(fault.retry_after, pause.map(Duration::from_secs), "{fault:?}");
            assert!(!fault.why.contains("98123") && !fault.why.contains(TOKEN), "{fault:?}");
        }
    }

    async fn only_who_knows_the_word_in_the_address_is_heard(test: TestDb) {
        let shop = open_shop(test, check, ACCOUNT).await;
        let link = shop.link().await;
        let secret = link.open_path_secret().await.unwrap().unwrap();
        let body = json!({ "app": "SharmaTraders", "timestamp": 1_580_227_766_370_i64, "version": 2, "type": "message",
            "payload": { "id": "ABEG", "source": "919812345678", "type": "text", "payload": { "text": "milk?" },
                         "sender": { "phone": "919812345678", "name": "Meera" } } });
        let tell = |secret: Option<&str>, body: &[u8]| ChannelRequest {
            path_secret: secret.map(str::to_owned), ..shop.request(ChannelRequestMethod::Post, body)
        };
        let body = body.to_string().into_bytes();
        for given in [None, Some(""), Some(TOKEN), Some(&secret[1..])] {
            let outcome = shop.take(&tell(given, &body)).await;
            assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "{outcome:?}");
        }
        assert_eq!(shop.stored().await, 0);
        for (stored, known) in [(1, 0), (0, 1)] {
            let outcome = shop.take(&tell(Some(&secret), &body)).await;
            let IntakeOutcome::Stored(arrivals) = outcome else { panic!("{outcome:?}") };
            assert_eq!((arrivals.stored, arrivals.known), (stored, known));
        }
        assert!(matches!(shop.take(&tell(Some(&secret), b"")).await, IntakeOutcome::Answered(answer) if answer.text.is_empty()));
        assert_eq!(link.acknowledge().text, "", "Gupshup may send it to whoever wrote");
        let report = link.inspect().await;
        assert!(report.steps.iter().all(|step| step.failed.is_none()), "{report:?}");
        assert!(report.to_do[0].contains(&secret), "{report:?}");
        assert!(!link.guide().concat().contains(&secret));
    }

    async fn the_sign_of_working_comes_and_goes(test: TestDb) {
        let shop = open_shop(test, check, ACCOUNT).await;
        let link = shop.link().await;
        let message = ArrivedMessage { outside_id: "ABEG".to_owned(), reply_to: MEERA.to_owned(), ..ArrivedMessage::default() };
        for sign in [WorkingSign::Shown, WorkingSign::Removed] {
            link.show_working(&message, sign).await.unwrap();
        }
        let asked = shop.provider.asked(MESSAGE);
        let signs: Vec<Value> = asked.iter().map(|asked| serde_json::from_str(&asked.field("message")).unwrap()).collect();
        assert_eq!((signs[0]["emoji"].as_str(), signs[1]["emoji"].as_str()), (Some("⏳"), Some("")));
    }

    async fn a_file_is_fetched_without_the_key(test: TestDb) {
        let shop = open_shop(test, check, ACCOUNT).await;
        let link = shop.link().await;
        let file = |reference: String| ArrivedFile { reference, media_type: String::new(), name: None, size: None };
        assert!(link.open_file(&file(format!("{}/files/1", shop.provider.url))).await.is_ok());
        assert_eq!(shop.provider.wrong(), Vec::<String>::new());
        for strange in ["http://files.example/1", "https://169.254.169.254/latest", "https://[::1]/x", "file:///etc/passwd", "no address"] {
            let Err(fault) = link.open_file(&file(strange.to_owned())).await else { panic!("{strange}") };
            assert_eq!(fault.lasting, FaultDuration::Lasting, "{fault:?}");
        }
    }
}
