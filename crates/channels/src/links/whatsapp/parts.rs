//! In which messages a reply leaves: WhatsApp takes so much of each in one. The same for the same reply each time.

use munshi_types::{OutboundAttachment, OutboundMessage};

use crate::text::{TextStyle, render, split};

/// WhatsApp takes 4096; some signs count twice.
pub(crate) const LONGEST_TEXT: usize = 4000;
/// Of words above buttons it takes 1024.
const LONGEST_BODY: usize = 1000;

const MOST_BUTTONS: usize = 3;
const LONGEST_BUTTON: usize = 20;
const MOST_ROWS: usize = 10;
pub(crate) const LONGEST_ROW: usize = 24;
const LONGEST_ROW_WORDS: usize = 72;

/// One message of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WhatsappPart {
    /// What was approved beforehand, by the reply's template.
    Template,
    Text(String),
    Buttons {
        body: String,
        choices: Vec<String>,
    },
    List {
        body: String,
        choices: Vec<String>,
    },
    /// One of the reply's attachments, by its place.
    Attachment(usize),
}

/// What an account takes beside words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttachmentSupport {
    Files,
    /// A code to pay by goes as its text.
    WordsOnly,
}

/// A template goes alone: beside it nothing may be sent once they have not written for a day. Words first, then files.
pub(crate) fn plan_parts(outbound: &OutboundMessage, support: AttachmentSupport) -> Vec<WhatsappPart> {
    if outbound.template.is_some() {
        return vec![WhatsappPart::Template];
    }
    let mut parts = plan_words(&write_words(outbound, support), &outbound.suggestions);
    for (at, attachment) in outbound.attachments.iter().enumerate() {
        match attachment {
            OutboundAttachment::File { .. } => parts.push(WhatsappPart::Attachment(at)),
            OutboundAttachment::Qr { .. } if support == AttachmentSupport::Files => {
                parts.push(WhatsappPart::Attachment(at));
            }
            OutboundAttachment::Qr { .. } | OutboundAttachment::Link { .. } => {}
        }
    }
    if parts.is_empty() {
        parts.push(WhatsappPart::Text("…".to_owned()));
    }
    parts
}

/// The words, with what is opened by pressing it.
fn write_words(outbound: &OutboundMessage, support: AttachmentSupport) -> String {
    let mut words = outbound.text.trim().to_owned();
    for attachment in &outbound.attachments {
        let (address, title) = match attachment {
            OutboundAttachment::Link { url, title } => (url, title),
            OutboundAttachment::Qr { text, title } if support == AttachmentSupport::WordsOnly => {
                (text, title)
            }
            OutboundAttachment::Qr { .. } | OutboundAttachment::File { .. } => continue,
        };
        let title = title.trim();
        let line = if title.is_empty() { address.clone() } else { format!("{title}: {address}") };
        words = if words.is_empty() { line } else { format!("{words}\n\n{line}") };
    }
    words
}

fn plan_words(words: &str, suggestions: &[String]) -> Vec<WhatsappPart> {
    let choices = clean_choices(suggestions);
    if words.is_empty() && choices.is_empty() {
        return Vec::new();
    }
    let asked = if choices.is_empty() { None } else { plan_choices(words, &choices) };
    if let Some(parts) = asked {
        return parts;
    }
    let mut words = words.to_owned();
    for (at, choice) in choices.iter().enumerate() {
        words.push_str(if at == 0 && !words.is_empty() { "\n\n" } else { "\n" });
        words.push_str(&format!("{}. {choice}", at + 1));
    }
    write_texts(words.trim_start())
}

/// Buttons, else a list to choose from, below the last words; none where the choices or the words don't fit.
fn plan_choices(words: &str, choices: &[String]) -> Option<Vec<WhatsappPart>> {
    let count = |text: &String| text.chars().count();
    let are_buttons = choices.len() <= MOST_BUTTONS && choices.iter().all(|one| count(one) <= LONGEST_BUTTON);
    let are_rows = choices.len() <= MOST_ROWS
        && choices.iter().all(|one| count(one) <= LONGEST_ROW_WORDS)
        && are_distinct(choices.iter().map(|one| shorten(one)));
    if words.is_empty() || !(are_buttons || are_rows) {
        return None;
    }
    let mut pieces = split(words, LONGEST_TEXT);
    let mut last = pieces.pop()?;
    if render(&last, TextStyle::Whatsapp).chars().count() > LONGEST_BODY {
        let tail = split(&last, LONGEST_BODY).pop()?;
        let head = last.strip_suffix(tail.as_str())?.trim_end().to_owned();
        pieces.push(head);
        last = tail;
    }
    let body = render(&last, TextStyle::Whatsapp);
    if body.trim().is_empty() || body.chars().count() > LONGEST_BODY {
        return None;
    }
    let mut parts: Vec<WhatsappPart> = pieces.iter().flat_map(|piece| write_texts(piece)).collect();
    let choices = choices.to_vec();
    parts.push(match are_buttons {
        true => WhatsappPart::Buttons { body, choices },
        false => WhatsappPart::List { body, choices },
    });
    Some(parts)
}

/// Marks may take more room than they had: what has become too long is cut once more.
fn write_texts(words: &str) -> Vec<WhatsappPart> {
    let pieces = split(words, LONGEST_TEXT).into_iter();
    let rendered = pieces.map(|piece| render(&piece, TextStyle::Whatsapp));
    let fit = rendered.flat_map(|text| match text.chars().count() > LONGEST_TEXT {
        true => split(&text, LONGEST_TEXT),
        false => vec![text],
    });
    fit.filter(|text| !text.trim().is_empty()).map(WhatsappPart::Text).collect()
}

/// What is shown of a choice in a list.
pub(crate) fn shorten(choice: &str) -> String {
    if choice.chars().count() <= LONGEST_ROW {
        return choice.to_owned();
    }
    let short: String = choice.chars().take(LONGEST_ROW - 1).collect();
    format!("{}…", short.trim_end())
}

fn clean_choices(suggestions: &[String]) -> Vec<String> {
    let mut choices: Vec<String> = Vec::new();
    for suggestion in suggestions {
        let choice = suggestion.split_whitespace().collect::<Vec<_>>().join(" ");
        if !choice.is_empty() && !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    choices
}

fn are_distinct(mut words: impl Iterator<Item = String>) -> bool {
    let mut seen = std::collections::HashSet::new();
    words.all(|word| seen.insert(word))
}

#[cfg(test)]
mod tests {
    use munshi_types::tier::Channel;
    use munshi_types::{IdGenerator, ReplyAddress};

    use super::*;

    fn outbound(text: &str, suggestions: &[&str]) -> OutboundMessage {
        let to = ReplyAddress::new(Channel::Whatsapp, "+919812345678");
        let suggestions = suggestions.iter().map(|one| (*one).to_owned()).collect();
        OutboundMessage {
            suggestions,
            ..OutboundMessage::new(IdGenerator::system().next(), to, text.to_owned())
        }
    }

    #[test]
    fn few_short_choices_are_buttons_and_more_are_a_list() {
        let plan = |suggestions: &[&str]| {
            plan_parts(&outbound("**Pay** now?", suggestions), AttachmentSupport::Files)
        };
        assert_eq!(
            plan(&["Yes", "No", "Yes"]),
            [WhatsappPart::Buttons {
                body: "*Pay* now?".to_owned(),
                choices: vec!["Yes".to_owned(), "No".to_owned()]
            }]
        );
        let long = "Tell me what I bought last month";
        let parts = plan(&["Yes", long]);
        let [WhatsappPart::List { choices, .. }] = &parts[..] else { panic!("no list") };
        assert_eq!(choices[1], long);
        assert_eq!(shorten(long).chars().count(), LONGEST_ROW);
        let many: Vec<String> = (0..11).map(|n| format!("choice {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let parts = plan(&many);
        let [WhatsappPart::Text(text)] = &parts[..] else { panic!("no text") };
        assert!(text.contains("1. choice 0\n") && text.ends_with("11. choice 10"), "{text}");
    }

    #[test]
    fn choices_stand_below_the_last_words_of_a_long_reply() {
        let text = "यह एक वाक्य है। ".repeat(400);
        let parts = plan_parts(&outbound(&text, &["हाँ", "नहीं"]), AttachmentSupport::Files);
        assert_eq!(parts, plan_parts(&outbound(&text, &["हाँ", "नहीं"]), AttachmentSupport::Files));
        let (last, before) = parts.split_last().unwrap();
        let WhatsappPart::Buttons { body, .. } = last else { panic!("{last:?}") };
        assert!(body.chars().count() <= LONGEST_BODY);
        let mut whole = String::new();
        for part in before {
            let WhatsappPart::Text(text) = part else { panic!("{part:?}") };
            assert!(text.chars().count() <= LONGEST_TEXT);
            whole.push_str(text);
        }
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(bare(&(whole + body)), bare(&text));
    }

    #[test]
    fn links_are_words_and_codes_are_pictures_where_they_can_be() {
        let message = OutboundMessage {
            attachments: vec![
                OutboundAttachment::Link {
                    url: "https://a.example/b".to_owned(),
                    title: "Your bill".to_owned(),
                },
                OutboundAttachment::Qr { text: "upi://pay?pa=a@b".to_owned(), title: String::new() },
            ],
            ..outbound("Here:", &[])
        };
        let text = "Here:\n\nYour bill: https://a.example/b".to_owned();
        assert_eq!(
            plan_parts(&message, AttachmentSupport::Files),
            [WhatsappPart::Text(text.clone()), WhatsappPart::Attachment(1)]
        );
        assert_eq!(
            plan_parts(&message, AttachmentSupport::WordsOnly),
            [WhatsappPart::Text(format!("{text}\n\nupi://pay?pa=a@b"))]
        );
    }
}
