//! Sending by the Cloud API: nothing that WhatsApp would refuse, nothing twice, and the truth about what became of it.

use std::time::Duration;

use futures_util::StreamExt;
use munshi_channels::incoming::{ArrivedFile, ArrivedMessage};
use munshi_channels::link::{FaultDuration, WorkingSign};
use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendRetryability};
use munshi_test_support::{choose_port, on_both_engines};
use munshi_types::tier::Channel;
use munshi_types::{OutboundAttachment, OutboundMessage, OutboundPurpose, OutboundTemplate, ReplyAddress};
use serde_json::{Value, json};

use super::meta::{FILE, MEDIA, MESSAGES, account, check};
use super::stand_in::{Asked, Mood};
use super::{MEERA, TOKEN, WhatsappShop, open_shop};
use crate::channels::support::migrations;

/// All parts, in order, as the outbox sends them. Gives what WhatsApp was asked.
async fn send(shop: &WhatsappShop, outbound: &OutboundMessage) -> Vec<Value> {
    let (sender, before) = (shop.sender().await, shop.provider.asked(MESSAGES).len());
    for part in 0..sender.count_parts(outbound) {
        let receipt = sender.send_part(outbound, part).await.unwrap();
        assert!(receipt.outside_id.is_some_and(|id| id.starts_with("wamid.")));
    }
    assert_eq!(shop.provider.wrong(), Vec::<String>::new());
    shop.provider.asked(MESSAGES)[before..].iter().map(Asked::json).collect()
}

fn says(status: u16, code: i64, retry_after: Option<u64>) -> Mood {
    let body = json!({ "error": { "message": format!("(#{code}) {MEERA} and 919812345678"), "code": code } });
    Mood::Says { status, body, retry_after }
}

on_both_engines! {
    with all migrations();

    async fn a_reply_leaves_as_whatsapp_takes_it(test: TestDb) {
        let shop = open_shop(test, check, &account()).await;
        let outbound = OutboundMessage {
            answers: Some("wamid.Q".to_owned()),
            suggestions: vec!["हाँ".to_owned(), "नहीं".to_owned()],
            ..shop.message(&format!("{}\n\n**Pay** now?", "यह एक वाक्य है। ".repeat(500)))
        };
        let asked = send(&shop, &outbound).await;
        assert!(asked.len() >= 3, "{}", asked.len());
        assert_eq!(asked[0]["context"]["message_id"], "wamid.Q");
        assert_eq!(asked[1].get("context"), None);
        assert_eq!(asked[0]["to"], "919812345678");
        let last = asked.last().unwrap();
        assert_eq!(last["interactive"]["action"]["buttons"][0]["reply"]["title"], "हाँ");
        assert!(last["interactive"]["body"]["text"].as_str().unwrap().ends_with("*Pay* now?"));
        let list = OutboundMessage {
            suggestions: vec!["Tell me what I bought last month".to_owned(), "No".to_owned()],
            to: ReplyAddress::new(Channel::Whatsapp, "IN.13491208655302741918"),
            ..shop.message("Which?")
        };
        let asked = send(&shop, &list).await;
        assert_eq!(asked[0]["recipient"], "IN.13491208655302741918");
        assert_eq!(asked[0]["interactive"]["type"], "list");
    }

    async fn files_and_codes_are_handed_over_before_they_are_shown(test: TestDb) {
        let shop = open_shop(test, check, &account()).await;
        let file = shop.hold_file(b"%PDF-1.7");
        let attachments = vec![
            OutboundAttachment::File { file, name: "bill\".pdf".to_owned(), media_type: "application/pdf".to_owned() },
            OutboundAttachment::Qr { text: "upi://pay?pa=a@b".to_owned(), title: "Pay here".to_owned() },
        ];
        let asked = send(&shop, &OutboundMessage { attachments, ..shop.message("Your bill") }).await;
        let kinds: Vec<&str> = asked.iter().map(|body| body["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "document", "image"]);
        assert_eq!(asked[1]["document"]["filename"], "bill.pdf");
        assert_eq!(asked[2]["image"]["caption"], "Pay here");
        assert_eq!(shop.provider.asked(MEDIA).len(), 2);
    }

    async fn a_template_goes_alone(test: TestDb) {
        let shop = open_shop(test, check, &account()).await;
        let template = OutboundTemplate {
            name: "bill_due".to_owned(),
            language: "hi-latn".parse().unwrap(),
            values: vec!["₹500\nby Monday".to_owned()],
        };
        let outbound = OutboundMessage {
            template: Some(template.clone()),
            suggestions: vec!["Pay".to_owned()],
            ..shop.message("₹500 is due")
        };
        let asked = send(&shop, &outbound).await;
        let [body] = &asked[..] else { panic!("{asked:?}") };
        assert_eq!(body["template"]["language"]["code"], "hi");
        assert_eq!(body["template"]["components"][0]["parameters"][0]["text"], "₹500 by Monday");
        let code = OutboundMessage { purpose: OutboundPurpose::Code, ..outbound };
        assert_eq!(send(&shop, &code).await[0]["template"]["components"][1]["sub_type"], "url");
        assert_eq!(shop.sender().await.reply_window(), Some(Duration::from_secs(24 * 3600)));
    }

    async fn what_becomes_of_a_message_is_told_as_it_is(test: TestDb) {
        use DeliveryCertainty::{Maybe, No};
        use SendRetryability::{No as Never, Yes};
        let shop = open_shop(test, check, &account()).await;
        let (sender, outbound) = (shop.sender().await, shop.message("hi"));
        for (mood, retryable, happened, subject, pause) in [
            (Mood::Lost, Yes, Maybe, FaultSubject::Account, None),
            (says(500, 2, None), Yes, Maybe, FaultSubject::Account, None),
            (says(503, 131_016, None), Yes, No, FaultSubject::Account, None),
            (says(429, 130_429, Some(7)), Yes, No, FaultSubject::Account, Some(7)),
            (says(400, 131_056, None), Yes, No, FaultSubject::Account, Some(60)),
            (says(401, 190, None), Yes, No, FaultSubject::Account, None),
            (says(400, 131_026, None), Never, No, FaultSubject::Recipient, None),
            (says(400, 131_047, None), Never, No, FaultSubject::Account, None),
        ] {
            shop.provider.be(mood);
            let fault = sender.send(&outbound).await.unwrap_err();
            assert_eq!((fault.retryable, fault.happened, fault.subject), (retryable, happened, subject), "{fault:?}");
            assert_eq!(fault.retry_after, pause.map(Duration::from_secs), "{fault:?}");
            assert!(!fault.why.contains("98123") && !fault.why.contains(TOKEN), "{fault:?}");
        }
        let nobody = OutboundMessage {
            to: ReplyAddress::new(Channel::Whatsapp, "meera"),
            ..outbound
        };
        assert_eq!(sender.send(&nobody).await.unwrap_err().subject, FaultSubject::Recipient);
    }

    async fn an_unreachable_provider_was_sent_nothing(test: TestDb) {
        let nowhere = format!("http://127.0.0.1:{}", choose_port());
        let shop = open_shop(test, check, &account().replace("URL", &nowhere)).await;
        let (sender, outbound) = (shop.sender().await, shop.message("hi"));
        let fault = sender.send(&outbound).await.unwrap_err();
        assert_eq!((fault.happened, fault.retryable), (DeliveryCertainty::No, SendRetryability::Yes), "{fault:?}");
    }

    async fn the_sign_of_working_comes_and_goes(test: TestDb) {
        let shop = open_shop(test, check, &account()).await;
        let link = shop.link().await;
        let message = ArrivedMessage {
            outside_id: "wamid.IN".to_owned(),
            reply_to: MEERA.to_owned(),
            ..ArrivedMessage::default()
        };
        link.show_working(&message, WorkingSign::Shown).await.unwrap();
        link.show_working(&message, WorkingSign::Removed).await.unwrap();
        let asked: Vec<Value> = shop.provider.asked(MESSAGES).iter().map(Asked::json).collect();
        assert_eq!(asked[0]["status"], "read");
        let signs: Vec<&Value> = asked[1..].iter().map(|body| &body["reaction"]["emoji"]).collect();
        assert_eq!(signs, ["⏳", ""]);
        assert_eq!(shop.provider.wrong(), Vec::<String>::new());
    }

    async fn a_file_is_fetched_from_the_provider_alone(test: TestDb) {
        let shop = open_shop(test, check, &account()).await;
        let link = shop.link().await;
        let file = |reference: &str| ArrivedFile {
            reference: reference.to_owned(), media_type: "image/png".to_owned(), name: None, size: None,
        };
        let mut bytes = Vec::new();
        let mut stream = link.open_file(&file("m1")).await.unwrap();
        while let Some(piece) = stream.next().await {
            bytes.extend_from_slice(&piece.unwrap());
        }
        assert_eq!(bytes, FILE);
        for strange in ["m2", "../m1", "m1?x", ""] {
            let Err(fault) = link.open_file(&file(strange)).await else { panic!("{strange}") };
            assert_eq!(fault.lasting, FaultDuration::Lasting, "{fault:?}");
        }
        for (status, lasting) in [
            (401, FaultDuration::Lasting),
            (404, FaultDuration::Lasting),
            (410, FaultDuration::Lasting),
            (429, FaultDuration::Passing),
            (503, FaultDuration::Passing),
        ] {
            let Err(fault) = link.open_file(&file(&format!("m-{status}"))).await else { panic!("{status}") };
            assert_eq!(fault.lasting, lasting, "{fault:?}");
        }
    }

    async fn a_look_at_the_account_sets_up_what_it_can(test: TestDb) {
        let shop = open_shop(test, check, &account()).await;
        let link = shop.link().await;
        let report = link.inspect().await;
        let failed: Vec<_> = report.steps.iter().filter(|step| step.failed.is_some()).collect();
        assert!(failed.is_empty(), "{failed:?}");
        let steps: Vec<&str> = report.steps.iter().map(|step| step.step).collect();
        assert_eq!(steps, ["token", "number", "secret", "webhook", "subscription", "templates"]);
        let found = |at: usize| report.steps[at].found.clone().unwrap_or_default();
        assert!(found(1).contains("Sharma Traders"), "{}", found(1));
        assert!(found(3).starts_with("https://munshi.example/channels/"), "{}", found(3));
        assert!(found(5).contains("1 approved; welcome (en) rejected"), "{}", found(5));
        let proofs = shop.provider.asked("/277321005464405");
        assert!(proofs.iter().any(|asked| asked.query.contains("appsecret_proof=")));
        assert!(!link.guide().is_empty());
    }
}
