//! An account at a provider that is spoken to over HTTP, whole and looked at.

use std::collections::BTreeMap;

use munshi_safety::vault::SecretRef;
use munshi_types::tier::{RoutingKey, RoutingKeyKind};
use serde_json::{Map, Value};

use super::account::{ChannelAccount, ChannelAccountKind, ReceiveWay};

const LONGEST_ID: usize = 200;
const LONGEST_URL: usize = 300;
const MOST_TEMPLATES: usize = 50;

/// What only such accounts have.
pub(super) const KEYS_OF_LINKS: [&str; 8] =
    ["number", "account_id", "owner_id", "token", "secret", "receive", "api_url", "templates"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkAccount {
    pub kind: ChannelAccountKind,
    /// Empty where the kind has none.
    pub account_id: String,
    pub owner_id: Option<String>,
    /// With `+` and nothing between its digits.
    pub number: Option<String>,
    pub token: SecretRef,
    pub secret: Option<SecretRef>,
    pub receive: ReceiveWay,
    pub api_url: Option<String>,
    pub per_minute: Option<u16>,
    pub templates: BTreeMap<String, String>,
}

/// What a kind must say, with what to write where it does not; what it may say; how it is heard, the usual way first.
struct KindRules {
    needs: &'static [(&'static str, &'static str)],
    may: &'static [&'static str],
    receives: &'static [ReceiveWay],
}

const TOKEN: (&str, &str) = ("token", "its key in the vault: token = \"vault:NAME\"");

const fn rules_of(kind: ChannelAccountKind) -> KindRules {
    use ReceiveWay::{None, Poll, Webhook};
    match kind {
        ChannelAccountKind::Whatsapp => KindRules {
            needs: &[
                ("account_id", "the phone number's id in the app's page WhatsApp > API Setup"),
                TOKEN,
                ("secret", "the app's secret in the vault: secret = \"vault:NAME\""),
            ],
            may: &["number", "owner_id"],
            receives: &[Webhook, None],
        },
        ChannelAccountKind::Gupshup => KindRules {
            needs: &[
                ("account_id", "the app's name at Gupshup"),
                ("number", "our number: number = \"+919812345678\""),
                TOKEN,
            ],
            may: &["owner_id"],
            receives: &[Webhook, None],
        },
        ChannelAccountKind::Telegram => {
            KindRules { needs: &[TOKEN], may: &[], receives: &[Webhook, Poll, None] }
        }
        ChannelAccountKind::Slack => KindRules {
            needs: &[TOKEN, ("secret", "the app's signing secret in the vault: secret = \"vault:NAME\"")],
            may: &["owner_id"],
            receives: &[Webhook, None],
        },
        ChannelAccountKind::Teams => KindRules {
            needs: &[("account_id", "the bot's app id"), TOKEN],
            may: &["owner_id"],
            receives: &[Webhook, None],
        },
        ChannelAccountKind::Twilio => KindRules {
            needs: &[
                ("account_id", "the account's SID, which begins with AC"),
                TOKEN,
                ("number", "our number: number = \"+14155550100\""),
            ],
            may: &["owner_id", "secret"],
            receives: &[Webhook, None],
        },
        ChannelAccountKind::Msg91 => KindRules {
            needs: &[TOKEN, ("account_id", "the sender's id that is registered for the business")],
            may: &["number", "secret", "templates"],
            receives: &[Webhook, None],
        },
        ChannelAccountKind::Email | ChannelAccountKind::Log => {
            KindRules { needs: &[], may: &[], receives: &[None] }
        }
    }
}

impl LinkAccount {
    pub(super) fn parse(given: &ChannelAccount) -> Result<Self, String> {
        let rules = rules_of(given.kind);
        let written = written_keys(given)?;
        for (key, what) in rules.needs {
            if !written.contains_key(*key) {
                return Err(format!("set {key}, {what}"));
            }
        }
        let is_known = |key: &str| {
            ["kind", "bindings", "per_minute", "receive", "api_url"].contains(&key)
                || rules.may.contains(&key)
                || rules.needs.iter().any(|(needed, _)| *needed == key)
        };
        if let Some(key) = written.keys().find(|key| !is_known(key)) {
            return Err(format!("an account of kind {} has no key {key}", given.kind));
        }
        let [usual, ..] = rules.receives else { return Err("it can't be heard".to_owned()) };
        let receive = given.receive.unwrap_or(*usual);
        if !rules.receives.contains(&receive) {
            return Err(format!(
                "an account of kind {} can't be heard that way: leave receive out",
                given.kind
            ));
        }
        let Some(token) = given.token.clone() else { return Err(format!("set token, {}", TOKEN.1)) };
        Ok(Self {
            kind: given.kind,
            account_id: given
                .account_id
                .as_deref()
                .map(|id| parse_id("account_id", id))
                .transpose()?
                .unwrap_or_default(),
            owner_id: given.owner_id.as_deref().map(|id| parse_id("owner_id", id)).transpose()?,
            number: given.number.as_deref().map(parse_number).transpose()?,
            token,
            secret: given.secret.clone(),
            receive,
            api_url: given.api_url.as_deref().map(parse_api_url).transpose()?,
            per_minute: given.per_minute,
            templates: parse_templates(&given.templates)?,
        })
    }

    /// As somebody who looks for it would say it.
    pub fn describe(&self) -> String {
        match (&self.number, self.account_id.as_str()) {
            (Some(number), _) => number.clone(),
            (None, "") => self.kind.to_string(),
            (None, id) => id.to_owned(),
        }
    }
}

/// Refuses what another kind has.
pub(super) fn refuse_keys(given: &ChannelAccount, keys: &[&str]) -> Result<(), String> {
    let written = written_keys(given)?;
    match keys.iter().find(|key| written.contains_key(**key)) {
        Some(key) => Err(format!("an account of kind {} has no key {key}", given.kind)),
        None => Ok(()),
    }
}

fn written_keys(given: &ChannelAccount) -> Result<Map<String, Value>, String> {
    match serde_json::to_value(given) {
        Ok(Value::Object(written)) => Ok(written),
        Ok(_) => Err("an account must be a table".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// It stands in addresses and headers.
fn parse_id(key: &str, text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.: ".contains(c);
    let fits = !text.trim().is_empty() && text.len() <= LONGEST_ID && text.chars().all(is_plain);
    match fits {
        true => Ok(text.trim().to_owned()),
        false => Err(format!("{key} must be letters, digits, dots, hyphens and underscores")),
    }
}

fn parse_number(text: &str) -> Result<String, String> {
    let key = RoutingKey::new(RoutingKeyKind::Number, text);
    key.map(|key| key.text().to_owned())
        .map_err(|_| format!("number must be {}", RoutingKeyKind::Number.form()))
}

fn parse_api_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_plain = text.len() <= LONGEST_URL && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    match rest {
        Some(rest) if is_plain && !rest.is_empty() && !rest.contains(['@', '?', '#']) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err("api_url must be an address such as https://api.example.com".to_owned()),
    }
}

fn parse_templates(given: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    if given.len() > MOST_TEMPLATES {
        return Err(format!("at most {MOST_TEMPLATES} templates are allowed"));
    }
    given
        .iter()
        .map(|(name, id)| Ok((parse_id("a template's name", name)?, parse_id("a template", id)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::ChannelTransport;

    fn account(kind: ChannelAccountKind) -> ChannelAccount {
        ChannelAccount { token: Some("vault:token".parse().unwrap()), ..ChannelAccount::new(kind) }
    }

    fn refusal(given: &ChannelAccount) -> String {
        given.resolve_transport().unwrap_err()
    }

    #[test]
    fn what_is_missing_is_named_with_where_to_find_it() {
        let bare = ChannelAccount::new(ChannelAccountKind::Telegram);
        assert!(refusal(&bare).contains("set token"));
        let whatsapp =
            ChannelAccount { account_id: Some("1234".to_owned()), ..account(ChannelAccountKind::Whatsapp) };
        assert!(refusal(&whatsapp).contains("set secret"));
        let whole = ChannelAccount { secret: Some("vault:app".parse().unwrap()), ..whatsapp };
        let ChannelTransport::Link(link) = whole.resolve_transport().unwrap() else { panic!("no link") };
        assert_eq!((link.receive, link.account_id.as_str()), (ReceiveWay::Webhook, "1234"));
    }

    #[test]
    fn what_a_kind_has_not_is_refused() {
        let hosted = ChannelAccount {
            host: Some("smtp.example.com".to_owned()),
            ..account(ChannelAccountKind::Telegram)
        };
        assert!(refusal(&hosted).contains("has no key host"));
        let polled = ChannelAccount {
            secret: Some("vault:app".parse().unwrap()),
            receive: Some(ReceiveWay::Poll),
            ..account(ChannelAccountKind::Slack)
        };
        assert!(refusal(&polled).contains("leave receive out"));
        let mail = ChannelAccount {
            host: Some("smtp.example.com".to_owned()),
            from: Some("a@example.com".to_owned()),
            ..account(ChannelAccountKind::Email)
        };
        assert!(refusal(&mail).contains("has no key token"));
    }

    #[test]
    fn what_would_change_an_address_is_refused() {
        let telegram = account(ChannelAccountKind::Telegram);
        for url in ["ftp://a", "https://", "https://a@b", "https://a?b", "https://a b"] {
            let given = ChannelAccount { api_url: Some(url.to_owned()), ..telegram.clone() };
            assert!(refusal(&given).contains("api_url"), "{url}");
        }
        let teams =
            ChannelAccount { account_id: Some("../x".to_owned()), ..account(ChannelAccountKind::Teams) };
        assert!(refusal(&teams).contains("account_id"));
    }
}
