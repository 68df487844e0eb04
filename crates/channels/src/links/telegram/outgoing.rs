//! A message as Telegram takes it: in how many parts, and what each asks for.

use munshi_types::{MessageId, OutboundAttachment, OutboundMessage};
use serde_json::{Value, json};

use super::arrivals::parse_message_name;
use crate::text::{TextStyle, render, split};

/// Telegram takes 4096 UTF-16 units; a letter is two at the most, and marks of lists need room.
const LONGEST_PIECE: usize = 1900;
/// What is no longer than this leaves in one.
const LONGEST_WHOLE: usize = 3800;
const MOST_BUTTONS: usize = 8;
/// More is cut off on a phone.
const LONGEST_BUTTON: usize = 40;

/// One of the messages that a message becomes.
pub(super) enum OutgoingPart<'a> {
    Text { markdown: String, buttons: Vec<String> },
    File(&'a OutboundAttachment),
}

/// Where it goes: a chat, and a topic in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChatAddress {
    pub chat: i64,
    pub topic: Option<i64>,
}

impl ChatAddress {
    pub(super) fn parse(address: &str) -> Option<Self> {
        match address.split_once('/') {
            None => Some(Self { chat: address.trim().parse().ok()?, topic: None }),
            Some((chat, topic)) => Some(Self { chat: chat.parse().ok()?, topic: Some(topic.parse().ok()?) }),
        }
    }

    /// Where others read along.
    const fn is_group(self) -> bool {
        self.chat < 0
    }
}

/// The same parts each time for the same message.
pub(super) fn list_parts(outbound: &OutboundMessage) -> Vec<OutgoingPart<'_>> {
    let (text, buttons) = compose_text(outbound);
    let mut parts = Vec::new();
    if !text.trim().is_empty() {
        let is_short = text.encode_utf16().count() <= LONGEST_WHOLE;
        let pieces = if is_short { vec![text] } else { split(&text, LONGEST_PIECE) };
        let last = pieces.len().saturating_sub(1);
        parts.extend(pieces.into_iter().enumerate().map(|(at, markdown)| OutgoingPart::Text {
            markdown,
            buttons: if at == last { buttons.clone() } else { Vec::new() },
        }));
    }
    let is_file = |attachment: &&OutboundAttachment| !matches!(attachment, OutboundAttachment::Link { .. });
    parts.extend(outbound.attachments.iter().filter(is_file).map(OutgoingPart::File));
    parts
}

/// The words with links below, and suggestions as buttons, or as a list where they are too long or too many for that.
fn compose_text(outbound: &OutboundMessage) -> (String, Vec<String>) {
    let mut text = outbound.text.trim_end().to_owned();
    for attachment in &outbound.attachments {
        let OutboundAttachment::Link { url, title } = attachment else { continue };
        let line = if title.trim().is_empty() { url.clone() } else { format!("{title}: {url}") };
        text = format!("{text}\n\n{line}");
    }
    let suggestions: Vec<&str> =
        outbound.suggestions.iter().map(|one| one.trim()).filter(|one| !one.is_empty()).collect();
    let is_short = |one: &&str| one.chars().count() <= LONGEST_BUTTON;
    if suggestions.len() <= MOST_BUTTONS && suggestions.iter().all(is_short) && !text.trim().is_empty() {
        return (text, suggestions.into_iter().map(str::to_owned).collect());
    }
    let list: Vec<String> =
        suggestions.iter().enumerate().map(|(at, one)| format!("{}. {one}", at + 1)).collect();
    (format!("{text}\n\n{}", list.join("\n")).trim().to_owned(), Vec::new())
}

/// What every method that sends takes.
pub(super) fn build_parameters(outbound: &OutboundMessage, to: ChatAddress, part: u32) -> Value {
    let mut parameters = json!({ "chat_id": to.chat });
    if let Some(topic) = to.topic {
        parameters["message_thread_id"] = json!(topic);
    }
    // Between two it is clear what is answered.
    let answered = outbound.answers.as_deref().and_then(parse_message_name);
    if let Some((chat, message)) = answered.filter(|_| part == 0 && to.is_group())
        && chat == to.chat
    {
        parameters["reply_parameters"] =
            json!({ "message_id": message, "allow_sending_without_reply": true });
    }
    parameters
}

/// A text with its marks, or without where Telegram does not read them.
pub(super) fn build_text(
    mut parameters: Value,
    (message, markdown, buttons): (MessageId, &str, &[String]),
    style: TextStyle,
) -> Value {
    parameters["text"] = json!(render(markdown, style));
    if style == TextStyle::TelegramHtml {
        parameters["parse_mode"] = json!("HTML");
    }
    parameters["link_preview_options"] = json!({ "is_disabled": true });
    if !buttons.is_empty() {
        let rows: Vec<Value> = buttons
            .iter()
            .enumerate()
            .map(|(at, text)| json!([{ "text": text, "callback_data": name_button(at, message) }]))
            .collect();
        parameters["reply_markup"] = json!({ "inline_keyboard": rows });
    }
    parameters
}

/// What comes back when it is pressed: which button, and which message of ours it stands below.
fn name_button(at: usize, message: MessageId) -> String {
    format!("s:{at}:{message}")
}

/// The message that a button stands below.
pub(super) fn parse_button(data: &str) -> Option<MessageId> {
    let (_, message) = data.strip_prefix("s:")?.split_once(':')?;
    message.parse().ok()
}
