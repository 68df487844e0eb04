//! What Telegram tells, in its own shapes: only what is read of it. What is missing or new is no error.

use serde::Deserialize;
use serde_json::{Map, Value};

/// What is told; anything else is not asked for.
pub(super) const KINDS: [&str; 5] =
    ["message", "edited_message", "callback_query", "my_chat_member", "message_reaction"];

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotUpdate {
    pub update_id: i64,
    pub message: Option<Box<BotMessage>>,
    pub edited_message: Option<Box<BotMessage>>,
    pub callback_query: Option<Box<ButtonPress>>,
    pub my_chat_member: Option<Box<MembershipChange>>,
    pub message_reaction: Option<Box<ReactionChange>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotUser {
    pub id: i64,
    pub is_bot: bool,
    pub first_name: String,
    pub last_name: Option<String>,
    pub username: Option<String>,
    pub language_code: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotChat {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
    pub title: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotMessage {
    pub message_id: i64,
    pub message_thread_id: Option<i64>,
    pub is_topic_message: bool,
    pub from: Option<BotUser>,
    pub sender_chat: Option<BotChat>,
    pub date: i64,
    pub edit_date: Option<i64>,
    pub chat: BotChat,
    pub forward_origin: Option<ForwardOrigin>,
    pub reply_to_message: Option<Box<BotMessage>>,
    pub media_group_id: Option<String>,
    pub text: Option<String>,
    pub entities: Vec<TextEntity>,
    pub caption: Option<String>,
    pub caption_entities: Vec<TextEntity>,
    pub photo: Vec<BotFile>,
    pub document: Option<BotFile>,
    pub voice: Option<BotFile>,
    pub audio: Option<BotFile>,
    pub video: Option<BotFile>,
    pub video_note: Option<BotFile>,
    pub animation: Option<BotFile>,
    pub sticker: Option<BotSticker>,
    pub location: Option<BotLocation>,
    pub venue: Option<BotVenue>,
    pub contact: Option<BotContact>,
    pub poll: Option<BotPoll>,
    pub dice: Option<BotDice>,
    pub reply_markup: Option<ButtonRows>,
    /// What else there is, by its name: what Telegram notes in a chat, and kinds of messages that are not read.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ForwardOrigin {
    pub sender_user: Option<BotUser>,
    pub sender_user_name: Option<String>,
    pub sender_chat: Option<BotChat>,
    pub chat: Option<BotChat>,
}

/// A stretch of a text, counted in UTF-16.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextEntity {
    #[serde(rename = "type")]
    pub kind: String,
    pub offset: usize,
    pub length: usize,
    pub url: Option<String>,
    pub user: Option<BotUser>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotFile {
    pub file_id: String,
    pub file_name: Option<String>,
    pub mime_type: Option<String>,
    pub file_size: Option<u64>,
    pub width: u32,
    pub height: u32,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotSticker {
    pub emoji: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotLocation {
    pub latitude: f64,
    pub longitude: f64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotVenue {
    pub location: BotLocation,
    pub title: String,
    pub address: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotContact {
    pub phone_number: String,
    pub first_name: String,
    pub last_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotPoll {
    pub question: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotDice {
    pub emoji: String,
    pub value: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ButtonRows {
    pub inline_keyboard: Vec<Vec<InlineButton>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InlineButton {
    pub text: String,
    pub callback_data: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ButtonPress {
    pub id: String,
    pub from: BotUser,
    pub message: Option<Box<BotMessage>>,
    pub data: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MembershipChange {
    pub chat: BotChat,
    pub from: BotUser,
    pub date: i64,
    pub old_chat_member: ChatMembership,
    pub new_chat_member: ChatMembership,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChatMembership {
    pub status: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReactionChange {
    pub chat: BotChat,
    pub message_id: i64,
    pub user: Option<BotUser>,
    pub date: i64,
    pub new_reaction: Vec<ReactionSign>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReactionSign {
    pub emoji: Option<String>,
}

impl BotUser {
    pub(super) fn full_name(&self) -> Option<String> {
        let last = self.last_name.as_deref().unwrap_or_default();
        let name = format!("{} {last}", self.first_name).trim().to_owned();
        Some(name).filter(|name| !name.is_empty())
    }
}

impl BotChat {
    pub(super) fn is_private(&self) -> bool {
        self.kind == "private"
    }

    pub(super) fn is_group(&self) -> bool {
        matches!(self.kind.as_str(), "group" | "supergroup")
    }
}

impl BotMessage {
    /// Its words with what is marked in them: the text, or what stands below a picture.
    pub(super) fn words(&self) -> (&str, &[TextEntity]) {
        match (&self.text, &self.caption) {
            (Some(text), _) => (text, &self.entities),
            (None, Some(caption)) => (caption, &self.caption_entities),
            (None, None) => ("", &[]),
        }
    }

    /// The message that they quoted. In a topic, every message refers to the one that began it.
    pub(super) fn replied_to(&self) -> Option<&BotMessage> {
        let replied = self.reply_to_message.as_deref()?;
        let begins_topic = self.is_topic_message && Some(replied.message_id) == self.message_thread_id;
        (!begins_topic).then_some(replied)
    }
}
