//! What leaves, in one shape for every channel.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::envelope::ReplyAddress;
use crate::id::{BlobId, MessageId};
use crate::tier::LanguageCode;

/// A message on its way out. Its id is the key under which sending it again is harmless. It is stored as it is here: a new
/// field has a default, so that what an older version stored is still read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboundMessage {
    pub id: MessageId,
    pub to: ReplyAddress,
    /// Our own address that it is sent from, where several lead here: the one that was written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<ReplyAddress>,
    #[serde(default)]
    pub purpose: OutboundPurpose,
    /// For channels that have one, such as mail; those without leave it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    pub text: String,
    #[serde(default)]
    pub suggestions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<OutboundAttachment>,
    /// What a provider has approved, for when only that may be sent; `text` says the same in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<OutboundTemplate>,
    #[serde(default)]
    pub language: Option<LanguageCode>,
    /// What the channel calls the message that this one answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

impl OutboundMessage {
    /// A reply in words alone. What else there is to say of it is set by struct update.
    pub fn new(id: MessageId, to: ReplyAddress, text: String) -> Self {
        Self {
            id,
            to,
            from: None,
            purpose: OutboundPurpose::Reply,
            subject: None,
            text,
            suggestions: Vec::new(),
            attachments: Vec::new(),
            template: None,
            language: None,
            answers: None,
        }
    }
}

/// Why something is sent. Rules about hours and opting out go by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboundPurpose {
    /// Said in a conversation that the recipient takes part in.
    #[default]
    Reply,
    /// About money that is owed, or something else that is due.
    Reminder,
    /// To somebody of the tenant: something needs their eyes.
    Alert,
    /// A one-time code that the recipient asked for just now.
    Code,
    /// A person of the tenant wrote it, in the recipient's conversation.
    Colleague,
    /// Anything else that nobody asked for.
    Notice,
}

impl OutboundPurpose {
    pub const ALL: [Self; 6] =
        [Self::Reply, Self::Reminder, Self::Alert, Self::Code, Self::Colleague, Self::Notice];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reply => "reply",
            Self::Reminder => "reminder",
            Self::Alert => "alert",
            Self::Code => "code",
            Self::Colleague => "colleague",
            Self::Notice => "notice",
        }
    }
}

impl FromStr for OutboundPurpose {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|purpose| purpose.as_str() == text);
        found.ok_or_else(|| format!("unknown purpose `{text}` of an outgoing message"))
    }
}

/// Something sent beside the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OutboundAttachment {
    /// A file that the tenant has; its bytes are read when it is sent.
    File { file: BlobId, name: String, media_type: String },
    /// Something to open.
    Link {
        url: String,
        #[serde(default)]
        title: String,
    },
    /// A text that a phone reads with its camera, such as `upi://pay?…`. Whoever sends it draws the code.
    Qr {
        text: String,
        #[serde(default)]
        title: String,
    },
}

/// A text that a provider keeps, with the values that go into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboundTemplate {
    /// What the provider calls it.
    pub name: String,
    pub language: LanguageCode,
    /// In the order of its placeholders.
    pub values: Vec<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::IdGenerator;
    use crate::tier::Channel;

    #[test]
    fn what_an_older_version_stored_is_a_plain_reply() {
        let id: MessageId = IdGenerator::system().next();
        let to = ReplyAddress::new(Channel::Whatsapp, "+919812345678".to_owned());
        let stored = json!({ "id": id, "to": { "channel": "whatsapp", "address": "+919812345678" }, "text": "Namaste",
                             "suggestions": [], "language": null });
        let read: OutboundMessage = serde_json::from_value(stored).unwrap();
        assert_eq!(read, OutboundMessage::new(id, to, "Namaste".to_owned()));
    }

    #[test]
    fn everything_that_is_sent_survives_being_stored() {
        let ids = IdGenerator::system();
        let to = ReplyAddress::new(Channel::Email, "meera@example.com".to_owned());
        let outbound = OutboundMessage {
            from: Some(ReplyAddress::new(Channel::Email, "shop@example.com".to_owned())),
            purpose: OutboundPurpose::Reminder,
            subject: Some("Your bill".to_owned()),
            attachments: vec![
                OutboundAttachment::File {
                    file: ids.next(),
                    name: "bill.pdf".to_owned(),
                    media_type: "application/pdf".to_owned(),
                },
                OutboundAttachment::Qr { text: "upi://pay?pa=a@b".to_owned(), title: String::new() },
            ],
            template: Some(OutboundTemplate {
                name: "bill_due".to_owned(),
                language: "hi".parse::<LanguageCode>().unwrap(),
                values: vec!["500".to_owned()],
            }),
            answers: Some("<1@example.com>".to_owned()),
            ..OutboundMessage::new(ids.next(), to, "₹500 is due.".to_owned())
        };
        let text = serde_json::to_string(&outbound).unwrap();
        assert_eq!(serde_json::from_str::<OutboundMessage>(&text).unwrap(), outbound);
        for purpose in OutboundPurpose::ALL {
            assert_eq!(purpose.as_str().parse(), Ok(purpose));
        }
    }
}
