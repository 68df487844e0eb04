//! A channel as it is shown.

use munshi_channels::accounts::{
    ChannelAccount, ChannelAccountKind, ChannelAccountName, ChannelTransport, ReceiveWay,
};
use munshi_channels::incoming::heard::AccountHearing;
use munshi_types::Timestamp;
use munshi_types::tier::TierName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An account by which messages leave and come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChannelAccount)]
pub struct ChannelView {
    #[schema(value_type = String)]
    pub name: ChannelAccountName,
    /// `email`, `whatsapp`, `gupshup`, `telegram`, `slack`, `teams`, `twilio` or `msg91`; or `log`, which only shows in the server's log what
    /// would leave.
    #[schema(value_type = String)]
    pub kind: ChannelAccountKind,
    /// Our address, number or id there; null where there is none.
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
    /// How it is heard: `webhook`, `poll` or `none`; null for kinds that only send.
    #[schema(value_type = Option<String>, example = "webhook")]
    pub receive: Option<ReceiveWay>,
    /// The address that the provider is to call; null where it calls none. What is secret of it is shown to those alone who may change
    /// channels.
    pub webhook: Option<String>,
    /// When something came by it last.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub heard_at: Option<Timestamp>,
    /// Why what came last could not be taken in; null where it could.
    pub fault: Option<String>,
}

impl ChannelView {
    pub(super) fn new(name: ChannelAccountName, account: &ChannelAccount, hearing: AccountHearing) -> Self {
        let transport = account.resolve_transport();
        let mail = match &transport {
            Ok(ChannelTransport::Email(mail)) => Some(mail),
            Ok(ChannelTransport::Link(_) | ChannelTransport::Log) | Err(_) => None,
        };
        let link = match &transport {
            Ok(ChannelTransport::Link(link)) => Some(link),
            Ok(ChannelTransport::Email(_) | ChannelTransport::Log) | Err(_) => None,
        };
        let known = |id: &String| (!id.is_empty()).then(|| id.clone());
        let own = link.and_then(|link| link.number.clone().or_else(|| known(&link.account_id)));
        Self {
            name,
            kind: account.kind,
            address: mail.map(|mail| mail.from.email.to_string()).or(own),
            server: mail.map(|mail| format!("{}:{} ({})", mail.host, mail.port, mail.security.as_str())),
            login: mail.and_then(|mail| mail.login.as_ref()).map(|login| login.name.clone()),
            bindings: account.bindings.clone(),
            per_minute: account.per_minute,
            receive: link.map(|link| link.receive).or_else(|| mail.map(|mail| mail.receive)),
            webhook: None,
            heard_at: hearing.heard_at,
            fault: hearing.fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_shown_how_a_mail_account_is_heard() {
        let given = ChannelAccount {
            host: Some("smtp.example.com".to_owned()),
            from: Some("shop@example.com".to_owned()),
            ..ChannelAccount::new(ChannelAccountKind::Email)
        };
        let handed = ChannelAccount { secret: Some("vault:words".parse().unwrap()), ..given.clone() };
        for (account, receive) in [(given, ReceiveWay::None), (handed, ReceiveWay::Webhook)] {
            let view = ChannelView::new("mail".parse().unwrap(), &account, AccountHearing::default());
            assert_eq!(view.receive, Some(receive));
        }
    }
}
