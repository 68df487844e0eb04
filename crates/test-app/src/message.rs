//! What somebody writes.

use munshi_types::tier::Channel;
use munshi_types::{InboundMessage, InboundSender, InboundTarget, PersonId};

/// A message of somebody who is known, in a web page.
pub fn build_message(to: InboundTarget, person: PersonId, outside_id: &str, text: &str) -> InboundMessage {
    InboundMessage {
        channel: Channel::Web,
        to,
        from: InboundSender { person: Some(person), ..InboundSender::default() },
        outside_id: outside_id.to_owned(),
        text: text.to_owned(),
        attached: Vec::new(),
        locale: None,
        sent_at: None,
        reply_to: None,
        screen: Default::default(),
    }
}

/// An address such as `handle:shop`.
pub fn parse_target(address: &str) -> InboundTarget {
    InboundTarget::Address(address.parse().unwrap())
}
