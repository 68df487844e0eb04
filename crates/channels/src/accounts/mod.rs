//! What a tenant's `channels.toml` says: which accounts there are at providers, and which bindings each is for.
//!
//! # Layout
//! - [`ChannelAccounts`], [`ChannelAccount`]: the file; `file`: reading and writing it
//! - [`ChannelTransport`], [`MailAccount`], [`LinkAccount`]: an account that was looked at, and is whole
//! - [`ChannelAccountName`]: what the tenant calls it

mod account;
mod file;
mod link_account;
mod mail_account;
mod name;

use std::collections::BTreeMap;

use munshi_types::tier::Channel;
use serde::{Deserialize, Serialize};

pub use account::{ChannelAccount, ChannelAccountKind, ChannelTransport, MailSecurity, ReceiveWay};
pub use file::{MOST, parse, parse_with_position, to_map, to_toml};
pub use link_account::LinkAccount;
pub use mail_account::{ImapMailbox, MailAccount, MailLogin};
pub use name::{ChannelAccountName, ChannelAccountNameError};

/// Every account of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChannelAccounts(pub BTreeMap<ChannelAccountName, ChannelAccount>);

impl ChannelAccounts {
    /// Whether any of them sends by this channel.
    pub fn serves(&self, channel: Channel) -> bool {
        self.0.values().any(|account| account.serves(channel))
    }
}
