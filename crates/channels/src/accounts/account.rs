//! One account as it is declared.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use munshi_safety::vault::SecretRef;
use munshi_types::tier::{Channel, TierName};
use serde::{Deserialize, Serialize};

use super::link_account::{KEYS_OF_LINKS, LinkAccount, refuse_keys};
use super::mail_account::{KEYS_OF_MAILS_TOO, MailAccount};

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
    /// The server that has the mailbox in which mails to us lie; without it none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imap_host: Option<String>,
    /// Without it 993 for `tls`, 143 else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imap_port: Option<u16>,
    /// Without it `tls`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imap_security: Option<MailSecurity>,
    /// Without it `login`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imap_login: Option<String>,
    /// Without it `password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imap_password: Option<SecretRef>,
    /// The mailbox's folder that is read; without it `INBOX`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What the server that takes mails for us calls itself where it says who it believes to have sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_server: Option<String>,
    /// The bindings that send by it; without them all of the tenant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<TierName>,
    /// What the provider takes of us in a minute, on each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<u16>,
    /// What the provider calls the account: a phone number's id, an app's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// What the provider calls whom the account belongs to, where it has a name for that: a business, a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<String>,
    /// Our number there, with its country code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// What requests to the provider prove themselves by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<SecretRef>,
    /// What the provider signs with what it tells us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretRef>,
    /// How it is heard of what happens; without it as the provider does it by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive: Option<ReceiveWay>,
    /// Where the provider's API is, if not where everybody's is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// What text messages must be registered as where the law asks for that, by what they are for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelAccountKind {
    Email,
    /// WhatsApp by its own Cloud API.
    Whatsapp,
    /// WhatsApp by Gupshup.
    Gupshup,
    Telegram,
    Slack,
    /// Microsoft Teams, by a bot.
    Teams,
    /// Text messages by Twilio, and by whoever has its API.
    Twilio,
    /// Text messages by MSG91.
    Msg91,
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
    Link(Box<LinkAccount>),
    Log,
}

/// How an account is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiveWay {
    /// The provider tells an address of ours.
    Webhook,
    /// The provider is asked, over and over.
    Poll,
    /// Not at all: it only sends.
    None,
}

impl ChannelAccountKind {
    pub const ALL: [Self; 9] = [
        Self::Email,
        Self::Whatsapp,
        Self::Gupshup,
        Self::Telegram,
        Self::Slack,
        Self::Teams,
        Self::Twilio,
        Self::Msg91,
        Self::Log,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Whatsapp => "whatsapp",
            Self::Gupshup => "gupshup",
            Self::Telegram => "telegram",
            Self::Slack => "slack",
            Self::Teams => "teams",
            Self::Twilio => "twilio",
            Self::Msg91 => "msg91",
            Self::Log => "log",
        }
    }

    /// The channel that its messages are of; none where they may be of any.
    pub const fn channel(self) -> Option<Channel> {
        match self {
            Self::Email => Some(Channel::Email),
            Self::Whatsapp | Self::Gupshup => Some(Channel::Whatsapp),
            Self::Telegram => Some(Channel::Telegram),
            Self::Slack => Some(Channel::Slack),
            Self::Teams => Some(Channel::Teams),
            Self::Twilio | Self::Msg91 => Some(Channel::Sms),
            Self::Log => None,
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

    /// The same of a server that has mailboxes.
    pub const fn default_imap_port(self) -> u16 {
        match self {
            Self::Tls => 993,
            Self::Starttls | Self::None => 143,
        }
    }
}

impl FromStr for ChannelAccountKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        let known = Self::ALL.map(Self::as_str).join(", ");
        found.ok_or_else(|| format!("unknown kind of channel `{text}`: use one of {known}"))
    }
}

impl ReceiveWay {
    pub const ALL: [Self; 3] = [Self::Webhook, Self::Poll, Self::None];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Poll => "poll",
            Self::None => "none",
        }
    }
}

impl FromStr for ReceiveWay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|way| way.as_str() == text);
        found.ok_or_else(|| format!("unknown way to receive `{text}`: use webhook, poll or none"))
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
            imap_host: None,
            imap_port: None,
            imap_security: None,
            imap_login: None,
            imap_password: None,
            folder: None,
            auth_server: None,
            bindings: Vec::new(),
            per_minute: None,
            account_id: None,
            owner_id: None,
            number: None,
            token: None,
            secret: None,
            receive: None,
            api_url: None,
            templates: BTreeMap::new(),
        }
    }

    /// Whether messages of a channel leave by it.
    pub fn serves(&self, channel: Channel) -> bool {
        self.kind.channel().is_none_or(|own| own == channel)
    }

    /// Whether its provider may have to be asked what is new. Whether it has to be, its link says: where we can be reached, providers may
    /// tell by themselves.
    pub fn may_be_asked(&self) -> bool {
        match self.kind {
            ChannelAccountKind::Telegram => self.receive != Some(ReceiveWay::None),
            ChannelAccountKind::Email => {
                self.imap_host.is_some() && self.receive.is_none_or(|way| way == ReceiveWay::Poll)
            }
            _ => self.receive == Some(ReceiveWay::Poll),
        }
    }

    /// What it sends with, or what is wrong with it.
    pub fn resolve_transport(&self) -> Result<ChannelTransport, String> {
        if self.per_minute == Some(0) {
            return Err("per_minute must be at least 1; leave it out for no limit".to_owned());
        }
        match self.kind {
            ChannelAccountKind::Email => {
                let foreign: Vec<&str> =
                    KEYS_OF_LINKS.into_iter().filter(|key| !KEYS_OF_MAILS_TOO.contains(key)).collect();
                refuse_keys(self, &foreign)?;
                MailAccount::parse(self).map(Box::new).map(ChannelTransport::Email)
            }
            ChannelAccountKind::Log => {
                let bare = Self { bindings: self.bindings.clone(), ..Self::new(self.kind) };
                match *self == bare {
                    true => Ok(ChannelTransport::Log),
                    false => Err("an account of kind log has no other key than bindings".to_owned()),
                }
            }
            _ => LinkAccount::parse(self).map(Box::new).map(ChannelTransport::Link),
        }
    }
}
