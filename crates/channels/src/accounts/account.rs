//! One account as it is declared.

use std::fmt;
use std::str::FromStr;

use munshi_safety::vault::SecretRef;
use munshi_types::tier::{Channel, TierName};
use serde::{Deserialize, Serialize};

use super::mail_account::MailAccount;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelAccount {
    pub kind: ChannelAccountKind,
    /// The server that takes our mails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Without it 465 for `tls`, 587 for `starttls` and 25 for `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Without it `starttls`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<MailSecurity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Always by its name in the vault: the file is shown to whoever may change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<SecretRef>,
    /// Our address with our name: `Sharma Traders <shop@example.com>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Where answers go, if not to `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The bindings that send by it; without them all of the tenant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<TierName>,
    /// What the provider takes of us in a minute, on each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelAccountKind {
    Email,
    /// Shows in the server's log what would leave, on whichever channel, and sends nothing.
    Log,
}

/// How the way to a mail server is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailSecurity {
    /// From the first byte.
    Tls,
    /// Once the server has greeted, and before anything is said of us. A server that can't is not used.
    #[default]
    Starttls,
    /// Not at all: only to this machine itself.
    None,
}

/// What an account sends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelTransport {
    Email(Box<MailAccount>),
    Log,
}

impl ChannelAccountKind {
    pub const ALL: [Self; 2] = [Self::Email, Self::Log];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Log => "log",
        }
    }
}

impl fmt::Display for ChannelAccountKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl MailSecurity {
    pub const ALL: [Self; 3] = [Self::Tls, Self::Starttls, Self::None];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::Starttls => "starttls",
            Self::None => "none",
        }
    }

    pub const fn default_port(self) -> u16 {
        match self {
            Self::Tls => 465,
            Self::Starttls => 587,
            Self::None => 25,
        }
    }
}

impl FromStr for ChannelAccountKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| format!("unknown kind of channel `{text}`: use email or log"))
    }
}

impl FromStr for MailSecurity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|security| security.as_str() == text);
        found.ok_or_else(|| format!("unknown security `{text}`: use tls, starttls or none"))
    }
}

impl ChannelAccount {
    /// One of a kind, with nothing else said of it.
    pub fn new(kind: ChannelAccountKind) -> Self {
        Self {
            kind,
            host: None,
            port: None,
            security: None,
            login: None,
            password: None,
            from: None,
            reply_to: None,
            bindings: Vec::new(),
            per_minute: None,
        }
    }

    /// Whether messages of a channel leave by it.
    pub fn serves(&self, channel: Channel) -> bool {
        match self.kind {
            ChannelAccountKind::Email => channel == Channel::Email,
            ChannelAccountKind::Log => true,
        }
    }

    /// What it sends with, or what is wrong with it.
    pub fn resolve_transport(&self) -> Result<ChannelTransport, String> {
        if self.per_minute == Some(0) {
            return Err("per_minute must be at least 1; leave it out for no limit".to_owned());
        }
        match self.kind {
            ChannelAccountKind::Email => MailAccount::parse(self).map(Box::new).map(ChannelTransport::Email),
            ChannelAccountKind::Log => {
                let bare = Self { bindings: self.bindings.clone(), ..Self::new(self.kind) };
                match *self == bare {
                    true => Ok(ChannelTransport::Log),
                    false => Err("an account of kind log has no other key than bindings".to_owned()),
                }
            }
        }
    }
}
