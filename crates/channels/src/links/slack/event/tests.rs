use serde_json::json;

use super::*;

/// An event as Slack sends it, to an app whose user is `U0BOT`.
#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn read(event: Value) -> Vec<ChannelEvent> {
    let envelope = json!({
        "token": "x", "team_id": "T1", "api_app_id": "A1", "type": "event_callback", "event_id": "Ev1",
        "event_time": 1_531_420_618, "event": event, "is_ext_shared_channel": false,
        "authorizations": [{ "enterprise_id": null, "team_id": "T1", "user_id": "U0BOT", "is_bot": true }],
    });
    read_event(&serde_json::from_value(envelope).unwrap(), None).unwrap()
}

#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn direct(more: Value) -> Value {
    let mut event = json!({
        "type": "message", "channel": "D1", "user": "U5", "text": "5 &lt; 6", "ts": "1531420618.000200",
        "channel_type": "im", "event_ts": "1531420618.000200",
    });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

fn message(events: &[ChannelEvent]) -> &ArrivedMessage {
    match events {
        [ChannelEvent { what: ChannelHappening::Message(message), .. }] => message,
        other => panic!("no message: {other:?}"),
    }
}

#[test]
fn a_direct_message_is_somebodys() {
    let events = read(direct(json!({})));
    let arrived = message(&events);
    assert_eq!((arrived.text.as_str(), arrived.reply_to.as_str()), ("5 < 6", "D1"));
    assert_eq!((arrived.outside_id.as_str(), &arrived.chat), ("D1:1531420618.000200", &ArrivedChat::Direct));
    assert_eq!(arrived.from.channel_id, "T1:U5");
    assert_eq!((events[0].id.as_str(), events[0].lane.as_str()), ("message:D1:1531420618.000200", "D1"));
    assert_eq!(events[0].happened_at, Some(Timestamp::from_micros(1_531_420_618_000_200)));
    let threaded = read(direct(json!({ "thread_ts": "1531420000.000100" })));
    assert_eq!(message(&threaded).reply_to, "D1/1531420000.000100");
}

#[test]
fn in_a_channel_only_what_is_for_us_is_taken() {
    let said = |text: &str, thread: Option<&str>| {
        read(direct(json!({ "channel": "C9", "channel_type": "channel", "text": text, "thread_ts": thread })))
    };
    assert_eq!(said("lunch?", None), Vec::new());
    let mentioned = said("<@U0BOT> what is due?", None);
    let arrived = message(&mentioned);
    assert_eq!(arrived.reply_to, "C9/1531420618.000200/U5");
    let id = "T1:C9/1531420618.000200".to_owned();
    assert_eq!(arrived.chat, ArrivedChat::Group { id: id.clone(), title: String::new() });
    assert!(arrived.text == "what is due?" && !arrived.follows_chat);
    let followed = said("and tomorrow?", Some("1531420600.000100"));
    assert!(message(&followed).follows_chat);
    assert_eq!(said("<@U7> and you?", Some("1531420618.000200")), Vec::new(), "it is for another");
    let again =
        read(json!({ "type": "app_mention", "channel": "C9", "user": "U5", "ts": "1531420618.000200",
                              "text": "<@U0BOT> what is due?", "event_ts": "1531420618.000200" }));
    assert_eq!(message(&again).outside_id, arrived.outside_id, "told twice, it is taken once");
    assert_ne!(again[0].id, mentioned[0].id, "which of the two says more is not known");
}

#[test]
fn a_bare_mention_says_something() {
    let said = |more: Value| {
        let events = read(direct(more));
        message(&events).text.clone()
    };
    assert_eq!(said(json!({ "channel": "C9", "channel_type": "channel", "text": "<@U0BOT> " })), "Hello");
    assert_eq!(said(json!({ "channel": "C9", "type": "app_mention", "text": "<@U0BOT|munshi>" })), "@munshi");
    assert_eq!(said(json!({ "text": "" })), "[message]", "such as one that is only passed on");
}

#[test]
fn nobodys_words_stand_in_a_fault() {
    let envelope = json!({ "type": "event_callback", "team_id": "T1",
        "event": { "type": "message", "channel": "D1", "files": "my salary" } });
    let fault = read_event(&serde_json::from_value(envelope).unwrap(), None).unwrap_err();
    assert!(!fault.contains("salary"), "{fault}");
}

#[test]
fn what_programs_say_is_left_alone() {
    for more in [
        json!({ "bot_id": "B1" }),
        json!({ "user": "U0BOT" }),
        json!({ "user": "USLACKBOT" }),
        json!({ "user": null }),
        json!({ "subtype": "bot_message" }),
        json!({ "subtype": "channel_join" }),
        json!({ "channel": null }),
        json!({ "ts": null }),
    ] {
        assert_eq!(read(direct(more.clone())), Vec::new(), "{more}");
    }
    let reaction = |user: &str| {
        read(
            json!({ "type": "reaction_added", "user": user, "reaction": "thumbsup", "event_ts": "1531420619.000100",
                     "item": { "type": "message", "channel": "D1", "ts": "1531420618.000200" }, "item_user": "U0BOT" }),
        )
    };
    assert_eq!(reaction("U0BOT"), Vec::new());
    assert_eq!(reaction("U5")[0].what.kind(), "reacted");
    assert_eq!(read(json!({ "type": "team_join" })), Vec::new());
    assert_eq!(read(json!(null)), Vec::new());
}

#[test]
fn changes_and_deletions_are_told_of_the_message_itself() {
    let changed = |now: &str, edited: Value| {
        read(direct(json!({
            "subtype": "message_changed", "hidden": true, "user": null, "text": null, "ts": "1531420700.000100",
            "message": { "type": "message", "user": "U5", "text": now, "ts": "1531420618.000200", "edited": edited },
            "previous_message": { "type": "message", "user": "U5", "text": "before", "ts": "1531420618.000200" },
        })))
    };
    let events = changed("after", json!({ "user": "U5", "ts": "1531420700.000000" }));
    let ChannelHappening::Edited(arrived) = &events[0].what else { panic!("{events:?}") };
    assert_eq!((arrived.outside_id.as_str(), arrived.text.as_str()), ("D1:1531420618.000200", "after"));
    assert_eq!(changed("after", Value::Null), Vec::new(), "only a preview was added");
    assert_eq!(changed("before", json!({ "ts": "1531420700.000000" })), Vec::new());
    let deleted = read(direct(json!({
        "subtype": "message_deleted", "user": null, "text": null, "ts": "1531420700.000100",
        "deleted_ts": "1531420618.000200",
        "previous_message": { "type": "message", "user": "U5", "text": "before", "ts": "1531420618.000200" },
    })));
    let ChannelHappening::Deleted { message, .. } = &deleted[0].what else { panic!("{deleted:?}") };
    assert_eq!(message, "D1:1531420618.000200");
}

#[test]
fn files_come_along() {
    let events = read(direct(json!({ "subtype": "file_share", "text": "", "files": [
        { "id": "F1", "name": "bill.pdf", "mimetype": "application/pdf", "size": 12, "mode": "hosted",
          "url_private": "https://files.slack.com/a", "url_private_download": "https://files.slack.com/b" },
        { "id": "F2", "name": "shared.png", "file_access": "check_file_info", "mode": "file_access" },
        { "id": "F3", "mode": "tombstone" },
        { "id": "F4", "title": "Plan", "mode": "external", "external_url": "https://docs.example/1" },
    ] })));
    let arrived = message(&events);
    let references: Vec<&str> = arrived.files.iter().map(|file| file.reference.as_str()).collect();
    assert_eq!(references, ["https://files.slack.com/b", "file:F2"]);
    assert_eq!(arrived.text, "[file that is gone]\n[Plan] https://docs.example/1");
}

#[test]
fn what_is_of_the_app_is_told_to_whoever_looks_after_it() {
    for kind in ["app_uninstalled", "tokens_revoked"] {
        let events = read(json!({ "type": kind, "tokens": { "bot": ["U0BOT"] } }));
        assert_eq!((events[0].what.kind(), events[0].id.as_str()), ("notice", "Ev1"));
    }
    let limited =
        json!({ "type": "app_rate_limited", "minute_rate_limited": 1_518_467_820, "team_id": "T1" });
    let events = read_event(&serde_json::from_value(limited).unwrap(), None).unwrap();
    assert_eq!((events[0].what.kind(), events[0].id.as_str()), ("notice", "rate:1518467820"));
}

#[test]
fn times_are_read_as_they_are_written() {
    assert_eq!(read_time("1531420618"), Some(Timestamp::from_micros(1_531_420_618_000_000)));
    assert_eq!(read_time("1531420618.2"), Some(Timestamp::from_micros(1_531_420_618_200_000)));
    for text in ["", ".", "x.1", "-5.0", "1.x", "99999999999999999999.0", "1.é"] {
        assert_eq!(read_time(text), None, "{text}");
    }
}
