use munshi_types::IdGenerator;
use serde_json::json;

use super::*;

/// As the Bot Framework sends it to a bot that is `28:bot`.
#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn activity(more: Value) -> TeamsActivity {
    let mut told = json!({
        "type": "message", "id": "1485983408511", "timestamp": "2026-11-19T10:00:00.123Z",
        "serviceUrl": "https://smba.trafficmanager.net/in/", "channelId": "msteams",
        "from": { "id": "29:meera", "name": "Meera Rao", "aadObjectId": "a-b" },
        "recipient": { "id": "28:bot", "name": "Munshi" },
        "conversation": { "conversationType": "personal", "tenantId": "T", "id": "a:1x" },
        "text": "what is due?", "textFormat": "plain", "locale": "en-IN",
        "entities": [{ "locale": "en-IN", "country": "IN", "type": "clientInfo" }],
        "channelData": { "tenant": { "id": "T" } },
    });
    told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(told).unwrap()
}

fn message(event: &ChannelEvent) -> &ArrivedMessage {
    match &event.what {
        ChannelHappening::Message(message) => message,
        other => panic!("no message: {other:?}"),
    }
}

fn channel() -> Value {
    json!({ "conversationType": "channel", "tenantId": "T", "id": "19:a@thread.tacv2;messageid=1" })
}

#[test]
fn a_personal_message_is_somebodys() {
    let event = activity(json!({})).read(None).unwrap();
    let arrived = message(&event);
    assert_eq!((arrived.text.as_str(), &arrived.chat), ("what is due?", &ArrivedChat::Direct));
    assert_eq!((arrived.outside_id.as_str(), event.lane.as_str()), ("a:1x|1485983408511", "a:1x"));
    assert_eq!(
        (arrived.from.channel_id.as_str(), arrived.from.name.as_deref()),
        ("29:meera", Some("Meera Rao"))
    );
    assert_eq!(arrived.locale.as_deref(), Some("en-IN"));
    let place = TeamsPlace::read(&arrived.reply_to).unwrap();
    assert_eq!((place.conversation.as_str(), place.person), ("a:1x", None));
    assert_eq!(event.happened_at, Some("2026-11-19T10:00:00.123Z".parse().unwrap()));
    assert!(activity(json!({})).read(Some("T")).is_some());
    assert!(activity(json!({})).read(Some("other")).is_none(), "another directory's people");
}

#[test]
fn a_bare_mention_says_something() {
    let mention = json!([{ "type": "mention", "mentioned": { "id": "28:bot", "name": "Munshi" }, "text": "<at>Munshi</at>" }]);
    let more = json!({ "conversation": channel(), "text": "<at>Munshi</at>&nbsp;\n", "entities": mention });
    assert_eq!(message(&activity(more).read(None).unwrap()).text, "@Munshi");
    assert_eq!(message(&activity(json!({ "text": "" })).read(None).unwrap()).text, "[message]");
}

#[test]
fn elsewhere_only_what_mentions_us_is_taken() {
    let said = |entities: Value| {
        let text = "<at>Munshi</at> what is due?";
        activity(json!({ "conversation": channel(), "text": text, "entities": entities })).read(None)
    };
    let mention = |id: &str| json!([{ "type": "mention", "mentioned": { "id": id, "name": "Munshi" }, "text": "<at>Munshi</at>" }]);
    let event = said(mention("28:bot")).unwrap();
    let arrived = message(&event);
    assert_eq!(arrived.text, "what is due?");
    let id = "19:a@thread.tacv2;messageid=1".to_owned();
    assert_eq!(arrived.chat, ArrivedChat::Group { id, title: String::new() });
    assert_eq!(TeamsPlace::read(&arrived.reply_to).unwrap().person.as_deref(), Some("29:meera"));
    assert_eq!(said(mention("29:ravi")), None);
    assert_eq!(said(json!([])), None);
}

#[test]
fn a_press_says_what_the_button_says_for_whom_it_is() {
    let of: MessageId = IdGenerator::system().next();
    let press = |person: Option<&str>, conversation: Value| {
        let value = CardValue { say: "Yes".to_owned(), of, person: person.map(str::to_owned) };
        let more = json!({ "conversation": conversation, "text": "Yes", "replyToId": "77", "value": { "munshi": value } });
        activity(more).read(None)
    };
    let event = press(Some("29:meera"), channel()).unwrap();
    let arrived = message(&event);
    assert_eq!((arrived.text.as_str(), arrived.answered), ("Yes", Some(of)));
    assert_eq!(arrived.quoted.as_deref(), Some("19:a@thread.tacv2;messageid=1|77"));
    assert_eq!(arrived.outside_id, format!("press:{of}:29:meera:Yes"));
    assert_eq!(press(Some("29:ravi"), channel()), None, "it was asked of another");
    let own = json!({ "conversationType": "personal", "id": "a:1x" });
    assert!(press(None, own).is_some());
    let written = json!({ "munshi": { "say": "Yes", "of": of } }).to_string();
    let event = activity(json!({ "value": written })).read(None).unwrap();
    assert_eq!(message(&event).answered, Some(of), "as the text of it");
    let others = activity(json!({ "value": { "munshi": { "say": 1 } } }));
    assert_eq!(others.read(None), None);
}

#[test]
fn what_programs_say_is_left_alone() {
    for more in [
        json!({ "from": { "id": "28:bot" } }),
        json!({ "from": { "id": "28:other" } }),
        json!({ "from": { "id": "29:x", "role": "bot" } }),
        json!({ "from": {} }),
        json!({ "id": null }),
        json!({ "type": "typing" }),
        json!({ "type": "conversationUpdate", "membersAdded": [{ "id": "29:meera" }] }),
        json!({ "type": "installationUpdate", "action": "add" }),
        json!({ "type": "installationUpdate", "action": "remove", "conversation": channel() }),
    ] {
        assert_eq!(activity(more.clone()).read(None), None, "{more}");
    }
}

#[test]
fn changes_deletions_and_removal_are_followed() {
    let edited = activity(json!({ "type": "messageUpdate", "text": "what was due?" })).read(None).unwrap();
    let ChannelHappening::Edited(arrived) = &edited.what else { panic!("{edited:?}") };
    assert_eq!((arrived.outside_id.as_str(), arrived.text.as_str()), ("a:1x|1485983408511", "what was due?"));
    let deleted = activity(json!({ "type": "messageDelete", "text": null })).read(None).unwrap();
    let ChannelHappening::Deleted { message: of, .. } = &deleted.what else { panic!("{deleted:?}") };
    assert_eq!(of, "a:1x|1485983408511");
    let removed = activity(json!({ "type": "installationUpdate", "action": "remove", "text": null }));
    let removed = removed.read(None).unwrap();
    let own = activity(json!({})).read(None).unwrap();
    assert_eq!(message(&removed).text, "STOP");
    assert_eq!(message(&removed).reply_to, message(&own).reply_to, "it ends what goes to this very address");
    let reacted =
        json!({ "type": "messageReaction", "replyToId": "77", "reactionsAdded": [{ "type": "like" }] });
    let reacted = activity(reacted).read(None).unwrap();
    assert!(matches!(&reacted.what, ChannelHappening::Reacted { sign: Some(sign), .. } if sign == "like"));
}

#[test]
fn files_come_along() {
    let told = activity(json!({ "text": null, "attachments": [
        { "contentType": FILE, "name": "bill.pdf", "contentUrl": "https://sharma.sharepoint.com/bill.pdf",
          "content": { "downloadUrl": "https://sharma.sharepoint.com/d?tempauth=x", "uniqueId": "1", "fileType": "pdf" } },
        { "contentType": "image/*", "contentUrl": "https://smba.trafficmanager.net/in/v3/attachments/1/views/original" },
        { "contentType": "text/html", "content": "<p>x</p>" },
        { "contentType": "application/vnd.microsoft.card.adaptive", "content": {} },
        { "contentType": "application/x-unknown" },
    ] }));
    let event = told.read(None).unwrap();
    let arrived = message(&event);
    assert_eq!(arrived.text, "[card]\n[attachment]");
    let references: Vec<&str> = arrived.files.iter().map(|file| file.reference.as_str()).collect();
    assert_eq!(
        references,
        [
            "https://sharma.sharepoint.com/d?tempauth=x",
            "bot:https://smba.trafficmanager.net/in/v3/attachments/1/views/original",
        ]
    );
    assert_eq!(arrived.files[0].name.as_deref(), Some("bill.pdf"));
}
