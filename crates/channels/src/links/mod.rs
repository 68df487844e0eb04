//! The providers, a folder each.

mod file_stream;
mod gupshup;
pub(crate) mod json;
mod msg91;
mod slack;
mod sms;
mod teams;
mod telegram;
mod twilio;
mod whatsapp;

use std::sync::Arc;

use crate::accounts::ChannelAccountKind;
use crate::link::{ChannelLink, LinkParts};

/// What an account of a kind is spoken to by.
pub(crate) fn build(kind: ChannelAccountKind, parts: LinkParts) -> Option<Arc<dyn ChannelLink>> {
    Some(match kind {
        ChannelAccountKind::Whatsapp => Arc::new(whatsapp::WhatsappLink::new(parts)),
        ChannelAccountKind::Gupshup => Arc::new(gupshup::GupshupLink::new(parts)),
        ChannelAccountKind::Telegram => Arc::new(telegram::SharedTelegramLink::new(parts)),
        ChannelAccountKind::Slack => Arc::new(slack::SlackLink::new(parts)),
        ChannelAccountKind::Teams => Arc::new(teams::TeamsLink::new(parts)),
        ChannelAccountKind::Twilio => Arc::new(twilio::TwilioLink::new(parts)),
        ChannelAccountKind::Msg91 => Arc::new(msg91::Msg91Link::new(parts)),
        ChannelAccountKind::Email | ChannelAccountKind::Log => return None,
    })
}
