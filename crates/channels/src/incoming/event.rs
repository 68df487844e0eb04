//! What comes from a provider, in one shape for every channel.

use std::fmt;

use munshi_conversations::outbox::DeliveryReceipt;
use munshi_types::{MessageId, Timestamp};
use serde::{Deserialize, Serialize};

/// One thing that a provider tells us. It is stored as it is here: a new field has a default, so that what an older version stored is
/// still read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelEvent {
    /// The provider's own id of it: the same id at one account is taken in once. Where a provider has none, whatever is the same each time
    /// it is told, such as the message's id and what happened to it.
    pub id: String,
    /// With whom: what has one lane is taken in one after the other. The chat, else the sender.
    pub lane: String,
    /// When the provider says it happened; what waits in a lane goes by that.
    #[serde(default)]
    pub happened_at: Option<Timestamp>,
    pub what: ChannelHappening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChannelHappening {
    Message(Box<ArrivedMessage>),
    /// They changed what they had said: the message as it is now, under its own id.
    Edited(Box<ArrivedMessage>),
    /// They took back what they had said.
    Deleted {
        /// The message's id, as in [`ArrivedMessage::outside_id`].
        message: String,
        from: ArrivedSender,
    },
    /// They reacted to a message, ours or another; without a sign they took it back.
    Reacted {
        message: String,
        #[serde(default)]
        sign: Option<String>,
        from: ArrivedSender,
    },
    /// What became of a message of ours.
    Receipt {
        /// What the provider called it when it was sent.
        message: String,
        receipt: ArrivedReceipt,
        /// Our own id of it, where the provider gives back what it was sent with: so it is found though nobody heard the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own: Option<MessageId>,
    },
    /// They want nothing more from us, or something again, as the platform itself has it: a button, a block.
    Subscription {
        from: ArrivedSender,
        wanted: bool,
        /// Where messages of ours reach them, which is what the wish is about; none where that is what the channel calls them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<String>,
    },
    /// The provider decided on a text that it keeps.
    Template(ArrivedTemplate),
    /// Something of the account itself, for whoever looks after it.
    Notice {
        what: String,
    },
}

/// A message as a provider tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArrivedMessage {
    /// The provider's id of the message; the same on one channel of a binding is taken once, for ever.
    pub outside_id: String,
    pub from: ArrivedSender,
    /// Where it was said.
    pub chat: ArrivedChat,
    /// Without what the provider adds, such as the mention of us or the mail that is quoted below.
    pub text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ArrivedFile>,
    /// As the provider tells it, such as `en-IN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// The id of the message that they quoted or whose button they pressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quoted: Option<String>,
    /// Our own id of the message whose button they pressed, where the button says it: a yes is an answer to that and to nothing newer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<MessageId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Timestamp>,
    /// Where an answer goes, in the channel's own words. It may say more than who it was: a thread, a service's address.
    pub reply_to: String,
    /// What the answer hangs on there, where that is no part of the address: see [`munshi_types::ReplyAddress::thread`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Our own address that it was written to, where an account has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Nobody is to answer: a program wrote it, or it is our own come back. It is stored nowhere, and why is logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswerable: Option<String>,
    /// It was not written to us: it is taken where we were spoken to in its chat before, and else passed over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub follows_chat: bool,
}

/// Who it came from, as far as the channel proves it.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ArrivedSender {
    /// What the channel calls them, the same for ever.
    pub channel_id: String,
    /// A number that the channel has verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// An address that the channel has verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// How the channel found out who they are, or that they are not, where it says so: a word such as `dkim`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// What they call themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Where something was said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ArrivedChat {
    /// Between them and us.
    #[default]
    Direct,
    /// Where others read along. What is said there belongs to the group: it is answered as in public, and nothing personal of whoever
    /// wrote is known to the answer.
    Group {
        id: String,
        #[serde(default)]
        title: String,
    },
}

/// Something beside the words, that is still with the provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivedFile {
    /// By which the provider gives it out; its own words.
    pub reference: String,
    /// What it says it is; its bytes decide.
    #[serde(default)]
    pub media_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// What became of a message of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ArrivedReceipt {
    Delivered,
    Read,
    Returned { why: String },
}

/// A text that a provider keeps, and what it says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivedTemplate {
    pub name: String,
    pub language: String,
    /// In the provider's word, such as `APPROVED`.
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl ChannelHappening {
    /// For its row and for counts.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Message(_) => "message",
            Self::Edited(_) => "edited",
            Self::Deleted { .. } => "deleted",
            Self::Reacted { .. } => "reacted",
            Self::Receipt { .. } => "receipt",
            Self::Subscription { .. } => "subscription",
            Self::Template(_) => "template",
            Self::Notice { .. } => "notice",
        }
    }

    /// Whose it is, where it is somebody's.
    pub fn sender(&self) -> Option<&ArrivedSender> {
        match self {
            Self::Message(message) | Self::Edited(message) => Some(&message.from),
            Self::Deleted { from, .. } | Self::Reacted { from, .. } | Self::Subscription { from, .. } => {
                Some(from)
            }
            Self::Receipt { .. } | Self::Template(_) | Self::Notice { .. } => None,
        }
    }
}

impl From<ArrivedReceipt> for DeliveryReceipt {
    fn from(receipt: ArrivedReceipt) -> Self {
        match receipt {
            ArrivedReceipt::Delivered => Self::Delivered,
            ArrivedReceipt::Read => Self::Read,
            ArrivedReceipt::Returned { why } => Self::Returned(why),
        }
    }
}

/// Shows nobody's number or name.
impl fmt::Debug for ArrivedSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrivedSender").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_as_it_was() {
        let message = ArrivedMessage {
            outside_id: "wamid.1".to_owned(),
            from: ArrivedSender { channel_id: "919812345678".to_owned(), ..ArrivedSender::default() },
            text: "Namaste".to_owned(),
            reply_to: "919812345678".to_owned(),
            ..ArrivedMessage::default()
        };
        for what in [
            ChannelHappening::Message(Box::new(message.clone())),
            ChannelHappening::Edited(Box::new(message)),
            ChannelHappening::Deleted { message: "1".to_owned(), from: ArrivedSender::default() },
            ChannelHappening::Receipt {
                message: "1".to_owned(),
                receipt: ArrivedReceipt::Returned { why: "blocked".to_owned() },
                own: Some(munshi_types::IdGenerator::system().next()),
            },
            ChannelHappening::Subscription {
                from: ArrivedSender::default(),
                wanted: false,
                reply_to: Some("+919812345678".to_owned()),
            },
            ChannelHappening::Notice { what: "banned".to_owned() },
        ] {
            let event = ChannelEvent { id: "1".to_owned(), lane: "a".to_owned(), happened_at: None, what };
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<ChannelEvent>(&text).unwrap(), event, "{text}");
        }
    }

    #[test]
    fn nobody_is_shown_in_a_log() {
        let sender = ArrivedSender { phone: Some("+919812345678".to_owned()), ..ArrivedSender::default() };
        assert!(!format!("{sender:?}").contains("98123"));
    }
}
