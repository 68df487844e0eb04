//! A channel as it is shown.

use munshi_channels::accounts::{ChannelAccount, ChannelAccountKind, ChannelAccountName, ChannelTransport};
use munshi_types::tier::TierName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An account by which messages leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChannelAccount)]
pub struct ChannelView {
    #[schema(value_type = String)]
    pub name: ChannelAccountName,
    /// `email`, or `log`, which only shows in the server's log what would leave.
    #[schema(value_type = String)]
    pub kind: ChannelAccountKind,
    /// Our address; null where there is none.
    pub address: Option<String>,
    /// The server that takes the messages, and how the way to it is encrypted; null where there is none.
    pub server: Option<String>,
    /// The account's name there; null where nobody logs in.
    pub login: Option<String>,
    /// The bindings that send by it; empty for all.
    #[schema(value_type = Vec<String>)]
    pub bindings: Vec<TierName>,
    /// What a node sends by it in a minute; null for no limit.
    pub per_minute: Option<u16>,
}

impl ChannelView {
    pub(super) fn new(name: ChannelAccountName, account: &ChannelAccount) -> Self {
        let transport = account.resolve_transport();
        let mail = match &transport {
            Ok(ChannelTransport::Email(mail)) => Some(mail),
            Ok(ChannelTransport::Log) | Err(_) => None,
        };
        Self {
            name,
            kind: account.kind,
            address: mail.map(|mail| mail.from.email.to_string()),
            server: mail.map(|mail| format!("{}:{} ({})", mail.host, mail.port, mail.security.as_str())),
            login: mail.and_then(|mail| mail.login.as_ref()).map(|login| login.name.clone()),
            bindings: account.bindings.clone(),
            per_minute: account.per_minute,
        }
    }
}
