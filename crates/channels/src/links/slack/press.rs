//! A press of a button of ours.
//!
//! Whoever pressed is who said it: a question that was asked of one person where others read along is answered by them alone. What was said
//! goes the way of any other message, with the message that the button stood in, so that a yes is an answer to that question.

use munshi_types::MessageId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{build_chat, build_sender, read_time};
use super::place::{SlackPlace, is_direct, name_message};
use crate::incoming::{ArrivedMessage, ChannelEvent, ChannelHappening};
use crate::links::json::describe_fault;

/// What our buttons' names begin with.
pub(super) const ACTION: &str = "munshi-";

/// What a button of ours carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ButtonValue {
    /// What pressing it says.
    pub say: String,
    /// The message that it stands in.
    pub of: MessageId,
    /// Who may press it; none for whoever sees it.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackInteraction {
    #[serde(rename = "type")]
    kind: String,
    user: SlackNamed,
    team: Option<SlackNamed>,
    channel: Option<SlackNamed>,
    container: SlackContainer,
    message: Value,
    actions: Vec<SlackAction>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackNamed {
    id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackContainer {
    channel_id: Option<String>,
    message_ts: Option<String>,
    thread_ts: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackAction {
    action_id: String,
    action_ts: String,
    value: Option<String>,
}

/// What came of a press.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SlackPress {
    Said(Box<ChannelEvent>),
    /// It was for somebody else to press.
    NotTheirs {
        pressed_in: SlackPlace,
        by: String,
        meant: String,
    },
    /// Another kind of interaction, or another's button.
    Nothing,
}

/// What an interaction is, as Slack sends it in a form's `payload`.
pub(super) fn read_press(payload: &str) -> Result<SlackPress, String> {
    let told: SlackInteraction = serde_json::from_str(payload)
        .map_err(|error| format!("an interaction can't be read: it is {}", describe_fault(&error)))?;
    Ok(find_press(&told).unwrap_or(SlackPress::Nothing))
}

fn find_press(told: &SlackInteraction) -> Option<SlackPress> {
    if told.kind != "block_actions" {
        return None;
    }
    let action = told.actions.iter().find(|action| action.action_id.starts_with(ACTION))?;
    let value: ButtonValue = serde_json::from_str(action.value.as_deref()?).ok()?;
    let channel = told.channel.as_ref().map(|channel| channel.id.as_str());
    let channel = channel.or(told.container.channel_id.as_deref())?;
    let ts = told.container.message_ts.as_deref().or(told.message["ts"].as_str())?;
    let thread = told.container.thread_ts.as_deref().or(told.message["thread_ts"].as_str());
    let user = Some(told.user.id.as_str()).filter(|user| !user.is_empty())?;
    let is_shared = !is_direct(channel);
    let place = SlackPlace {
        conversation: channel.to_owned(),
        thread: thread.map(str::to_owned).or_else(|| is_shared.then(|| ts.to_owned())),
        person: is_shared.then(|| user.to_owned()),
    };
    if let Some(meant) = value.person.filter(|meant| is_shared && meant != user) {
        return Some(SlackPress::NotTheirs { pressed_in: place, by: user.to_owned(), meant });
    }
    let team = told.team.as_ref().map(|team| team.id.as_str()).unwrap_or_default();
    let quoted = name_message(channel, ts);
    // The same button says it once, however often it is pressed: a second yes would answer something else.
    let id = format!("press:{quoted}:{user}:{}", action.action_id);
    let happened_at = read_time(&action.action_ts);
    let arrived = ArrivedMessage {
        outside_id: id.clone(),
        from: build_sender(team, user),
        chat: build_chat(team, channel, thread.unwrap_or(ts)),
        text: value.say,
        quoted: Some(quoted),
        answered: Some(value.of),
        sent_at: happened_at,
        reply_to: place.write(),
        ..ArrivedMessage::default()
    };
    let lane = if is_shared { name_message(channel, thread.unwrap_or(ts)) } else { channel.to_owned() };
    let what = ChannelHappening::Message(Box::new(arrived));
    Some(SlackPress::Said(Box::new(ChannelEvent { id, lane, happened_at, what })))
}

#[cfg(test)]
mod tests {
    use munshi_types::IdGenerator;
    use serde_json::json;

    use super::*;
    use crate::incoming::ArrivedChat;

    /// As Slack sends it when `U5` presses a button.
    fn press(channel: &str, thread: Option<&str>, value: &str) -> Value {
        json!({
            "type": "block_actions", "api_app_id": "A1", "trigger_id": "1.2.3",
            "user": { "id": "U5", "username": "meera", "team_id": "T1" }, "team": { "id": "T1", "domain": "sharma" },
            "container": { "type": "message", "message_ts": "1531420700.000100", "channel_id": channel,
                           "is_ephemeral": false },
            "channel": { "id": channel, "name": "directmessage" },
            "message": { "type": "message", "ts": "1531420700.000100", "thread_ts": thread, "text": "Shall I?" },
            "response_url": "https://hooks.slack.com/actions/T1/1/x",
            "actions": [{ "type": "button", "action_id": "munshi-0", "block_id": "b", "value": value,
                          "action_ts": "1531420710.500000", "text": { "type": "plain_text", "text": "Yes" } }],
        })
    }

    fn value(person: Option<&str>) -> (ButtonValue, String) {
        let of = IdGenerator::system().next();
        let value = ButtonValue { say: "Yes".to_owned(), of, person: person.map(str::to_owned) };
        let text = serde_json::to_string(&value).unwrap();
        (value, text)
    }

    #[test]
    fn a_press_is_a_message_of_whoever_pressed() {
        let (value, text) = value(None);
        let SlackPress::Said(event) = read_press(&press("D1", None, &text).to_string()).unwrap() else {
            panic!("nothing was said")
        };
        let ChannelHappening::Message(arrived) = &event.what else { panic!("{event:?}") };
        assert_eq!((arrived.text.as_str(), arrived.reply_to.as_str()), ("Yes", "D1"));
        assert_eq!(arrived.quoted.as_deref(), Some("D1:1531420700.000100"));
        assert_eq!((arrived.answered, arrived.from.channel_id.as_str()), (Some(value.of), "T1:U5"));
        assert_eq!(arrived.chat, ArrivedChat::Direct);
        assert_eq!(event.id, "press:D1:1531420700.000100:U5:munshi-0");
    }

    #[test]
    fn what_is_asked_of_one_is_answered_by_them() {
        let (_, own) = value(Some("U5"));
        let said = read_press(&press("C9", Some("1531420618.000200"), &own).to_string()).unwrap();
        let SlackPress::Said(event) = said else { panic!("{said:?}") };
        let ChannelHappening::Message(arrived) = &event.what else { panic!("{event:?}") };
        assert_eq!(arrived.reply_to, "C9/1531420618.000200/U5");
        assert!(matches!(&arrived.chat, ArrivedChat::Group { id, .. } if id == "T1:C9/1531420618.000200"));
        let (_, others) = value(Some("U7"));
        let said = read_press(&press("C9", Some("1531420618.000200"), &others).to_string()).unwrap();
        let SlackPress::NotTheirs { pressed_in, by, meant } = said else { panic!("{said:?}") };
        assert_eq!((pressed_in.conversation.as_str(), by.as_str(), meant.as_str()), ("C9", "U5", "U7"));
    }

    #[test]
    fn what_is_no_button_of_ours_says_nothing() {
        let (_, text) = value(None);
        let mut other = press("D1", None, &text);
        other["actions"][0]["action_id"] = json!("approve");
        assert_eq!(read_press(&other.to_string()), Ok(SlackPress::Nothing));
        for value in ["", "yes", "{}", "{\"say\":\"Yes\",\"of\":\"x\"}"] {
            assert_eq!(read_press(&press("D1", None, value).to_string()), Ok(SlackPress::Nothing), "{value}");
        }
        assert_eq!(read_press("{\"type\":\"view_submission\"}"), Ok(SlackPress::Nothing));
        assert!(read_press("x").is_err());
        let fault = read_press("{\"type\":\"block_actions\",\"actions\":\"my salary\"}").unwrap_err();
        assert!(!fault.contains("salary"), "{fault}");
    }
}
