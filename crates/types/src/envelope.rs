//! One shape for what comes in, whatever the channel, and where an answer to it goes.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{MessageId, PersonId};
use crate::tenant::TenantName;
use crate::tier::{Channel, RoutingKey, TierName};

/// A message as it came. A channel makes it after it has checked the signature; nothing in it is trusted further than
/// the channel proved it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboundMessage {
    pub channel: Channel,
    /// What was written to; it leads to a binding.
    pub to: InboundTarget,
    pub from: InboundSender,
    /// The channel's own id of the message. The same id on the same channel of a binding is taken once, for ever.
    pub outside_id: String,
    pub text: String,
    #[serde(default)]
    pub attached: Vec<AttachedFile>,
    /// As the channel told it, such as `en-IN`.
    #[serde(default)]
    pub locale: Option<String>,
    /// When the channel says it was sent; never used for order.
    #[serde(default)]
    pub sent_at: Option<Timestamp>,
    /// Where an answer goes that nobody waits for; none where the person comes and looks.
    #[serde(default)]
    pub reply_to: Option<ReplyAddress>,
    /// What stood before the person when they wrote, as far as the client tells.
    #[serde(default)]
    pub screen: ClientScreen,
}

/// What a client has shown. A bare yes is an answer to that and to nothing newer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientScreen {
    /// The newest message it showed, or the one that was quoted. Without it only what was last answered to this very
    /// client counts as shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<MessageId>,
    /// Which program it is, where several may speak for one person on one channel: the id of its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The last reply with a question in it that a response has carried to the client; noted with its message afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<MessageId>,
}

impl ClientScreen {
    /// The command line, whose calls follow each other at one terminal: it is one client, whatever keys it makes.
    pub const COMMAND_LINE: &str = "command-line";
    /// What the names of the keys begin with that it makes for one question each.
    pub const COMMAND_LINE_KEYS: &str = "ask-";
}

/// What leads to a binding.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InboundTarget {
    Address(RoutingKey),
    /// By its name, for those who have proved that they may speak for the tenant.
    Binding {
        tenant: TenantName,
        binding: TierName,
    },
}

/// Who wrote, as the channel proved it. Everything may be missing: then it is somebody new each time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboundSender {
    /// Where the door knows already: a key, a sign-in.
    pub person: Option<PersonId>,
    /// A number the channel itself has verified.
    pub phone: Option<String>,
    pub email: Option<String>,
    pub handle: Option<String>,
    /// What the channel calls them: a visitor's id, a Telegram user's number.
    pub channel_id: Option<String>,
    /// What they call themselves; never an identity.
    pub name: Option<String>,
    /// Somebody else's server says that it is them: they have proved nothing themselves, so no consent of theirs comes so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_vouched: bool,
    /// Several people who read along write as one: what is said is answered as in public, and nothing that is known of anybody is told.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_group: bool,
    /// Which of a group it was, in a word that stands for them in this tenant alone: what one of them asked for, no other says yes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

/// Something beside the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedFile {
    /// `image/jpeg`, `audio/ogg`.
    pub media_type: String,
    pub name: Option<String>,
    /// Where it is kept: a URL or the channel's own reference.
    pub reference: String,
}

/// What the reference of a file begins with that could not be had; behind it, why.
const LOST: &str = "lost:";
/// Of why it could not be had, so much is kept.
const LONGEST_LOSS: usize = 300;

impl AttachedFile {
    /// Stands for a file that was sent and could not be had.
    pub fn lost(media_type: String, name: Option<String>, why: &str) -> Self {
        let why: String = why.chars().filter(|c| !c.is_control()).take(LONGEST_LOSS).collect();
        Self { media_type, name, reference: format!("{LOST}{why}") }
    }

    /// Why it could not be had; none for a file that is kept somewhere.
    pub fn find_loss(&self) -> Option<&str> {
        self.reference.strip_prefix(LOST)
    }
}

/// Where a message is sent: the channel's address of a person, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReplyAddress {
    pub channel: Channel,
    pub address: String,
    /// The tenant's account by which it was reached there; an answer leaves by the same. None where any may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// What an answer there hangs on, in the channel's own words, such as the mails that came before. It says nothing of who is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

impl ReplyAddress {
    /// Whoever it is, by whichever account the tenant has.
    pub fn new(channel: Channel, address: impl Into<String>) -> Self {
        Self { channel, address: address.into(), account: None, thread: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_needs_to_say_only_what_it_knows() {
        let inbound: InboundMessage = serde_json::from_value(serde_json::json!({
            "channel": "web", "to": { "address": "handle:sharma" }, "from": {}, "outside_id": "1", "text": "namaste",
        }))
        .unwrap();
        assert_eq!(inbound.from, InboundSender::default());
        let text = serde_json::to_string(&inbound).unwrap();
        assert_eq!(serde_json::from_str::<InboundMessage>(&text).unwrap(), inbound);
    }
}
