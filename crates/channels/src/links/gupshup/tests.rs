use munshi_types::{MessageId, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{arrivals, is_same};
use crate::incoming::{ArrivedReceipt, ChannelEvent, ChannelHappening};
use crate::links::whatsapp::name_button;

const APP: &str = "SharmaTraders";

#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn tell(kind: &str, payload: Value) -> Value {
    json!({ "app": APP, "timestamp": 1_580_227_766_370_i64, "version": 2, "type": kind, "payload": payload })
}

#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn message(kind: &str, inner: Value) -> Value {
    tell(
        "message",
        json!({
            "id": "ABEGkYaYVSEEAhAL3SLAWwHKeKrt6s3FKB0c", "source": "919812345678", "type": kind, "payload": inner,
            "sender": { "phone": "919812345678", "name": "Meera", "country_code": "91", "dial_code": "9812345678" },
            "context": { "id": "gBEGkYaYVSEEAgnPFrOLcjkFjL8", "gsId": "9b71295f-f7af-4c1f-b2b4-31b4a4867bad" },
        }),
    )
}

fn read(body: &Value) -> Vec<ChannelEvent> {
    arrivals::read(body, APP).unwrap()
}

#[test]
fn a_message_says_who_wrote_what_when() {
    let events = read(&message("text", json!({ "text": "नमस्ते" })));
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!(event.happened_at, Some(Timestamp::from_micros(1_580_227_766_370_000)));
    let ChannelHappening::Message(said) = &event.what else { panic!("{event:?}") };
    assert_eq!((said.text.as_str(), said.reply_to.as_str()), ("नमस्ते", "+919812345678"));
    assert_eq!(said.from.phone.as_deref(), Some("+919812345678"));
    assert_eq!(said.quoted.as_deref(), Some("9b71295f-f7af-4c1f-b2b4-31b4a4867bad"), "what sending it gave");
    let other = json!({ "app": "Another", "type": "message", "payload": message("text", json!({ "text": "x" }))["payload"] });
    assert_eq!(read(&other), []);
}

#[test]
fn every_kind_of_message_is_words_or_a_file() {
    let place = "https://filemanager.gupshup.io/fm/wamedia/SharmaTraders/1";
    for (kind, inner, text, files) in [
        ("image", json!({ "url": place, "contentType": "image/jpeg", "caption": "बिल" }), "बिल", 1),
        ("file", json!({ "url": place, "name": "a.pdf", "contentType": "application/pdf" }), "", 1),
        ("audio", json!({ "contentType": "audio/ogg" }), "[audio]", 0),
        ("sticker", json!({ "url": place }), "[sticker]", 0),
        ("location", json!({ "longitude": "77.59", "latitude": "12.97" }), "Location: 12.97, 77.59", 0),
        (
            "contact",
            json!({ "contacts": [{ "name": { "formatted_name": "Asha" }, "phones": [{ "phone": "+91 98" }] }] }),
            "Contact: Asha, +91 98",
            0,
        ),
        (
            "button_reply",
            json!({ "title": "Yes", "id": "1", "reply": "Yes 1", "postbackText": "say:Yes" }),
            "Yes",
            0,
        ),
        (
            "list_reply",
            json!({ "title": "All in…", "reply": "All in… 1", "postbackText": "say:All in May" }),
            "All in May",
            0,
        ),
        ("quick_reply", json!({ "text": "Pay", "type": "button", "postbackText": "PAY_1" }), "Pay", 0),
        ("poll_new", json!({}), "[poll new]", 0),
    ] {
        let events = read(&message(kind, inner));
        let ChannelHappening::Message(said) = &events[0].what else { panic!("{events:?}") };
        assert_eq!((said.text.as_str(), said.files.len()), (text, files), "{kind}");
    }
}

#[test]
fn what_becomes_of_a_message_is_told_by_the_id_that_sending_it_gave() {
    let event = |kind: &str, inner: Value| {
        tell(
            "message-event",
            json!({ "id": "gBEG", "gsId": "ee4a68a0", "type": kind, "destination": "919812345678", "payload": inner }),
        )
    };
    for kind in ["enqueued", "sent"] {
        assert_eq!(read(&event(kind, json!({ "ts": 1 }))), []);
    }
    let events = read(&event("delivered", json!({ "ts": 1 })));
    let ChannelHappening::Receipt { message, receipt: ArrivedReceipt::Delivered, .. } = &events[0].what
    else {
        panic!("{events:?}")
    };
    assert_eq!((message.as_str(), events[0].id.as_str()), ("ee4a68a0", "ee4a68a0:delivered"));
    let events =
        read(&event("failed", json!({ "code": 1002, "reason": "919812345678 Does Not Exist On WhatsApp" })));
    let ChannelHappening::Receipt { receipt: ArrivedReceipt::Returned { why }, .. } = &events[0].what else {
        panic!("{events:?}")
    };
    assert!(why.contains("#1002") && why.contains("can't be reached") && !why.contains("98123"), "{why}");
}

#[test]
fn a_press_says_which_message_it_answers() {
    let of: MessageId = munshi_types::IdGenerator::system().next();
    let pressed = json!({ "title": "Yes", "reply": "Yes 1", "postbackText": name_button(of, "Yes: all") });
    let events = read(&message("button_reply", pressed));
    let ChannelHappening::Message(said) = &events[0].what else { panic!("{events:?}") };
    assert_eq!((said.text.as_str(), said.answered), ("Yes: all", Some(of)));
}

#[test]
fn opting_out_is_heard_and_the_first_call_needs_nothing() {
    let event = |kind: &str| tell("user-event", json!({ "phone": "919812345678", "type": kind }));
    assert_eq!(read(&event("sandbox-start")), []);
    for (kind, is_wanted) in [("opted-in", true), ("opted-out", false)] {
        let events = read(&event(kind));
        let ChannelHappening::Subscription { from, wanted, .. } = &events[0].what else {
            panic!("{events:?}")
        };
        assert_eq!((from.channel_id.as_str(), *wanted), ("+919812345678", is_wanted));
    }
}

#[test]
fn metas_own_shape_is_told_to_whoever_set_it_up() {
    assert!(arrivals::read(&json!({ "object": "whatsapp_business_account", "entry": [] }), APP).is_err());
}

#[test]
fn only_the_whole_word_is_the_word() {
    assert!(is_same("abc", "abc"));
    for given in ["", "ab", "abcd", "abC"] {
        assert!(!is_same("abc", given));
    }
}

proptest! {
    #[test]
    fn nothing_that_is_told_breaks_the_reader(
        kind in prop::sample::select(vec!["message", "message-event", "user-event", "template-event", "account-event", "x"]),
        said in prop::sample::select(vec!["text", "image", "contact", "location", "reaction", "failed", "é"]),
        inner in prop::sample::select(vec![json!(null), json!([]), json!({ "url": 5, "contacts": [[]], "code": "x" }), json!("a")]),
        id in "\\PC{0,10}",
    ) {
        let payload = json!({ "id": id, "type": said, "source": "919812345678", "payload": inner });
        let _ = arrivals::read(&tell(kind, payload), APP);
        let _ = arrivals::read(&tell(kind, inner), APP);
    }
}
