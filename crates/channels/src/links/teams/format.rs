//! A message as activities: words, then buttons on a card, then pictures.

use munshi_types::{OutboundAttachment, OutboundMessage};
use serde_json::{Value, json};

use super::activity::{BUTTON, CardValue};
use super::place::{TeamsPlace, split_message};
use crate::text::{TextStyle, render, split};

/// Letters of one message. Teams takes some 28 KB of UTF-16; marks and escapes make it longer.
const LONGEST: usize = 5000;
/// More buttons are a list in the words: Teams hides what is more.
const MOST_BUTTONS: usize = 6;
const LONGEST_BUTTON: usize = 80;

/// One of the messages that something is sent in.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TeamsPart {
    Words(Value),
    /// The attachment at this place.
    File(usize),
}

/// The same each time for the same message.
pub(super) fn build_parts(outbound: &OutboundMessage) -> Vec<TeamsPart> {
    let pieces: Vec<String> = split(&build_words(outbound), LONGEST);
    let pieces: Vec<String> = pieces.into_iter().filter(|piece| !piece.trim().is_empty()).collect();
    let last = pieces.len().saturating_sub(1);
    let mut parts: Vec<TeamsPart> = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        let mut activity = build_activity(outbound);
        activity["text"] = json!(render(piece, TextStyle::Teams));
        activity["textFormat"] = json!("markdown");
        if number == last && has_buttons(outbound) {
            activity["attachments"] = json!([build_card(outbound)]);
        }
        parts.push(TeamsPart::Words(activity));
    }
    let files = outbound.attachments.iter().enumerate();
    let files = files.filter(|(_, attachment)| !matches!(attachment, OutboundAttachment::Link { .. }));
    parts.extend(files.map(|(at, _)| TeamsPart::File(at)));
    parts
}

/// What every message of ours has.
pub(super) fn build_activity(outbound: &OutboundMessage) -> Value {
    let mut activity = json!({ "type": "message" });
    if let Some(id) = outbound.answers.as_deref().and_then(split_message) {
        activity["replyToId"] = json!(id);
    }
    if let Some(language) = &outbound.language {
        activity["locale"] = json!(language.as_str());
    }
    activity
}

/// The words with what Teams has no form for, still as Markdown.
fn build_words(outbound: &OutboundMessage) -> String {
    let links = outbound.attachments.iter().filter_map(|attachment| match attachment {
        OutboundAttachment::Link { url, title } if title.trim().is_empty() => Some(url.clone()),
        OutboundAttachment::Link { url, title } => Some(format!("{}\n{url}", clean_line(title))),
        _ => None,
    });
    let listed: Vec<String> = match has_buttons(outbound) {
        true => Vec::new(),
        false => {
            let numbered = outbound.suggestions.iter().enumerate();
            numbered.map(|(at, words)| format!("{}. {}", at + 1, clean_line(words))).collect()
        }
    };
    let text = outbound.text.trim().to_owned();
    let parts = [text].into_iter().chain(links).chain([listed.join("\n")]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn clean_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether what is suggested fits on buttons, all of it.
fn has_buttons(outbound: &OutboundMessage) -> bool {
    let suggestions = &outbound.suggestions;
    let fits = |words: &String| words.chars().count() <= LONGEST_BUTTON && !words.trim().is_empty();
    !suggestions.is_empty() && suggestions.len() <= MOST_BUTTONS && suggestions.iter().all(fits)
}

/// Buttons that say their words as the person's own, with the message that they stand in.
fn build_card(outbound: &OutboundMessage) -> Value {
    let person = TeamsPlace::read(&outbound.to.address).and_then(|place| place.person);
    let actions: Vec<Value> = outbound
        .suggestions
        .iter()
        .map(|words| {
            let value = CardValue { say: words.clone(), of: outbound.id, person: person.clone() };
            let back = json!({ BUTTON: value });
            let shown = json!({ "type": "messageBack", "displayText": words, "text": words, "value": back });
            json!({ "type": "Action.Submit", "title": words, "data": { "msteams": shown, BUTTON: value } })
        })
        .collect();
    json!({
        "contentType": "application/vnd.microsoft.card.adaptive",
        "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard", "version": "1.4",
            "body": [{ "type": "ActionSet", "actions": actions }],
        },
    })
}

#[cfg(test)]
mod tests {
    use munshi_types::tier::Channel;
    use munshi_types::{IdGenerator, ReplyAddress};

    use super::*;

    fn outbound(person: Option<&str>, text: &str) -> OutboundMessage {
        let place = TeamsPlace {
            service: "https://smba.trafficmanager.net/in/".to_owned(),
            conversation: "19:a@thread.tacv2;messageid=1".to_owned(),
            person: person.map(str::to_owned),
        };
        let to = ReplyAddress::new(Channel::Teams, place.write());
        OutboundMessage::new(IdGenerator::system().next(), to, text.to_owned())
    }

    fn words(part: &TeamsPart) -> &Value {
        match part {
            TeamsPart::Words(activity) => activity,
            TeamsPart::File(_) => panic!("a file"),
        }
    }

    #[test]
    fn a_reply_has_its_buttons_on_a_card() {
        let reply = OutboundMessage {
            suggestions: vec!["Yes".to_owned(), "No".to_owned()],
            answers: Some("19:a@thread.tacv2;messageid=1|77".to_owned()),
            ..outbound(Some("29:meera"), "Shall I send it?")
        };
        let parts = build_parts(&reply);
        let [part] = parts.as_slice() else { panic!("{parts:?}") };
        let activity = words(part);
        assert_eq!((&activity["replyToId"], &activity["textFormat"]), (&json!("77"), &json!("markdown")));
        let action = &activity["attachments"][0]["content"]["body"][0]["actions"][1];
        let value: CardValue = serde_json::from_value(action["data"]["munshi"].clone()).unwrap();
        let person = Some("29:meera".to_owned());
        assert_eq!(value, CardValue { say: "No".to_owned(), of: reply.id, person });
        assert_eq!(action["data"]["msteams"]["text"], "No");
        assert_eq!(build_parts(&reply), parts, "the same each time");
    }

    #[test]
    fn an_answer_to_a_press_names_no_message() {
        let reply =
            OutboundMessage { answers: Some("press:x:29:meera:Yes".to_owned()), ..outbound(None, "Sent.") };
        assert_eq!(words(&build_parts(&reply)[0]).get("replyToId"), None);
    }

    #[test]
    fn a_long_reply_is_several() {
        let text = "मीरा का बकाया पाँच सौ रुपये है। ".repeat(600);
        let reply = OutboundMessage { suggestions: vec!["Yes".to_owned()], ..outbound(None, &text) };
        let parts = build_parts(&reply);
        assert!(parts.len() > 1);
        for (number, part) in parts.iter().enumerate() {
            let has_card = words(part).get("attachments").is_some();
            assert_eq!(has_card, number + 1 == parts.len(), "buttons stand behind the last words");
        }
    }

    #[test]
    fn what_does_not_fit_on_buttons_is_a_list() {
        let suggestions = (0..7).map(|at| format!("choice {at}")).collect();
        let parts = build_parts(&OutboundMessage { suggestions, ..outbound(None, "Which?") });
        let activity = words(&parts[0]);
        assert!(activity.get("attachments").is_none());
        assert!(activity["text"].as_str().unwrap().contains("choice 6"));
    }
}
