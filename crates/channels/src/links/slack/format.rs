//! A message as Slack shows it: blocks of words, then buttons, then files.

use munshi_types::{OutboundAttachment, OutboundMessage};
use serde_json::{Value, json};

use super::place::SlackPlace;
use super::press::{ACTION, ButtonValue};
use crate::text::{TextStyle, render, split};

/// Letters of a block, as Slack counts them.
const LONGEST_BLOCK: usize = 3000;
/// Letters of the source for one: marks and escapes make it longer. Where that is still too long, half of it.
const PIECE: usize = 2400;
const SHORTEST_PIECE: usize = 300;
/// Blocks of one message; Slack refuses long ones before it has too many.
const MOST_BLOCKS: usize = 4;
/// What stands in notifications.
const LONGEST_NOTE: usize = 500;
/// More buttons are a list in the words.
const MOST_BUTTONS: usize = 8;
const LONGEST_BUTTON: usize = 75;
/// What Slack takes as a button's value.
const LONGEST_VALUE: usize = 2000;

/// One of the messages that something is sent in.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SlackPart {
    Words {
        blocks: Vec<Value>,
        /// For notifications, and for programs that show no blocks.
        note: String,
    },
    /// The attachment at this place.
    File(usize),
}

/// The same each time for the same message.
pub(super) fn build_parts(outbound: &OutboundMessage) -> Vec<SlackPart> {
    let words = build_words(outbound);
    let pieces = cut(&words, PIECE);
    let groups: Vec<&[String]> = pieces.chunks(MOST_BLOCKS).collect();
    let mut parts: Vec<SlackPart> = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let is_last = number + 1 == groups.len();
        let mut blocks: Vec<Value> = group.iter().enumerate().map(|(at, text)| {
            json!({ "type": "section", "block_id": name_block(outbound, number, at), "text": { "type": "mrkdwn", "text": text } })
        }).collect();
        if is_last && has_buttons(outbound) {
            blocks.push(json!({ "type": "actions", "elements": build_buttons(outbound) }));
        }
        let note = group.join("\n").chars().take(LONGEST_NOTE).collect();
        parts.push(SlackPart::Words { blocks, note });
    }
    let files = outbound.attachments.iter().enumerate();
    let files = files.filter(|(_, attachment)| !matches!(attachment, OutboundAttachment::Link { .. }));
    parts.extend(files.map(|(at, _)| SlackPart::File(at)));
    parts
}

/// By which a message is found again of which nobody knows whether it was sent.
pub(super) fn name_part(outbound: &OutboundMessage, part: usize) -> String {
    format!("{ACTION}{}-{part}", outbound.id)
}

/// The first of a message has its name alone.
fn name_block(outbound: &OutboundMessage, part: usize, at: usize) -> String {
    match at {
        0 => name_part(outbound, part),
        at => format!("{}-{at}", name_part(outbound, part)),
    }
}

/// The words with what Slack has no form for, still as Markdown.
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

/// Pieces that each fit into a block once they are rendered.
fn cut(words: &str, most: usize) -> Vec<String> {
    let pieces = split(words, most).into_iter().filter(|piece| !piece.trim().is_empty());
    pieces
        .flat_map(|piece| {
            let rendered = render(&piece, TextStyle::Slack);
            match rendered.chars().count() > LONGEST_BLOCK && most > SHORTEST_PIECE {
                true => cut(&piece, most / 2),
                false => vec![rendered.chars().take(LONGEST_BLOCK).collect()],
            }
        })
        .collect()
}

/// Whether what is suggested fits on buttons, all of it.
fn has_buttons(outbound: &OutboundMessage) -> bool {
    let suggestions = &outbound.suggestions;
    let fits = |words: &String| {
        let length = words.chars().count();
        length <= LONGEST_BUTTON && !words.trim().is_empty()
    };
    !suggestions.is_empty() && suggestions.len() <= MOST_BUTTONS && suggestions.iter().all(fits)
}

/// In a conversation that others read, they are for whom they answer.
fn build_buttons(outbound: &OutboundMessage) -> Vec<Value> {
    let person = SlackPlace::read(&outbound.to.address).and_then(|place| place.person);
    let buttons = outbound.suggestions.iter().enumerate().filter_map(|(at, words)| {
        let value = ButtonValue { say: words.clone(), of: outbound.id, person: person.clone() };
        let value = serde_json::to_string(&value).ok().filter(|value| value.len() <= LONGEST_VALUE)?;
        Some(json!({
            "type": "button", "action_id": format!("{ACTION}{at}"), "value": value,
            "text": { "type": "plain_text", "text": words, "emoji": false },
        }))
    });
    buttons.collect()
}

#[cfg(test)]
mod tests {
    use munshi_types::tier::Channel;
    use munshi_types::{IdGenerator, ReplyAddress};

    use super::*;

    fn outbound(to: &str, text: &str) -> OutboundMessage {
        let to = ReplyAddress::new(Channel::Slack, to);
        OutboundMessage::new(IdGenerator::system().next(), to, text.to_owned())
    }

    fn blocks(part: &SlackPart) -> &[Value] {
        match part {
            SlackPart::Words { blocks, .. } => blocks,
            SlackPart::File(_) => panic!("a file"),
        }
    }

    #[test]
    fn a_reply_is_a_block_with_its_buttons() {
        let reply = OutboundMessage {
            suggestions: vec!["Yes".to_owned(), "No".to_owned()],
            ..outbound("C9/169.01/U5", "Shall I send it?")
        };
        let parts = build_parts(&reply);
        assert_eq!(parts.len(), 1);
        let [words, actions] = blocks(&parts[0]) else { panic!("{parts:?}") };
        assert_eq!(words["block_id"], format!("munshi-{}-0", reply.id));
        assert_eq!(words["text"]["text"], "Shall I send it?");
        let value: ButtonValue =
            serde_json::from_str(actions["elements"][1]["value"].as_str().unwrap()).unwrap();
        assert_eq!(value, ButtonValue { say: "No".to_owned(), of: reply.id, person: Some("U5".to_owned()) });
        assert_eq!(actions["elements"][1]["text"]["text"], "No");
        assert_eq!(build_parts(&reply), parts, "the same each time");
    }

    #[test]
    fn what_does_not_fit_on_buttons_is_a_list() {
        let many = (0..9).map(|at| format!("choice {at}")).collect();
        for suggestions in [many, vec!["x".repeat(76)], vec![String::new(), "a".to_owned()]] {
            let reply = OutboundMessage { suggestions, ..outbound("D1", "Which?") };
            let parts = build_parts(&reply);
            assert!(blocks(&parts[0]).iter().all(|block| block["type"] == "section"), "{parts:?}");
            assert!(blocks(&parts[0])[0]["text"]["text"].as_str().unwrap().contains("1."), "{parts:?}");
        }
    }

    #[test]
    fn a_long_reply_fits_whatever_is_escaped() {
        for word in ["word ", "& < > ", "मीरा का बकाया पाँच सौ रुपये है। "]
        {
            let text = word.repeat(20_000 / word.chars().count());
            let parts = build_parts(&outbound("D1", &text));
            assert!(parts.len() > 1);
            for part in &parts {
                assert!(blocks(part).len() <= MOST_BLOCKS + 1);
                for block in blocks(part) {
                    let length = block["text"]["text"].as_str().unwrap().chars().count();
                    assert!((1..=LONGEST_BLOCK).contains(&length), "{length} letters of {word}");
                }
            }
        }
    }

    #[test]
    fn links_stand_in_the_words_and_files_behind_them() {
        let attachments = vec![
            OutboundAttachment::Link { url: "https://a.example/1".to_owned(), title: "Bill\n7".to_owned() },
            OutboundAttachment::Qr { text: "upi://pay".to_owned(), title: String::new() },
        ];
        let parts = build_parts(&OutboundMessage { attachments, ..outbound("D1", "Here.") });
        let words = blocks(&parts[0])[0]["text"]["text"].as_str().unwrap();
        assert!(words.contains("Bill 7") && words.contains("https://a.example/1"), "{words}");
        assert_eq!(parts[1..], [SlackPart::File(1)]);
    }
}
