//! An account at a mail server, whole and looked at.

use std::net::IpAddr;

use lettre::message::Mailbox;
use munshi_safety::vault::SecretRef;

use super::account::{ChannelAccount, MailSecurity, ReceiveWay};

/// What accounts at HTTP providers have, and these may have, too.
pub(super) const KEYS_OF_MAILS_TOO: [&str; 2] = ["secret", "receive"];

/// A name has no more letters.
const LONGEST_HOST: usize = 253;
const LONGEST_LOGIN: usize = 320;
const LONGEST_FOLDER: usize = 200;
const USUAL_FOLDER: &str = "INBOX";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAccount {
    pub host: String,
    pub port: u16,
    pub security: MailSecurity,
    pub login: Option<MailLogin>,
    pub from: Mailbox,
    pub reply_to: Option<Mailbox>,
    pub per_minute: Option<u16>,
    /// How mails to us are heard of.
    pub receive: ReceiveWay,
    /// Where they lie; none where nobody is asked for them.
    pub mailbox: Option<ImapMailbox>,
    /// What the address is made with to which a provider hands mails.
    pub secret: Option<SecretRef>,
    /// In small letters: see [`ChannelAccount::auth_server`].
    pub auth_server: Option<String>,
}

/// A folder of mails at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImapMailbox {
    pub host: String,
    pub port: u16,
    pub security: MailSecurity,
    pub login: MailLogin,
    pub folder: String,
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
            receive: parse_receive(given)?,
            mailbox: ImapMailbox::parse(given)?,
            secret: given.secret.clone(),
            auth_server: given.auth_server.as_deref().map(parse_auth_server).transpose()?,
        })
    }

    /// Whether its server is asked for mails, over and over.
    pub fn listens(&self) -> bool {
        self.receive == ReceiveWay::Poll && self.mailbox.is_some()
    }

    /// Whether mails are heard of at all.
    pub fn hears(&self) -> bool {
        self.receive != ReceiveWay::None
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

impl ImapMailbox {
    fn parse(given: &ChannelAccount) -> Result<Option<Self>, String> {
        let Some(host) = given.imap_host.as_deref() else {
            let others = [
                given.imap_port.is_some(),
                given.imap_security.is_some(),
                given.imap_login.is_some(),
                given.imap_password.is_some(),
                given.folder.is_some(),
            ];
            return match others.contains(&true) {
                true => Err("set imap_host, the server that has the mailbox, too".to_owned()),
                false => Ok(None),
            };
        };
        check_host(host)?;
        let security = given.imap_security.unwrap_or(MailSecurity::Tls);
        if security == MailSecurity::None && !is_loopback(host) {
            return Err(format!(
                "imap_security = \"none\" is only for a server on this machine; use tls or starttls for {host}"
            ));
        }
        if given.imap_port == Some(0) {
            return Err("imap_port must be 1 to 65535".to_owned());
        }
        let own = ChannelAccount {
            login: given.imap_login.clone().or_else(|| given.login.clone()),
            password: given.imap_password.clone().or_else(|| given.password.clone()),
            ..given.clone()
        };
        let login = parse_login(&own)?.ok_or("set login and password, or imap_login and imap_password")?;
        let folder = given.folder.as_deref().unwrap_or(USUAL_FOLDER);
        let is_name = |c: char| c.is_ascii_graphic() || c == ' ';
        if folder.is_empty() || folder.len() > LONGEST_FOLDER || !folder.chars().all(is_name) {
            return Err("folder must be as the server names it, in Latin letters, such as INBOX".to_owned());
        }
        Ok(Some(Self {
            host: host.to_owned(),
            port: given.imap_port.unwrap_or(security.default_imap_port()),
            security,
            login,
            folder: folder.to_owned(),
        }))
    }
}

/// As it is declared; else as far as it can be heard.
fn parse_receive(given: &ChannelAccount) -> Result<ReceiveWay, String> {
    let usual = match (&given.imap_host, &given.secret) {
        (Some(_), _) => ReceiveWay::Poll,
        (None, Some(_)) => ReceiveWay::Webhook,
        (None, None) => ReceiveWay::None,
    };
    let receive = given.receive.unwrap_or(usual);
    match receive {
        ReceiveWay::Poll if given.imap_host.is_none() => {
            Err("set imap_host, the server that has the mailbox: imap_host = \"imap.example.com\"".to_owned())
        }
        ReceiveWay::Webhook if given.secret.is_none() => Err(
            "set secret, some random words in the vault by which the provider's address is made: secret = \"vault:NAME\""
                .to_owned(),
        ),
        receive => Ok(receive),
    }
}

fn parse_auth_server(text: &str) -> Result<String, String> {
    check_host(text).map_err(|_| {
        "auth_server must be the name that stands first in Authentication-Results, like mx.example.com"
            .to_owned()
    })?;
    Ok(text.to_ascii_lowercase())
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
