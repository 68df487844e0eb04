//! The address by which a message finds its binding.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What kind of address it is. The same text may lead to different bindings under different kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutingKeyKind {
    /// A telephone number that is written or called to.
    Number,
    /// A web host.
    Host,
    /// A public name.
    Handle,
    /// A model's name in the API.
    Model,
    /// An address that mails are written to.
    Mailbox,
}

impl RoutingKeyKind {
    pub const ALL: [Self; 5] = [Self::Number, Self::Host, Self::Handle, Self::Model, Self::Mailbox];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Host => "host",
            Self::Handle => "handle",
            Self::Model => "model",
            Self::Mailbox => "mailbox",
        }
    }

    /// What it looks like, for those who wrote it otherwise.
    pub const fn form(self) -> &'static str {
        match self {
            Self::Number => "a number with its country code, such as +919812345678",
            Self::Host => "a host without scheme or port, such as shop.example",
            Self::Handle => {
                "2 to 63 lowercase letters, digits, dots, hyphens and underscores, such as sharma"
            }
            Self::Model => "1 to 100 letters, digits and -._:/, such as sharma-counter",
            Self::Mailbox => "an address of an e-mail, such as shop@example.com",
        }
    }
}

impl fmt::Display for RoutingKeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RoutingKeyKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| {
            format!("unknown address kind `{text}`: use number, host, handle, model or mailbox")
        })
    }
}

/// An address in its one spelling: written as `number:+919812345678`, `host:shop.example`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoutingKey {
    kind: RoutingKeyKind,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid routing address: use {form}")]
pub struct RoutingKeyError {
    text: String,
    form: &'static str,
}

impl RoutingKey {
    /// Brings what a channel or a person wrote to the one spelling that is compared.
    pub fn new(kind: RoutingKeyKind, text: &str) -> Result<Self, RoutingKeyError> {
        let spelled = match kind {
            RoutingKeyKind::Number => normalize_number(text),
            RoutingKeyKind::Host => normalize_host(text),
            RoutingKeyKind::Handle => normalize_handle(text),
            RoutingKeyKind::Model => normalize_model(text),
            RoutingKeyKind::Mailbox => normalize_mailbox(text),
        };
        let text = spelled.ok_or_else(|| RoutingKeyError { text: text.to_owned(), form: kind.form() })?;
        Ok(Self { kind, text })
    }

    pub const fn kind(&self) -> RoutingKeyKind {
        self.kind
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// `+` and 8 to 15 digits. Spaces, dashes, dots and brackets between are left out.
fn normalize_number(text: &str) -> Option<String> {
    let rest = text.trim().strip_prefix('+')?;
    let is_filler = |c: char| matches!(c, ' ' | '-' | '.' | '(' | ')');
    let digits: String = rest.chars().filter(|c| !is_filler(*c)).collect();
    let fits = (8..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| format!("+{digits}"))
}

fn normalize_host(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('.').to_ascii_lowercase();
    let label = |part: &str| {
        (1..=63).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    (text.len() <= 253 && text.split('.').all(label)).then_some(text)
}

fn normalize_handle(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('@').to_ascii_lowercase();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let fits = (2..=63).contains(&text.len()) && text.bytes().all(plain);
    (fits && text.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(text)
}

fn normalize_model(text: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'/');
    let fits = (1..=100).contains(&text.len()) && text.bytes().all(plain);
    fits.then(|| text.to_owned())
}

/// In small letters: no provider tells two mailboxes apart by their case.
fn normalize_mailbox(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let (local, host) = text.rsplit_once('@')?;
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"<>()[],;:\\\"@".contains(c);
    let fits = (1..=64).contains(&local.len()) && local.chars().all(is_plain) && host.contains('.');
    let host = normalize_host(host).filter(|_| fits)?;
    Some(format!("{local}@{host}"))
}

impl fmt::Display for RoutingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.text)
    }
}

impl FromStr for RoutingKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let missing = || format!("`{text}` has no address kind: write it like number:+919812345678");
        let (kind, rest) = text.split_once(':').ok_or_else(missing)?;
        Self::new(kind.parse()?, rest).map_err(|error| error.to_string())
    }
}

impl TryFrom<String> for RoutingKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RoutingKey> for String {
    fn from(key: RoutingKey) -> Self {
        key.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(kind: RoutingKeyKind, text: &str) -> Option<String> {
        RoutingKey::new(kind, text).ok().map(|key| key.text)
    }

    #[test]
    fn one_address_has_one_spelling() {
        let good = [
            (RoutingKeyKind::Number, "+91 98123-45678", "+919812345678"),
            (RoutingKeyKind::Number, " +91 (98123) 45678", "+919812345678"),
            (RoutingKeyKind::Host, "Shop.Example.", "shop.example"),
            (RoutingKeyKind::Handle, "@Sharma", "sharma"),
            (RoutingKeyKind::Model, "Sharma/Counter:1", "Sharma/Counter:1"),
        ];
        for (kind, written, wanted) in good {
            assert_eq!(spelled(kind, written).as_deref(), Some(wanted), "{written}");
        }
        let bad = [
            (RoutingKeyKind::Number, "9812345678"),
            (RoutingKeyKind::Number, "+12ab45678"),
            (RoutingKeyKind::Host, "https://shop.example"),
            (RoutingKeyKind::Host, "shop.example:8400"),
            (RoutingKeyKind::Host, "a..b"),
            (RoutingKeyKind::Handle, "-x"),
            (RoutingKeyKind::Model, "two words"),
        ];
        for (kind, written) in bad {
            assert_eq!(spelled(kind, written), None, "{written}");
        }
    }

    #[test]
    fn a_key_reads_back() {
        for kind in RoutingKeyKind::ALL {
            let text = match kind {
                RoutingKeyKind::Number => "+919812345678",
                RoutingKeyKind::Mailbox => "shop@example.com",
                _ => "sharma",
            };
            let key = RoutingKey::new(kind, text).unwrap();
            assert_eq!(key.to_string().parse::<RoutingKey>().unwrap(), key);
        }
        assert!("sharma".parse::<RoutingKey>().is_err());
    }
}
