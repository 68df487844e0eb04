//! How a person is reached, in the one spelling that is compared.

use std::fmt;

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactAddressKind {
    Phone,
    Email,
    Handle,
    /// A channel's own id for somebody, written `channel:id`.
    Channel,
}

impl ContactAddressKind {
    pub const ALL: [Self; 4] = [Self::Phone, Self::Email, Self::Handle, Self::Channel];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Phone => "phone",
            Self::Email => "email",
            Self::Handle => "handle",
            Self::Channel => "channel",
        }
    }
}

/// The channel whose ids prove nothing: a browser keeps them.
pub(crate) const VISITORS: &str = "web";

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ContactAddress {
    kind: ContactAddressKind,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid {} `{text}`: use {expected}", .kind.as_str())]
pub struct ContactAddressError {
    kind: ContactAddressKind,
    text: String,
    expected: &'static str,
}

impl ContactAddress {
    /// A number with its country code. Ten digits that begin as Indian mobiles do are taken for one.
    pub fn phone(text: &str) -> Result<Self, ContactAddressError> {
        let kind = ContactAddressKind::Phone;
        let expected = "a number with its country code, such as +919812345678";
        let bad = || ContactAddressError { kind, text: text.to_owned(), expected };
        let clean: String = text.chars().filter(|c| !matches!(c, ' ' | '-' | '(' | ')' | '.')).collect();
        let digits = clean.strip_prefix('+').or_else(|| clean.strip_prefix("00")).unwrap_or(&clean);
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(bad());
        }
        let national = digits.strip_prefix('0').unwrap_or(digits);
        let indian = clean.len() == digits.len() && national.len() == 10 && national >= "6";
        let full = if indian { format!("+91{national}") } else { format!("+{digits}") };
        let fits = (9..=16).contains(&full.len()) && !full.starts_with("+0");
        if fits { Ok(Self { kind, text: full }) } else { Err(bad()) }
    }

    pub fn email(text: &str) -> Result<Self, ContactAddressError> {
        let kind = ContactAddressKind::Email;
        let folded = text.trim().to_lowercase();
        let fits = folded.len() <= 254
            && !folded.chars().any(|c| c.is_whitespace() || c.is_control())
            && folded.split_once('@').is_some_and(|(name, host)| {
                !name.is_empty() && host.contains('.') && !host.contains('@') && !host.starts_with('.')
            });
        let expected = "an address such as meera@shop.example";
        if fits {
            Ok(Self { kind, text: folded })
        } else {
            Err(ContactAddressError { kind, text: text.to_owned(), expected })
        }
    }

    /// The mailbox behind an e-mail, which most providers deliver to alike: that of `meera+7@shop.example` is `meera@shop.example`. Any
    /// other address is its own.
    pub(crate) fn mailbox(&self) -> Self {
        let is_email = self.kind == ContactAddressKind::Email;
        let parts = self.text.split_once('@').filter(|_| is_email);
        let parts = parts.and_then(|(name, host)| Some((name.split_once('+')?.0, host)));
        match parts {
            Some((name, host)) if !name.is_empty() => {
                Self { kind: self.kind, text: format!("{name}@{host}") }
            }
            _ => self.clone(),
        }
    }

    pub fn handle(text: &str) -> Result<Self, ContactAddressError> {
        let kind = ContactAddressKind::Handle;
        let folded = text.trim().trim_start_matches('@').to_lowercase();
        let fits = (1..=64).contains(&folded.len())
            && folded.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        let expected = "at most 64 lowercase letters, digits, dots, dashes and underscores";
        if fits {
            Ok(Self { kind, text: folded })
        } else {
            Err(ContactAddressError { kind, text: text.to_owned(), expected })
        }
    }

    /// What a channel calls somebody: `telegram` and `8812345`.
    pub fn channel(channel: &str, id: &str) -> Result<Self, ContactAddressError> {
        let kind = ContactAddressKind::Channel;
        let text = format!("{channel}:{id}");
        let fits = !channel.is_empty()
            && !channel.contains(':')
            && (1..=200).contains(&id.len())
            && !text.chars().any(|c| c.is_whitespace() || c.is_control());
        let expected = "the channel, a colon and the channel's id for the person";
        if fits { Ok(Self { kind, text }) } else { Err(ContactAddressError { kind, text, expected }) }
    }

    /// A browser that comes again: `web` and the id it was given. The id must be too long to guess, since whoever has it
    /// is taken for that visitor.
    pub fn visitor(id: &str) -> Result<Self, ContactAddressError> {
        Self::channel(VISITORS, id)
    }

    /// Whether it is only a browser's. Every other address was proved by its channel, by a code or by an operator.
    pub fn is_visitor(&self) -> bool {
        self.kind == ContactAddressKind::Channel
            && self.text.split_once(':').is_some_and(|(channel, _)| channel == VISITORS)
    }

    /// As the store keeps it: it was checked when it came in.
    pub(crate) fn from_stored(kind: &str, text: String) -> Option<Self> {
        let kind = ContactAddressKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
        Some(Self { kind, text })
    }

    pub fn kind(&self) -> ContactAddressKind {
        self.kind
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for ContactAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_has_one_spelling() {
        for same in ["+91 98123 45678", "9812345678", "098123-45678", "0091 9812345678", "+919812345678"] {
            assert_eq!(ContactAddress::phone(same).unwrap().as_str(), "+919812345678", "{same}");
        }
        assert_eq!(ContactAddress::phone("+1 (415) 555-0100").unwrap().as_str(), "+14155550100");
        for bad in ["", "12", "call me", "+9198123456789012345", "+0123456789", "98123x5678"] {
            assert!(ContactAddress::phone(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn other_addresses_are_folded_and_checked() {
        assert_eq!(ContactAddress::email(" Meera@Shop.Example ").unwrap().as_str(), "meera@shop.example");
        assert!(ContactAddress::email("meera@shop").is_err() && ContactAddress::email("a@b@c.d").is_err());
        assert_eq!(ContactAddress::handle("@Sharma").unwrap().as_str(), "sharma");
        assert!(ContactAddress::handle("शर्मा").is_err());
        assert_eq!(ContactAddress::channel("telegram", "88").unwrap().as_str(), "telegram:88");
        assert!(ContactAddress::channel("telegram", "8 8").is_err());
        assert!(ContactAddress::channel("tele:gram", "88").is_err(), "it would read as another channel's");
        assert!(ContactAddress::visitor("x1").unwrap().is_visitor());
        for proved in [
            ContactAddress::channel("webex", "web:1"),
            ContactAddress::handle("web"),
            ContactAddress::email("web:a@b.c"),
        ] {
            assert!(!proved.unwrap().is_visitor());
        }
    }
}
