//! An account at a mail server, whole and looked at.

use std::net::IpAddr;

use lettre::message::Mailbox;
use munshi_safety::vault::SecretRef;

use super::account::{ChannelAccount, MailSecurity};

/// A name has no more letters.
const LONGEST_HOST: usize = 253;
const LONGEST_LOGIN: usize = 320;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAccount {
    pub host: String,
    pub port: u16,
    pub security: MailSecurity,
    pub login: Option<MailLogin>,
    pub from: Mailbox,
    pub reply_to: Option<Mailbox>,
    pub per_minute: Option<u16>,
}

/// Who we are to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailLogin {
    pub name: String,
    pub password: SecretRef,
}

impl MailAccount {
    pub(super) fn parse(given: &ChannelAccount) -> Result<Self, String> {
        let host = given
            .host
            .as_deref()
            .ok_or("set host, the name of the mail server: host = \"smtp.example.com\"")?;
        check_host(host)?;
        let security = given.security.unwrap_or_default();
        if security == MailSecurity::None && !is_loopback(host) {
            return Err(format!(
                "security = \"none\" is only for a server on this machine; use starttls or tls for {host}"
            ));
        }
        let from = given
            .from
            .as_deref()
            .ok_or("set from, the address that mails come from: from = \"Shop <shop@example.com>\"")?;
        if given.port == Some(0) {
            return Err("port must be 1 to 65535".to_owned());
        }
        Ok(Self {
            host: host.to_owned(),
            port: given.port.unwrap_or(security.default_port()),
            security,
            login: parse_login(given)?,
            from: parse_mailbox("from", from)?,
            reply_to: given.reply_to.as_deref().map(|text| parse_mailbox("reply_to", text)).transpose()?,
            per_minute: given.per_minute,
        })
    }

    /// What stands behind the `@` of our address.
    pub fn domain(&self) -> &str {
        self.from.email.domain()
    }

    /// As somebody who looks for it would say it.
    pub fn describe(&self) -> String {
        format!("{} by {}:{} ({})", self.from.email, self.host, self.port, self.security.as_str())
    }
}

/// A host that is this machine itself, however it is written.
pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn check_host(host: &str) -> Result<(), String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_name = |text: &str| {
        !text.is_empty()
            && text.len() <= LONGEST_HOST
            && text.split('.').all(|label| {
                !label.is_empty()
                    && label.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
            })
    };
    match bare.parse::<IpAddr>().is_ok() || is_name(host) {
        true => Ok(()),
        false => Err(format!(
            "`{host}` is not a host: write its name alone, like smtp.example.com, and the port as port"
        )),
    }
}

fn parse_login(given: &ChannelAccount) -> Result<Option<MailLogin>, String> {
    match (&given.login, &given.password) {
        (None, None) => Ok(None),
        (Some(name), Some(_))
            if name.is_empty() || name.len() > LONGEST_LOGIN || name.chars().any(char::is_control) =>
        {
            Err("login must be the account's name, without control characters".to_owned())
        }
        (Some(name), Some(password)) => {
            Ok(Some(MailLogin { name: name.clone(), password: password.clone() }))
        }
        _ => Err("login and password go together: set both, or neither".to_owned()),
    }
}

fn parse_mailbox(key: &str, text: &str) -> Result<Mailbox, String> {
    let wrong = || format!("{key} must be an address, like shop@example.com or Shop <shop@example.com>");
    if text.chars().any(char::is_control) {
        return Err(wrong());
    }
    let mailbox: Mailbox = text.parse().map_err(|_| wrong())?;
    let domain = mailbox.email.domain();
    if !domain.is_ascii() {
        return Err(format!("write the domain of {key} as servers do, beginning with xn--"));
    }
    // Nobody can answer to any other.
    if domain.contains('.') || domain == "localhost" { Ok(mailbox) } else { Err(wrong()) }
}
