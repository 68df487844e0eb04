//! What the Bot Framework tells, in our shape.

use munshi_types::{MessageId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place::{TeamsPlace, name_message};
use super::text::read_text;
use crate::incoming::{
    ArrivedChat, ArrivedFile, ArrivedMessage, ArrivedSender, ChannelEvent, ChannelHappening,
};

const FILE: &str = "application/vnd.microsoft.teams.file.download.info";
/// What its reference begins with where a file is given out to our token alone.
pub(super) const OWN_FILE: &str = "bot:";
const MOST_FILES: usize = 20;
/// The engine takes no longer address.
const LONGEST_ADDRESS: usize = 500;
/// The key in a button's data that is ours.
pub(super) const BUTTON: &str = "munshi";

/// What a request holds, as far as anybody here reads it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TeamsActivity {
    #[serde(rename = "type")]
    pub kind: String,
    pub name: Option<String>,
    service_url: String,
    id: Option<String>,
    timestamp: Option<String>,
    action: Option<String>,
    from: TeamsAccount,
    recipient: TeamsAccount,
    conversation: TeamsConversation,
    text: Option<String>,
    locale: Option<String>,
    reply_to_id: Option<String>,
    value: Value,
    attachments: Vec<TeamsAttachment>,
    entities: Vec<Value>,
    channel_data: Value,
    reactions_added: Vec<TeamsReaction>,
    reactions_removed: Vec<TeamsReaction>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TeamsAccount {
    id: String,
    name: Option<String>,
    role: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TeamsConversation {
    id: String,
    conversation_type: Option<String>,
    tenant_id: Option<String>,
    name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TeamsAttachment {
    content_type: String,
    content_url: Option<String>,
    content: Value,
    name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TeamsReaction {
    #[serde(rename = "type")]
    kind: String,
}

/// What a button of ours carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CardValue {
    /// What pressing it says.
    pub say: String,
    /// The message that it stands in.
    pub of: MessageId,
    /// Who may press it; none for whoever sees it.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

impl TeamsActivity {
    /// What it is; none where there is nothing in it for us. `directory` is the one whose people may write, where the account names it.
    pub(super) fn read(&self, directory: Option<&str>) -> Option<ChannelEvent> {
        let theirs = self.conversation.tenant_id.as_deref().or(self.channel_data["tenant"]["id"].as_str());
        if directory.is_some_and(|own| theirs.is_some_and(|theirs| theirs != own)) || self.is_programs() {
            return None;
        }
        match self.kind.as_str() {
            "message" => self.read_message(),
            "messageUpdate" => self.read_change(),
            "messageDelete" => self.read_deletion(),
            "messageReaction" => self.read_reaction(),
            "installationUpdate" => self.read_installation(),
            _ => None,
        }
    }

    fn is_programs(&self) -> bool {
        let from = &self.from;
        from.id.is_empty()
            || from.id == self.recipient.id
            || from.id.starts_with("28:")
            || from.role.as_deref() == Some("bot")
    }

    fn is_direct(&self) -> bool {
        self.conversation.conversation_type.as_deref() == Some("personal")
    }

    fn read_message(&self) -> Option<ChannelEvent> {
        let arrived = match self.find_button() {
            Some(value) => self.build_press(&value)?,
            None => self.build_message()?,
        };
        let id = format!("message:{}", arrived.outside_id);
        Some(self.build_event(id, ChannelHappening::Message(Box::new(arrived))))
    }

    /// What a button of ours carries: Teams gives it back as it is, or as the text of it.
    fn find_button(&self) -> Option<Value> {
        let written: Option<Value> = self.value.as_str().and_then(|text| serde_json::from_str(text).ok());
        written.as_ref().unwrap_or(&self.value).get(BUTTON).cloned()
    }

    fn read_change(&self) -> Option<ChannelEvent> {
        let arrived = self.build_message()?;
        let id = format!("edited:{}:{}", arrived.outside_id, self.timestamp.as_deref().unwrap_or_default());
        Some(self.build_event(id, ChannelHappening::Edited(Box::new(arrived))))
    }

    fn read_deletion(&self) -> Option<ChannelEvent> {
        let message = name_message(&self.conversation.id, self.id.as_deref()?);
        let id = format!("deleted:{message}");
        Some(self.build_event(id, ChannelHappening::Deleted { message, from: self.build_sender() }))
    }

    fn read_reaction(&self) -> Option<ChannelEvent> {
        let message = name_message(&self.conversation.id, self.reply_to_id.as_deref()?);
        let sign = self.reactions_added.first().map(|added| added.kind.clone());
        if sign.is_none() && self.reactions_removed.is_empty() {
            return None;
        }
        let id = format!("reacted:{message}:{}", self.id.as_deref()?);
        Some(self.build_event(id, ChannelHappening::Reacted { message, sign, from: self.build_sender() }))
    }

    /// Who removes the app from their own chat wants nothing more from us: it is what they would say by the word, at the same address.
    fn read_installation(&self) -> Option<ChannelEvent> {
        if !self.is_direct() || self.action.as_deref() != Some("remove") {
            return None;
        }
        let key = self.id.as_deref().or(self.timestamp.as_deref())?;
        let id = format!("installation:{}", name_message(&self.conversation.id, key));
        let arrived = ArrivedMessage {
            outside_id: id.clone(),
            text: "STOP".to_owned(),
            ..self.build_arrived(&self.build_place())
        };
        Some(self.build_event(id, ChannelHappening::Message(Box::new(arrived))))
    }

    /// A message that is for us: any between somebody and us, and elsewhere what mentions us.
    fn build_message(&self) -> Option<ArrivedMessage> {
        let mentions: Vec<&str> =
            self.entities.iter().filter_map(|entity| self.read_own_mention(entity)).collect();
        if !self.is_direct() && mentions.is_empty() {
            return None;
        }
        let (files, notes) = self.read_files();
        let words = read_text(self.text.as_deref().unwrap_or_default(), &mentions);
        let text: Vec<String> = [words].into_iter().chain(notes).filter(|part| !part.is_empty()).collect();
        let text = match text.is_empty() && files.is_empty() {
            // Who writes nothing but our name calls us, and wants to be asked what for.
            true => mentions.iter().map(|tag| read_text(tag, &[])).find(|name| !name.is_empty()),
            false => Some(text.join("\n")),
        };
        Some(ArrivedMessage {
            outside_id: name_message(&self.conversation.id, self.id.as_deref()?),
            text: text.unwrap_or_else(|| "[message]".to_owned()),
            files,
            ..self.build_arrived(&self.build_place())
        })
    }

    /// Where others read along, a question is answered by whom it was asked.
    fn build_press(&self, value: &Value) -> Option<ArrivedMessage> {
        let value = CardValue::deserialize(value).ok()?;
        let is_theirs = value.person.as_deref().is_none_or(|meant| meant == self.from.id);
        if !self.is_direct() && !is_theirs {
            return None;
        }
        let quoted = self.reply_to_id.as_deref().map(|id| name_message(&self.conversation.id, id));
        // The same button says it once, however often it is pressed: a second yes would answer something else.
        let outside_id = format!("press:{}:{}:{}", value.of, self.from.id, value.say);
        Some(ArrivedMessage {
            outside_id: outside_id.chars().take(LONGEST_ADDRESS).collect(),
            text: value.say,
            quoted,
            answered: Some(value.of),
            ..self.build_arrived(&self.build_place())
        })
    }

    /// What every message of theirs has.
    fn build_arrived(&self, place: &TeamsPlace) -> ArrivedMessage {
        let chat = match self.is_direct() {
            true => ArrivedChat::Direct,
            false => ArrivedChat::Group {
                id: self.conversation.id.clone(),
                title: self.conversation.name.clone().unwrap_or_default(),
            },
        };
        ArrivedMessage {
            from: self.build_sender(),
            chat,
            locale: self.locale.clone(),
            sent_at: self.read_time(),
            reply_to: place.write(),
            ..ArrivedMessage::default()
        }
    }

    fn build_sender(&self) -> ArrivedSender {
        let name = self.from.name.clone().filter(|name| !name.trim().is_empty());
        ArrivedSender { channel_id: self.from.id.clone(), name, ..ArrivedSender::default() }
    }

    fn build_place(&self) -> TeamsPlace {
        let person = (!self.is_direct()).then(|| self.from.id.clone());
        let place = TeamsPlace {
            service: self.service_url.clone(),
            conversation: self.conversation.id.clone(),
            person,
        };
        match place.write().len() > LONGEST_ADDRESS {
            true => TeamsPlace { person: None, ..place },
            false => place,
        }
    }

    fn build_event(&self, id: String, what: ChannelHappening) -> ChannelEvent {
        ChannelEvent { id, lane: self.conversation.id.clone(), happened_at: self.read_time(), what }
    }

    fn read_time(&self) -> Option<Timestamp> {
        self.timestamp.as_deref().and_then(|told| told.parse().ok())
    }

    /// The tag of a mention of us.
    fn read_own_mention<'v>(&self, entity: &'v Value) -> Option<&'v str> {
        let is_ours = entity["type"] == "mention" && entity["mentioned"]["id"] == self.recipient.id.as_str();
        is_ours.then(|| entity["text"].as_str().unwrap_or_default())
    }

    /// Files that can be fetched, and words for what can't. The words stand among the attachments once more, as HTML.
    fn read_files(&self) -> (Vec<ArrivedFile>, Vec<String>) {
        let (mut files, mut notes) = (Vec::new(), Vec::new());
        for attachment in self.attachments.iter().take(MOST_FILES) {
            let TeamsAttachment { content_type, content_url, content, name } = attachment;
            let url = content_url.as_deref();
            match (content_type.as_str(), url) {
                (FILE, _) => match content["downloadUrl"].as_str() {
                    Some(url) => files.push(ArrivedFile {
                        reference: url.to_owned(),
                        media_type: String::new(),
                        name: name.clone(),
                        size: None,
                    }),
                    None => notes.push("[file]".to_owned()),
                },
                ("text/html" | "text/plain", _) => {}
                (kind, Some(url)) if ["image/", "audio/", "video/"].iter().any(|of| kind.starts_with(of)) => {
                    let media_type = if kind == "image/*" { String::new() } else { kind.to_owned() };
                    let reference = format!("{OWN_FILE}{url}");
                    files.push(ArrivedFile { reference, media_type, name: name.clone(), size: None });
                }
                (kind, _) if kind.starts_with("application/vnd.microsoft.card") => {
                    notes.push("[card]".to_owned());
                }
                _ => notes.push("[attachment]".to_owned()),
            }
        }
        (files, notes)
    }
}

#[cfg(test)]
mod tests;
