//! What a tenant's `channels.toml` says: which accounts there are at providers, and which bindings each is for.
//!
//! # Layout
//! - [`ChannelAccounts`], [`ChannelAccount`]: the file; `file`: reading and writing it
//! - [`ChannelTransport`], [`MailAccount`]: an account that was looked at, and is whole
//! - [`ChannelAccountName`]: what the tenant calls it

mod account;
mod file;
mod mail_account;
mod name;

use std::collections::BTreeMap;

use munshi_types::tier::Channel;
use serde::{Deserialize, Serialize};

pub use account::{ChannelAccount, ChannelAccountKind, ChannelTransport, MailSecurity};
pub use file::{MOST, parse, parse_with_position, to_map, to_toml};
pub use mail_account::{MailAccount, MailLogin};
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
