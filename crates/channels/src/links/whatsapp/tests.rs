use munshi_types::{MessageId, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::arrivals::ArrivalReader;
use super::content::name_button;
use super::signature::{answer_verification, make_verify_token, verify_signature};
use crate::incoming::{
    ArrivedChat, ArrivedReceipt, ChannelEvent, ChannelHappening, ChannelRequest, ChannelRequestMethod,
    ChannelVerdict,
};

const OURS: &str = "277321005464405";
const BSUID: &str = "IN.13491208655302741918";

fn request(method: ChannelRequestMethod, body: &str) -> ChannelRequest {
    ChannelRequest {
        method,
        url: "https://munshi.example/channels/sharma/wa".to_owned(),
        path_secret: None,
        headers: Vec::new(),
        query: Vec::new(),
        body: body.as_bytes().to_vec(),
        now: Timestamp::from_micros(1_800_000_000_000_000),
    }
}

fn signed(body: &str, signature: &str) -> ChannelRequest {
    let headers = vec![("x-hub-signature-256".to_owned(), signature.as_bytes().to_vec())];
    ChannelRequest { headers, ..request(ChannelRequestMethod::Post, body) }
}

/// As Meta tells something of a number.
#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn tell(phone_number_id: &str, more: Value) -> Value {
    let mut value = json!({
        "messaging_product": "whatsapp",
        "metadata": { "display_phone_number": "15550967852", "phone_number_id": phone_number_id },
        "contacts": [{ "profile": { "name": "Meera" }, "wa_id": "919812345678", "user_id": BSUID }],
    });
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    change("messages", value)
}

#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn change(field: &str, value: Value) -> Value {
    json!({
        "object": "whatsapp_business_account",
        "entry": [{ "id": "102290129340398", "time": 1739321024, "changes": [{ "field": field, "value": value }] }],
    })
}

fn read(body: &Value) -> Vec<ChannelEvent> {
    ArrivalReader { phone_number_id: OURS, owner_id: None, number: Some("+15550967852") }.read(body)
}

#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn message(more: Value) -> Value {
    let mut said =
        json!({ "from": "919812345678", "from_user_id": BSUID, "id": "wamid.A", "timestamp": "1739321024" });
    said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    tell(OURS, json!({ "messages": [said] }))
}

/// The words of a message, and the files that came with it.
#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn read_words(more: Value) -> (String, Vec<String>) {
    let events = read(&message(more));
    let [ChannelEvent { what: ChannelHappening::Message(message), .. }] = &events[..] else {
        panic!("no message: {events:?}")
    };
    (message.text.clone(), message.files.iter().map(|file| file.reference.clone()).collect())
}

#[test]
fn what_is_signed_by_another_is_refused() {
    let body = r#"{"object":"whatsapp_business_account","entry":[]}"#;
    let right = "sha256=c236c758c9b2bd40b388a550eeca09eaca72384dd0aa5e7c31d19cddac5bba46";
    assert!(verify_signature("app_secret", &signed(body, right)).is_ok());
    for (secret, body, signature) in [
        ("another", body, right),
        ("app_secret", "{}", right),
        ("app_secret", body, "sha256="),
        ("app_secret", body, &right[7..]),
        ("app_secret", body, right.replace("c236", "c237").as_str()),
        ("app_secret", body, "sha256=ü236c758c9b2bd40b388a550eeca09eaca72384dd0aa5e7c31d19cddac5bba4"),
    ] {
        assert!(verify_signature(secret, &signed(body, signature)).is_err(), "{signature}");
    }
    let mut twice = signed(body, right);
    twice.headers.push(twice.headers[0].clone());
    assert!(verify_signature("app_secret", &twice).is_err());
    assert!(verify_signature("app_secret", &request(ChannelRequestMethod::Post, body)).is_err());
}

#[test]
fn meta_is_answered_where_it_knows_the_word() {
    let token = make_verify_token("app_secret", "sharma\0wa");
    let ask = |mode: &str, token: &str, challenge: &str| ChannelRequest {
        query: vec![
            ("hub.mode".to_owned(), mode.to_owned()),
            ("hub.verify_token".to_owned(), token.to_owned()),
            ("hub.challenge".to_owned(), challenge.to_owned()),
        ],
        ..request(ChannelRequestMethod::Get, "")
    };
    let answered = answer_verification("app_secret", "sharma\0wa", &ask("subscribe", &token, "1158201444"));
    let Ok(ChannelVerdict::Answer(answer)) = answered else { panic!("{answered:?}") };
    assert_eq!(answer.text, "1158201444");
    for (of, asked) in [
        ("gupta\0wa", ask("subscribe", &token, "1")),
        ("sharma\0wa", ask("unsubscribe", &token, "1")),
        ("sharma\0wa", ask("subscribe", "", "1")),
        ("sharma\0wa", ask("subscribe", &token, "<script>")),
    ] {
        assert!(answer_verification("app_secret", of, &asked).is_err());
    }
}

#[test]
fn a_message_says_who_wrote_what_when() {
    let events =
        read(&message(json!({ "type": "text", "text": { "body": "नमस्ते" }, "context": { "id": "wamid.Q" } })));
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!((event.id.as_str(), event.lane.as_str()), ("wamid.A", BSUID));
    assert_eq!(event.happened_at, Some(Timestamp::from_micros(1_739_321_024_000_000)));
    let ChannelHappening::Message(message) = &event.what else { panic!("no message") };
    assert_eq!(message.text, "नमस्ते");
    assert_eq!(message.quoted.as_deref(), Some("wamid.Q"));
    assert_eq!(message.from.channel_id, BSUID);
    assert_eq!(message.from.phone.as_deref(), Some("+919812345678"));
    assert_eq!(message.from.name.as_deref(), Some("Meera"));
    assert_eq!(message.reply_to, "+919812345678");
    assert_eq!(message.to.as_deref(), Some("+15550967852"));
}

#[test]
fn somebody_without_a_number_is_known_by_their_id_and_somebody_without_an_id_by_their_number() {
    for (said, contact, channel_id, reply_to) in [
        (json!({ "from_user_id": BSUID }), json!({ "user_id": BSUID }), BSUID, BSUID),
        (json!({ "from": BSUID }), json!({ "user_id": BSUID }), BSUID, BSUID),
        (json!({}), json!({ "user_id": BSUID, "wa_id": "" }), BSUID, BSUID),
        (
            json!({ "from": "919812345678" }),
            json!({ "wa_id": "919812345678" }),
            "+919812345678",
            "+919812345678",
        ),
    ] {
        let mut message = json!({ "id": "wamid.A", "type": "text", "text": { "body": "hi" } });
        message.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        let events = read(&tell(OURS, json!({ "contacts": [contact], "messages": [message] })));
        let [ChannelEvent { what: ChannelHappening::Message(message), .. }] = &events[..] else {
            panic!("{said}: {events:?}")
        };
        assert_eq!((message.from.channel_id.as_str(), message.reply_to.as_str()), (channel_id, reply_to));
    }
}

#[test]
fn every_kind_of_message_is_words_or_a_file() {
    for (more, text, files) in [
        (
            json!({ "type": "image", "image": { "id": "1", "mime_type": "image/jpeg", "caption": "बिल" } }),
            "बिल",
            vec!["1"],
        ),
        (
            json!({ "type": "audio", "audio": { "id": "2", "mime_type": "audio/ogg; codecs=opus", "voice": true } }),
            "",
            vec!["2"],
        ),
        (json!({ "type": "document", "document": { "id": "3", "filename": "a.pdf" } }), "", vec!["3"]),
        (json!({ "type": "video", "video": {} }), "[video]", vec![]),
        (json!({ "type": "sticker", "sticker": { "id": "4" } }), "[sticker]", vec![]),
        (
            json!({ "type": "location", "location": { "latitude": 12.97, "longitude": 77.59, "name": "Shop" } }),
            "Location: Shop (12.97, 77.59)",
            vec![],
        ),
        (
            json!({ "type": "contacts", "contacts": [{ "name": { "formatted_name": "Asha" }, "phones": [{ "phone": "+91 98" }] }] }),
            "Contact: Asha, +91 98",
            vec![],
        ),
        (json!({ "type": "button", "button": { "text": "Pay", "payload": "PAY_1" } }), "Pay", vec![]),
        (
            json!({ "type": "interactive", "interactive": { "type": "button_reply", "button_reply": { "id": "say:Yes", "title": "Yes" } } }),
            "Yes",
            vec![],
        ),
        (
            json!({ "type": "interactive", "interactive": { "type": "list_reply",
                "list_reply": { "id": "say:All that I bought in May", "title": "All that I bought in…" } } }),
            "All that I bought in May",
            vec![],
        ),
        (
            json!({ "type": "order", "order": { "catalog_id": "1", "text": "soon", "product_items": [
                { "product_retailer_id": "rice", "quantity": 2, "item_price": 60.5, "currency": "INR" }] } }),
            "Order:\n- 2 × rice, 60.5 INR each\nsoon",
            vec![],
        ),
        (json!({ "type": "unsupported", "errors": [{ "code": 131051 }] }), "[unsupported]", vec![]),
        (json!({ "type": "poll_creation" }), "[poll creation]", vec![]),
        (json!({}), "[unsupported]", vec![]),
    ] {
        assert_eq!(read_words(more), (text.to_owned(), files.iter().map(|id| (*id).to_owned()).collect()));
    }
}

#[test]
fn a_press_says_which_message_it_answers() {
    let of: MessageId = munshi_types::IdGenerator::system().next();
    for (kind, own, text, answered) in [
        ("button_reply", name_button(of, "Yes: all"), "Yes: all", Some(of)),
        ("list_reply", name_button(of, "All that I bought in May"), "All that I bought in May", Some(of)),
        // As it was named before, and as others name theirs.
        ("button_reply", "say:Yes".to_owned(), "Yes", None),
        ("button_reply", "say:Now: all".to_owned(), "Now: all", None),
        ("button_reply", format!("{of}:Yes"), "shown", None),
    ] {
        let pressed = json!({ "type": "interactive", "interactive": { "type": kind, kind: { "id": own, "title": "shown" } } });
        let events = read(&message(pressed));
        let ChannelHappening::Message(said) = &events[0].what else { panic!("{events:?}") };
        assert_eq!((said.text.as_str(), said.answered), (text, answered), "{own}");
    }
    assert!(name_button(of, &"x".repeat(72)).len() <= 200);
}

#[test]
fn a_status_of_the_last_part_says_of_which_message_it_is() {
    let of: MessageId = munshi_types::IdGenerator::system().next();
    for (callback, own) in [
        (format!("{of}:0:1"), Some(of)),
        (format!("{of}:2:3"), Some(of)),
        (format!("{of}:1:3"), None),
        (format!("{of}:0"), None),
        ("of another program".to_owned(), None),
        (String::new(), None),
    ] {
        let status = json!({ "id": "wamid.O", "status": "delivered", "biz_opaque_callback_data": callback });
        let events = read(&tell(OURS, json!({ "statuses": [status] })));
        let ChannelHappening::Receipt { own: told, .. } = &events[0].what else { panic!("{events:?}") };
        assert_eq!(*told, own, "{callback}");
    }
}

#[test]
fn edits_deletions_and_reactions_name_the_message_that_they_are_about() {
    let edit = json!({ "type": "edit", "edit": { "original_message_id": "wamid.O",
        "message": { "type": "text", "text": { "body": "five kilos" }, "id": "wamid.O" } } });
    let events = read(&message(edit));
    let ChannelHappening::Edited(edited) = &events[0].what else { panic!("{events:?}") };
    assert_eq!((events[0].id.as_str(), edited.outside_id.as_str()), ("wamid.A", "wamid.O"));
    assert_eq!(edited.text, "five kilos");
    let revoke = json!({ "type": "revoke", "revoke": { "original_message_id": "wamid.O" } });
    let events = read(&message(revoke));
    assert!(matches!(&events[0].what, ChannelHappening::Deleted { message, .. } if message == "wamid.O"));
    for (emoji, sign) in [(json!("👍"), Some("👍".to_owned())), (json!(""), None), (Value::Null, None)] {
        let reaction = json!({ "type": "reaction", "reaction": { "message_id": "wamid.R", "emoji": emoji } });
        let events = read(&message(reaction));
        let ChannelHappening::Reacted { message, sign: told, .. } = &events[0].what else {
            panic!("{events:?}")
        };
        assert_eq!((message.as_str(), told), ("wamid.R", &sign));
    }
}

#[test]
fn what_concerns_another_number_or_is_our_own_is_left() {
    let said = json!({ "messages": [{ "from": "919812345678", "id": "wamid.A", "type": "text", "text": { "body": "hi" } }] });
    assert_eq!(read(&tell("another", said.clone())), []);
    assert_eq!(read(&tell(OURS, said.clone())).len(), 1);
    for field in ["smb_message_echoes", "history", "calls"] {
        assert_eq!(
            read(&change(field, tell(OURS, said.clone())["entry"][0]["changes"][0]["value"].clone())),
            []
        );
    }
    let group = read(&message(json!({ "type": "text", "text": { "body": "hi" }, "group_id": "G1" })));
    let ChannelHappening::Message(message) = &group[0].what else { panic!("{group:?}") };
    assert!(matches!(&message.chat, ArrivedChat::Group { id, .. } if id == "G1"));
    assert!(message.unanswerable.is_some(), "nobody asked us there");
    assert_eq!(read(&self::message(json!({ "type": "request_welcome" }))), []);
}

#[test]
fn one_that_nobody_can_read_loses_no_other() {
    let good = json!({ "from": "919812345678", "id": "wamid.B", "type": "text", "text": { "body": "hi" } });
    let body = tell(
        OURS,
        json!({ "messages": [{}, { "id": 5 }, "x", Value::Null, good], "statuses": [[], { "id": "a" }] }),
    );
    assert_eq!(read(&body).len(), 1);
}

#[test]
fn receipts_are_told_once_for_each_state() {
    let failed = json!({ "id": "wamid.O", "status": "failed", "timestamp": "1739321024", "recipient_id": "919812345678",
        "errors": [{ "code": 131026, "title": "Message undeliverable", "message": "Message undeliverable",
                     "error_data": { "details": "919812345678 is not on WhatsApp" } }] });
    let told =
        ["sent", "delivered", "read", "played"].map(|state| json!({ "id": "wamid.O", "status": state }));
    let mut statuses = told.to_vec();
    statuses.push(failed);
    let events = read(&tell(OURS, json!({ "statuses": statuses })));
    let ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids, ["wamid.O:delivered", "wamid.O:read", "wamid.O:played", "wamid.O:failed"]);
    let ChannelHappening::Receipt { receipt: ArrivedReceipt::Returned { why }, .. } = &events[3].what else {
        panic!("{events:?}")
    };
    assert!(why.contains("131026") && why.contains("can't be reached") && !why.contains("98123"), "{why}");
}

#[test]
fn what_whatsapp_decides_is_told() {
    let template = change(
        "message_template_status_update",
        json!({ "event": "REJECTED", "message_template_id": 1,
        "message_template_name": "bill_due", "message_template_language": "hi", "reason": "INVALID_FORMAT" }),
    );
    let events = read(&template);
    let [ChannelEvent { what: ChannelHappening::Template(told), .. }] = &events[..] else { panic!("none") };
    assert_eq!((told.name.as_str(), told.state.as_str()), ("bill_due", "REJECTED"));
    assert_eq!(told.why.as_deref(), Some("INVALID_FORMAT"));
    let alert = change(
        "account_alerts",
        json!({ "entity_type": "BUSINESS", "alert_info": { "alert_severity": "CRITICAL" } }),
    );
    let events = read(&alert);
    assert_eq!(events, read(&alert), "it is the same when it is told again");
    let ChannelHappening::Notice { what } = &events[0].what else { panic!("{events:?}") };
    assert!(what.contains("account alerts") && what.contains("CRITICAL"), "{what}");
    let other = ArrivalReader { phone_number_id: OURS, owner_id: Some("1"), number: None };
    assert_eq!(other.read(&alert), [], "it is another business's");
    let stop = json!({ "metadata": { "phone_number_id": OURS }, "contacts": [{ "wa_id": "919812345678", "user_id": BSUID }],
        "user_preferences": [{ "wa_id": "919812345678", "value": "stop", "category": "marketing_messages", "timestamp": 1739321024 }] });
    let events = read(&change("user_preferences", stop));
    let ChannelHappening::Subscription { from, wanted: false, reply_to } = &events[0].what else {
        panic!("{events:?}")
    };
    assert_eq!(from.channel_id, BSUID);
    assert_eq!(reply_to.as_deref(), Some("+919812345678"), "it is about where messages of ours reach them");
    let moved = json!({ "type": "system", "system": { "type": "user_changed_number", "body": "Meera changed from 919812345678",
        "wa_id": "919812345679" } });
    let events = read(&message(moved));
    let ChannelHappening::Notice { what } = &events[0].what else { panic!("none") };
    assert!(!what.contains("98123"), "{what}");
}

/// Anything in the places where something is expected.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(vec![
            "text",
            "image",
            "edit",
            OURS,
            BSUID,
            "wamid.A",
            "919812345678",
            "failed",
            "messages",
            "é"
        ])
        .prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "type",
        "text",
        "body",
        "image",
        "id",
        "from",
        "edit",
        "message",
        "original_message_id",
        "timestamp",
        "status",
        "errors",
        "code",
        "reaction",
        "message_id",
        "contacts",
        "name",
        "interactive",
        "list_reply",
        "order",
        "product_items",
        "location",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_that_is_told_breaks_the_reader(value in values(), field in prop::sample::select(vec!["messages", "user_preferences", "account_alerts", "message_template_status_update"])) {
        read(&json!({ "entry": [{ "changes": [{ "field": field, "value": value.clone() }] }] }));
        read(&tell(OURS, json!({ "messages": [value.clone()], "statuses": [value.clone()], "errors": [value.clone()] })));
        read(&json!({ "entry": value }));
    }

    #[test]
    fn nothing_unsigned_is_taken(body in prop::collection::vec(any::<u8>(), 0..200), signature in "\\PC{0,80}") {
        let headers = vec![("x-hub-signature-256".to_owned(), signature.into_bytes())];
        let asked = ChannelRequest { headers, body, ..request(ChannelRequestMethod::Post, "") };
        prop_assert!(verify_signature("app_secret", &asked).is_err());
    }
}
