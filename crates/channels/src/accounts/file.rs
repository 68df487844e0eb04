//! `channels.toml` as people write it.

use munshi_toml::TomlError;
use munshi_toml::writer::{write_heading, write_ordered};
use serde_json::{Map, Value};

use super::ChannelAccounts;
use crate::error::{Error, Result};

/// Nobody needs more.
pub const MOST: usize = 32;

/// In the order in which somebody reads them.
const KEYS: [&str; 25] = [
    "kind",
    "host",
    "port",
    "security",
    "login",
    "password",
    "from",
    "reply_to",
    "imap_host",
    "imap_port",
    "imap_security",
    "imap_login",
    "imap_password",
    "folder",
    "auth_server",
    "number",
    "account_id",
    "owner_id",
    "token",
    "secret",
    "receive",
    "api_url",
    "bindings",
    "per_minute",
    "templates",
];

/// Reads the file, or says what is wrong with it and where.
pub fn parse_with_position(text: &str) -> std::result::Result<ChannelAccounts, TomlError> {
    let declared: ChannelAccounts = munshi_toml::read(text)?;
    if declared.0.len() > MOST {
        return Err(TomlError::new(text, 0, &format!("at most {MOST} channels are allowed")));
    }
    for (name, account) in &declared.0 {
        if let Err(what) = account.resolve_transport() {
            let at = text.find(&format!("[{name}]")).unwrap_or(0);
            return Err(TomlError::new(text, at, &format!("channel {name}: {what}")));
        }
    }
    Ok(declared)
}

/// The same for a text that is no file: the place stands in the words.
pub fn parse(text: &str) -> Result<ChannelAccounts> {
    parse_with_position(text)
        .map_err(|slip| Error::Invalid(format!("channels.toml:{}: {}", slip.position.line, slip.what)))
}

/// Without what is so anyway.
pub fn to_map(declared: &ChannelAccounts) -> Result<Map<String, Value>> {
    match serde_json::to_value(declared) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(Error::Invalid("channels must be a table".to_owned())),
        Err(error) => Err(Error::Invalid(error.to_string())),
    }
}

pub fn to_toml(declared: &ChannelAccounts) -> Result<String> {
    let mut out = String::new();
    for (name, account) in to_map(declared)? {
        write_heading(&format!("[{name}]"), &mut out);
        if let Some(account) = account.as_object() {
            write_ordered(account, &KEYS, &mut out);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::accounts::{ChannelAccountKind, ChannelTransport, MailSecurity};

    const FILE: &str = r#"
[mail]
kind = "email"
host = "smtp.example.com"
login = "shop@example.com"
password = "vault:mail.password"
from = "Sharma Traders <shop@example.com>"
bindings = ["shop"]
per_minute = 30

[trial]
kind = "log"
"#;

    #[test]
    fn a_file_is_read_and_written_as_it_was() {
        let declared = parse_with_position(FILE).unwrap();
        let ChannelTransport::Email(mail) = declared.0[&"mail".parse().unwrap()].resolve_transport().unwrap()
        else {
            panic!("not a mail account");
        };
        assert_eq!((mail.port, mail.security, mail.domain()), (587, MailSecurity::Starttls, "example.com"));
        assert_eq!(mail.login.unwrap().password.to_string(), "vault:mail.password");
        assert_eq!(declared.0[&"trial".parse().unwrap()].kind, ChannelAccountKind::Log);
        let text = to_toml(&declared).unwrap();
        assert_eq!(parse_with_position(&text).unwrap(), declared, "{text}");
        assert!(text.find("kind").unwrap() < text.find("host").unwrap(), "{text}");
    }

    #[test]
    fn every_key_is_written() {
        let full = FILE.replace(
            "kind = \"email\"\n",
            "kind = \"email\"\nport = 25\nsecurity = \"tls\"\nreply_to = \"a@example.com\"\n\
             imap_host = \"imap.example.com\"\nimap_port = 143\nimap_security = \"starttls\"\nimap_login = \"b\"\n\
             imap_password = \"vault:imap\"\nfolder = \"Support\"\nauth_server = \"mx.example.com\"\n",
        );
        let link = "[sms]\nkind = \"msg91\"\nnumber = \"+919812345678\"\naccount_id = \"SHARMA\"\n\
                    token = \"vault:sms\"\nreceive = \"none\"\napi_url = \"https://sms.example\"\n\
                    templates = { code = \"1207\" }\n\n\
                    [app]\nkind = \"whatsapp\"\naccount_id = \"1\"\nowner_id = \"2\"\ntoken = \"vault:a\"\nsecret = \"vault:b\"\n";
        let declared = parse_with_position(&format!("{full}\n{link}")).unwrap();
        let written = to_map(&declared).unwrap();
        let keys: BTreeSet<&String> =
            written.values().flat_map(|of| of.as_object().unwrap().keys()).collect();
        assert_eq!(keys.len(), KEYS.len(), "{keys:?}");
        assert!(keys.iter().all(|key| KEYS.contains(&key.as_str())), "{keys:?}");
        let again = parse_with_position(&to_toml(&declared).unwrap()).unwrap();
        assert_eq!(again, declared);
    }

    #[test]
    fn what_can_not_be_is_named_with_its_place() {
        let mail = |more: &str| format!("\n[mail]\nkind = \"email\"\n{more}");
        let from = "from = \"shop@example.com\"\n";
        for (text, line, words) in [
            (mail(""), 2, "set host"),
            (mail("host = \"smtp.example.com\"\n"), 2, "set from"),
            (mail(&format!("host = \"smtp.example.com:25\"\n{from}")), 2, "as port"),
            (mail(&format!("host = \"smtp.example.com\"\nsecurity = \"none\"\n{from}")), 2, "this machine"),
            (mail("host = \"smtp.example.com\"\nfrom = \"shop\"\n"), 2, "must be an address"),
            (
                mail("host = \"smtp.example.com\"\nfrom = \"a@b.example\\nBcc: c@d.example\"\n"),
                2,
                "must be an address",
            ),
            (mail(&format!("host = \"smtp.example.com\"\nlogin = \"shop\"\n{from}")), 2, "go together"),
            (
                mail(&format!("host = \"smtp.example.com\"\nlogin = \"shop\"\npassword = \"open\"\n{from}")),
                6,
                "vault:",
            ),
            (mail(&format!("host = \"smtp.example.com\"\nper_minute = 0\n{from}")), 2, "at least 1"),
            (
                mail(&format!("host = \"smtp.example.com\"\nimap_host = \"imap.example.com\"\n{from}")),
                2,
                "set login",
            ),
            (mail(&format!("host = \"smtp.example.com\"\nfolder = \"Support\"\n{from}")), 2, "set imap_host"),
            (mail(&format!("host = \"smtp.example.com\"\nreceive = \"webhook\"\n{from}")), 2, "set secret"),
            (mail(&format!("host = \"smtp.example.com\"\nreceive = \"poll\"\n{from}")), 2, "set imap_host"),
            (mail("hots = \"x\"\n"), 4, "hots"),
            ("[Mail]\nkind = \"log\"\n".to_owned(), 1, "channel name"),
            ("[trial]\nkind = \"log\"\nhost = \"x\"\n".to_owned(), 1, "no other key"),
            ("[trial]\nkind = \"fax\"\n".to_owned(), 2, "fax"),
        ] {
            let slip = parse_with_position(&text).unwrap_err();
            assert!(slip.what.contains(words) && slip.position.line == line, "{text}: {slip:?}");
        }
    }

    #[test]
    fn mail_to_this_machine_may_go_without_tls() {
        for host in ["localhost", "127.0.0.1", "[::1]", "::1"] {
            let text = format!(
                "[mail]\nkind = \"email\"\nhost = \"{host}\"\nsecurity = \"none\"\nfrom = \"a@b.example\"\n"
            );
            assert!(parse_with_position(&text).is_ok(), "{host}");
        }
    }
}
