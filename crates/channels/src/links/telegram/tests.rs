//! What Telegram tells, in shapes of its own documents, and what is sent to it.

use munshi_types::tier::Channel;
use munshi_types::{IdGenerator, MessageId, OutboundAttachment, OutboundMessage, ReplyAddress, Timestamp};
use proptest::prelude::{Strategy, any, prop, proptest};
use serde_json::{Value, json};

use super::arrivals::{ReadUpdate, is_unsure, join_albums, parse_message_name, read_update};
use super::message_text::BotName;
use super::outgoing::{ChatAddress, OutgoingPart, build_parameters, build_text, list_parts};
use super::poll::UpdateCursor;
use super::update::BotUpdate;
use crate::incoming::{ArrivedChat, ArrivedMessage, ChannelHappening};
use crate::text::TextStyle;

const BOT: BotName<'static> = BotName { id: 700, username: Some("sharma_bot") };

fn read(update: Value) -> ReadUpdate {
    let update: BotUpdate = serde_json::from_value(update).unwrap();
    read_update(&update, &BOT)
}

fn message(update: Value) -> Option<ArrivedMessage> {
    match read(update).event?.what {
        ChannelHappening::Message(message) => Some(*message),
        _ => None,
    }
}

fn meera() -> Value {
    json!({ "id": 5, "is_bot": false, "first_name": "Meera", "last_name": "Rao", "language_code": "hi" })
}

fn private(more: Value) -> Value {
    let mut said = json!({ "message_id": 9, "from": meera(), "date": 1_795_000_000, "chat": { "id": 5, "type": "private" } });
    merge(&mut said, more);
    json!({ "update_id": 10, "message": said })
}

fn group(more: Value) -> Value {
    let chat = json!({ "id": -1007, "type": "supergroup", "title": "Shop staff" });
    let mut said = json!({ "message_id": 9, "from": meera(), "date": 1_795_000_000, "chat": chat });
    merge(&mut said, more);
    json!({ "update_id": 10, "message": said })
}

fn merge(into: &mut Value, more: Value) {
    let Value::Object(more) = more else { panic!("no object") };
    into.as_object_mut().unwrap().extend(more);
}

#[test]
fn what_somebody_writes_is_taken_with_who_and_where() {
    let read = read(private(json!({ "text": "नमस्ते" })));
    let event = read.event.unwrap();
    assert_eq!((event.id.as_str(), event.lane.as_str()), ("700:10", "5"));
    assert_eq!(event.happened_at, Some(Timestamp::from_micros(1_795_000_000_000_000)));
    let ChannelHappening::Message(said) = event.what else { panic!("no message") };
    assert_eq!(
        (said.outside_id.as_str(), said.text.as_str(), said.reply_to.as_str()),
        ("700:5:9", "नमस्ते", "5")
    );
    assert_eq!((said.from.channel_id.as_str(), said.from.name.as_deref()), ("5", Some("Meera Rao")));
    assert_eq!((said.locale.as_deref(), said.chat), (Some("hi"), ArrivedChat::Direct));
}

#[test]
fn every_kind_of_message_is_words_or_a_file() {
    for (more, words) in [
        (json!({ "location": { "latitude": 12.5, "longitude": 77.5 } }), "[location] 12.5, 77.5"),
        (
            json!({ "venue": { "location": { "latitude": 1.0, "longitude": 2.0 }, "title": "Depot", "address": "MG Road" } }),
            "[place] Depot, MG Road (1, 2)",
        ),
        (json!({ "contact": { "phone_number": "+911", "first_name": "Asha" } }), "[contact] Asha +911"),
        (json!({ "sticker": { "file_id": "s", "emoji": "👍" } }), "[sticker] 👍"),
        (json!({ "poll": { "id": "1", "question": "When?" } }), "[poll] When?"),
        (json!({ "dice": { "emoji": "🎲", "value": 4 } }), "[dice] 🎲 4"),
        (json!({ "story": { "id": 1 } }), "[story]"),
        (json!({ "something_new": {} }), "[message]"),
        (
            json!({ "text": "x", "forward_origin": { "type": "user", "sender_user": meera() } }),
            "[forwarded from Meera Rao]\nx",
        ),
        (
            json!({ "text": "🙏 see this", "entities": [{ "type": "text_link", "offset": 7, "length": 4, "url": "https://a.example" }] }),
            "🙏 see this (https://a.example)",
        ),
        (json!({ "text": "/stop" }), "/stop"),
        (
            json!({ "text": "/start order-7", "entities": [{ "type": "bot_command", "offset": 0, "length": 6 }] }),
            "/start order-7",
        ),
        (
            json!({ "text": "x", "entities": [{ "type": "text_link", "offset": 90, "length": 4, "url": "u" }] }),
            "x",
        ),
    ] {
        assert_eq!(message(private(more.clone())).unwrap().text, words, "{more}");
    }
    let photo = json!({ "caption": "bill", "photo": [
        { "file_id": "small", "width": 90, "height": 90 }, { "file_id": "large", "width": 1280, "height": 960, "file_size": 9 },
    ] });
    let said = message(private(photo)).unwrap();
    assert_eq!(
        (said.text.as_str(), said.files.len(), said.files[0].reference.as_str()),
        ("bill", 1, "large")
    );
    let moving = json!({ "animation": { "file_id": "a" }, "document": { "file_id": "d" } });
    assert_eq!(message(private(moving)).unwrap().files.len(), 1);
    for (kind, media_type) in
        [("voice", "audio/ogg"), ("audio", "audio/mpeg"), ("video", "video/mp4"), ("video_note", "video/mp4")]
    {
        let said = message(private(json!({ kind: { "file_id": "f" } }))).unwrap();
        assert_eq!((said.files[0].media_type.as_str(), said.text.as_str()), (media_type, ""), "{kind}");
    }
}

#[test]
fn notes_of_the_chat_and_other_programs_say_nothing() {
    assert_eq!(message(private(json!({ "pinned_message": { "message_id": 1 } }))), None);
    assert_eq!(message(group(json!({ "new_chat_members": [{ "id": 700 }] }))), None);
    assert_eq!(message(private(json!({ "text": "x", "from": { "id": 8, "is_bot": true } }))), None);
    assert_eq!(
        message(private(json!({ "text": "x", "from": { "id": 700, "is_bot": true } }))),
        None,
        "our own"
    );
    assert_eq!(message(json!({ "update_id": 1, "channel_post": { "text": "x" } })), None);
}

#[test]
fn in_a_group_only_what_is_said_to_the_bot_is_heard() {
    assert_eq!(read(group(json!({ "text": "two crates of milk" }))).event, None);
    let other =
        json!({ "text": "@other_bot milk?", "entities": [{ "type": "mention", "offset": 0, "length": 10 }] });
    assert_eq!(read(group(other)).event, None);
    assert_eq!(
        read(group(json!({ "text": "@sharma_bot but no mention" }))).event,
        None,
        "as Telegram marks it"
    );
    let named = json!({ "text": "🙂 @Sharma_Bot how much milk?", "entities": [{ "type": "mention", "offset": 3, "length": 11 }] });
    let said = message(group(named)).unwrap();
    assert_eq!(said.text, "🙂  how much milk?");
    assert_eq!(said.chat, ArrivedChat::Group { id: "-1007".to_owned(), title: "Shop staff".to_owned() });
    assert_eq!((said.reply_to.as_str(), said.from.channel_id.as_str()), ("-1007", "5"));
    let by_id = json!({ "text": "Munshi milk?", "entities": [{ "type": "text_mention", "offset": 0, "length": 6, "user": { "id": 700 } }] });
    assert_eq!(message(group(by_id)).unwrap().text, "milk?");
    let command = json!({ "text": "/help@sharma_bot", "entities": [{ "type": "bot_command", "offset": 0, "length": 16 }] });
    assert_eq!(message(group(command)).unwrap().text, "/help");
    let reply =
        json!({ "text": "and eggs?", "reply_to_message": { "message_id": 3, "from": { "id": 700 } } });
    assert_eq!(message(group(reply)).unwrap().quoted.as_deref(), Some("700:-1007:3"));
    let topic = json!({ "text": "and eggs?", "is_topic_message": true, "message_thread_id": 3,
        "reply_to_message": { "message_id": 3, "from": { "id": 700 } } });
    assert_eq!(read(group(topic)).event, None, "every message of a topic refers to its beginning");
}

#[test]
fn without_its_name_nobody_guesses_whether_a_group_speaks_to_the_bot() {
    let unsure = |update: Value| is_unsure(&serde_json::from_value(update).unwrap());
    let named =
        json!({ "text": "@sharma_bot x", "entities": [{ "type": "mention", "offset": 0, "length": 11 }] });
    assert!(unsure(group(named.clone())));
    assert!(!unsure(private(named)) && !unsure(group(json!({ "text": "x" }))));
}

#[test]
fn a_press_is_the_words_on_the_button() {
    let ours: MessageId = IdGenerator::system().next();
    let (own, other) = (format!("s:0:{ours}"), format!("s:1:{ours}"));
    let press = |from: i64, data: &str| {
        let shown = json!({ "message_id": 4, "date": 1, "from": { "id": 700, "is_bot": true }, "chat": { "id": 5, "type": "private" },
            "reply_markup": { "inline_keyboard": [[{ "text": "Yes, send it", "callback_data": own }]] } });
        read(
            json!({ "update_id": 11, "callback_query": { "id": "77", "from": { "id": from, "first_name": "M" }, "message": shown, "data": data } }),
        )
    };
    let pressed = press(5, &own);
    assert_eq!(pressed.pressed.as_deref(), Some("77"));
    let ChannelHappening::Message(said) = pressed.event.unwrap().what else { panic!("no message") };
    assert_eq!((said.text.as_str(), said.quoted.as_deref()), ("Yes, send it", Some("700:5:4")));
    assert_eq!(said.answered, Some(ours), "a yes is an answer to that");
    assert_eq!((said.outside_id.as_str(), parse_message_name(&said.outside_id)), ("700:press:77", None));
    assert_eq!(press(6, &own).event, None, "another's chat");
    assert_eq!(press(5, &other).event, None, "no such button");
    let gone = json!({ "update_id": 11, "callback_query": { "id": "77", "from": meera(), "data": "s:0" } });
    assert_eq!(read(gone).event, None);
}

#[test]
fn whoever_blocks_the_bot_wants_nothing_more() {
    let change = |status: &str, chat: Value| {
        let update = json!({ "update_id": 12, "my_chat_member": { "chat": chat, "from": meera(), "date": 1,
            "old_chat_member": { "status": if status == "kicked" { "member" } else { "kicked" } },
            "new_chat_member": { "status": status } } });
        read(update).event.map(|event| event.what)
    };
    let own = json!({ "id": 5, "type": "private" });
    let wanted = |what: Option<ChannelHappening>| match what {
        Some(ChannelHappening::Subscription { wanted, .. }) => Some(wanted),
        _ => None,
    };
    assert_eq!(wanted(change("kicked", own.clone())), Some(false));
    assert_eq!(wanted(change("member", own)), Some(true));
    assert_eq!(change("kicked", json!({ "id": -7, "type": "group" })), None);
}

#[test]
fn edits_and_reactions_name_the_message() {
    let edited = json!({ "update_id": 13, "edited_message": { "message_id": 9, "from": meera(), "date": 1, "edit_date": 2,
        "chat": { "id": 5, "type": "private" }, "text": "two crates" } });
    let event = read(edited).event.unwrap();
    let ChannelHappening::Edited(said) = &event.what else { panic!("no edit") };
    assert_eq!(
        (said.outside_id.as_str(), event.happened_at),
        ("700:5:9", Some(Timestamp::from_micros(2_000_000)))
    );
    let reaction = json!({ "update_id": 14, "message_reaction": { "chat": { "id": 5, "type": "private" }, "message_id": 9,
        "user": meera(), "date": 3, "old_reaction": [], "new_reaction": [{ "type": "emoji", "emoji": "👍" }] } });
    let ChannelHappening::Reacted { message, sign, .. } = read(reaction).event.unwrap().what else {
        panic!("none")
    };
    assert_eq!((message.as_str(), sign.as_deref()), ("700:5:9", Some("👍")));
}

#[test]
fn pictures_that_were_sent_together_are_one_message() {
    let picture = |number: i64, album: &str, caption: Option<&str>| {
        let mut update = private(json!({ "message_id": number, "media_group_id": album, "caption": caption,
            "photo": [{ "file_id": format!("f{number}"), "width": 1, "height": 1 }] }));
        update["update_id"] = json!(number);
        read(update)
    };
    let read = vec![
        picture(1, "a", Some("bills")),
        picture(2, "a", None),
        picture(3, "a", None),
        picture(4, "b", None),
    ];
    let joined = join_albums(read);
    assert_eq!(joined.len(), 2);
    let ChannelHappening::Message(first) = &joined[0].what else { panic!("no message") };
    let files: Vec<&str> = first.files.iter().map(|file| file.reference.as_str()).collect();
    assert_eq!((first.text.as_str(), files), ("bills", vec!["f1", "f2", "f3"]));
}

#[test]
fn a_cursor_is_of_one_bot() {
    let cursor = UpdateCursor { bot: 700, next: 11, heard_at: Timestamp::from_micros(5) };
    assert_eq!(UpdateCursor::parse(&cursor.write()), Some(cursor));
    assert_eq!(UpdateCursor::parse("11"), None);
}

fn outbound(text: &str, to: &str) -> OutboundMessage {
    let to = ReplyAddress::new(Channel::Telegram, to.to_owned());
    OutboundMessage::new(IdGenerator::system().next(), to, text.to_owned())
}

#[test]
fn a_message_leaves_in_as_many_parts_as_telegram_takes() {
    let long = "एक वाक्य यहाँ है। ".repeat(700);
    let message = OutboundMessage {
        suggestions: vec!["Yes".to_owned(), "No".to_owned()],
        attachments: vec![OutboundAttachment::Qr { text: "upi://pay".to_owned(), title: String::new() }],
        ..outbound(&long, "5")
    };
    let parts = list_parts(&message);
    assert!(parts.len() > 3, "{}", parts.len());
    let mut buttoned = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let OutgoingPart::Text { markdown, buttons } = part else { continue };
        let asked = build_text(
            build_parameters(&message, ChatAddress { chat: 5, topic: None }, 0),
            (message.id, markdown, buttons),
            TextStyle::TelegramHtml,
        );
        let units = asked["text"].as_str().unwrap().encode_utf16().count();
        assert!((1..=4096).contains(&units), "{units}");
        buttoned.extend((!buttons.is_empty()).then_some(at));
    }
    assert_eq!(buttoned, [parts.len() - 2], "below the last words");
    assert!(matches!(parts.last(), Some(OutgoingPart::File(_))));
}

#[test]
fn suggestions_that_are_no_buttons_are_a_list() {
    let long = "A suggestion that is by far too long to stand on a button of a phone";
    let message =
        OutboundMessage { suggestions: vec![long.to_owned(), "No".to_owned()], ..outbound("Well?", "5") };
    let parts = list_parts(&message);
    let [OutgoingPart::Text { markdown, buttons }] = parts.as_slice() else { panic!("not one part") };
    assert_eq!((markdown.as_str(), buttons.len()), (format!("Well?\n\n1. {long}\n2. No").as_str(), 0));
}

#[test]
fn a_reply_in_a_group_says_what_it_answers() {
    let answer = |to: &str, answers: &str, part| {
        let message = OutboundMessage { answers: Some(answers.to_owned()), ..outbound("x", to) };
        build_parameters(&message, ChatAddress::parse(to).unwrap(), part)
    };
    assert_eq!(
        answer("-1007/3", "700:-1007:9", 0),
        json!({ "chat_id": -1007, "message_thread_id": 3,
                "reply_parameters": { "message_id": 9, "allow_sending_without_reply": true } })
    );
    for plain in [answer("5", "700:5:9", 0), answer("5", "700:press:1", 0)] {
        assert_eq!(plain, json!({ "chat_id": 5 }));
    }
    assert_eq!(answer("-1007", "700:-1007:9", 1), json!({ "chat_id": -1007 }), "once");
    assert_eq!(ChatAddress::parse("+919812345678/x"), None);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(5),
        json!(1.5),
        json!("@sharma_bot x"),
        json!("private"),
        json!("mention"),
    ]);
    let keys = prop::sample::select(vec![
        "message",
        "edited_message",
        "callback_query",
        "from",
        "chat",
        "id",
        "type",
        "text",
        "entities",
        "offset",
        "length",
        "date",
        "photo",
        "file_id",
        "reply_to_message",
        "reply_markup",
        "inline_keyboard",
        "update_id",
        "message_reaction",
    ]);
    leaf.prop_recursive(5, 60, 8, move |inner| {
        proptest::prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..8).prop_map(|pairs| pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_that_is_told_breaks_the_reader(value in any_json()) {
        if let Ok(update) = serde_json::from_value::<BotUpdate>(value) {
            let _read = read_update(&update, &BOT);
        }
    }

    #[test]
    fn entities_may_lie(text in ".{0,40}", offset in any::<usize>(), length in any::<usize>(), small in 0_usize..50) {
        for (offset, length) in [(offset, length), (small, length), (small, small / 2), (offset, small)] {
            let said = private(json!({ "text": text, "entities": [{ "type": "text_link", "offset": offset, "length": length, "url": "u" }] }));
            let _read = message(said);
        }
    }
}
