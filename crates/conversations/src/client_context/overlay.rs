//! The program's conversation laid over the stored one.

use munshi_tiers::prompt::{RecallItem, UtteranceText};

use super::{ClientContext, ClientHistoryItem};
use crate::messages::{Message, MessageSpeaker, MessageStatus};

/// A conversation as a run sees it.
#[derive(Debug)]
pub struct ConversationOverlay {
    pub history: Vec<Message>,
    /// What tools of the program have said in it.
    pub recalled: Vec<RecallItem>,
    /// Whether something was said that stands nowhere in the session.
    pub has_unknown: bool,
    /// Whether it ends where the session does: then all that is known of the session is known of it.
    pub is_latest: bool,
}

/// Takes each line for the stored message it repeats, the newest first and in order, so that questions and choices that
/// stood in it are known. `stored` is what the session has before the message, the oldest first.
pub fn overlay(client_context: &ClientContext, stored: &[Message], message: &Message) -> ConversationOverlay {
    let (mut history, mut has_unknown, mut is_latest) = (Vec::new(), false, true);
    let mut rest = stored;
    for line in client_context.history.iter().rev() {
        let (speaker, text) = match line {
            ClientHistoryItem::Person { text } => (MessageSpeaker::Person, text),
            ClientHistoryItem::Persona { text } => (MessageSpeaker::Persona, text),
            ClientHistoryItem::Tool { .. } => continue,
        };
        // A program tells a colleague's words as the assistant's: it knows of no other side.
        let is = |said: &Message| said.speaker.is_ours() == speaker.is_ours() && is_same(&said.text, text);
        match rest.iter().rposition(is) {
            Some(at) => {
                is_latest &= !history.is_empty() || at + 1 == rest.len();
                history.extend(rest.get(at).cloned());
                rest = rest.get(..at).unwrap_or_default();
            }
            None => {
                has_unknown = true;
                is_latest &= !history.is_empty();
                history.push(build_unknown_message(message, speaker, text));
            }
        }
    }
    is_latest &= !history.is_empty();
    history.reverse();
    ConversationOverlay { history, recalled: collect_recall(client_context), has_unknown, is_latest }
}

/// Programs trim what they show.
fn is_same(stored: &str, client_context: &str) -> bool {
    stored.trim() == client_context.trim()
}

/// A line that nobody here has said or heard.
fn build_unknown_message(message: &Message, speaker: MessageSpeaker, text: &str) -> Message {
    Message {
        id: munshi_types::MessageId::from_uuid(uuid::Uuid::nil()),
        number: 0,
        speaker,
        outside_id: None,
        text: text.to_owned(),
        attached: Vec::new(),
        language: None,
        tokens: UtteranceText::new(text).tokens(),
        standing: MessageStatus::Whole,
        generation: 0,
        marks: serde_json::Value::Null,
        suggestions: Vec::new(),
        ..message.clone()
    }
}

/// The newest is the closest.
fn collect_recall(client_context: &ClientContext) -> Vec<RecallItem> {
    let tools = client_context.history.iter().rev().filter_map(|line| match line {
        ClientHistoryItem::Tool { tool, arguments, answer } => Some((format!("{tool} {arguments}"), answer)),
        ClientHistoryItem::Person { .. } | ClientHistoryItem::Persona { .. } => None,
    });
    let scored = tools.zip((1..=1_000u16).rev());
    scored.map(|((source, answer), score)| RecallItem::passage(&source, answer, score)).collect()
}
