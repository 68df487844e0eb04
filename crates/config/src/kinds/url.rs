//! Addresses of other services. They may hold a password, so no message repeats what was written.

use super::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;
use crate::secret::{ConfigSecret, RedactedUrl, has_scheme};

/// A database; empty for the default one.
#[derive(Debug)]
pub enum StoreUrlKind {}

/// A Postgres database that is never shown, not even without its password; empty for none.
#[derive(Debug)]
pub enum SecretStoreUrlKind {}

/// An HTTP address; empty for none.
#[derive(Debug)]
pub enum EndpointKind {}

/// What a server's paths are put behind. It holds no login and no query: those have keys of their own.
#[derive(Debug)]
pub enum BaseUrlKind {}

const POSTGRES: &[&str] = &["postgres://", "postgresql://"];
const HTTP: &[&str] = &["http://", "https://"];

impl SettingKind for StoreUrlKind {
    type Value = Option<RedactedUrl>;

    fn expects() -> String {
        "\"sqlite:\" and a path, or \"postgres://user:password@host/database\"".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Option<RedactedUrl>, SettingFault> {
        let schemes = [&["sqlite:"], POSTGRES].concat();
        Ok(parse_url(raw, &schemes, "sqlite: or postgres://")?.map(RedactedUrl::new))
    }

    fn show(value: &Option<RedactedUrl>) -> RedactedSetting {
        RedactedSetting::Text(value.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

impl SettingKind for SecretStoreUrlKind {
    type Value = Option<ConfigSecret>;

    fn expects() -> String {
        "\"postgres://user:password@host/database\"".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Option<ConfigSecret>, SettingFault> {
        Ok(parse_url(raw, POSTGRES, "postgres://")?.map(ConfigSecret::new))
    }

    fn show(value: &Option<ConfigSecret>) -> RedactedSetting {
        RedactedSetting::Text(value.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

impl SettingKind for EndpointKind {
    type Value = Option<RedactedUrl>;

    fn expects() -> String {
        "a URL such as \"http://127.0.0.1:4318\"".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Option<RedactedUrl>, SettingFault> {
        Ok(parse_url(raw, HTTP, "http:// or https://")?.map(RedactedUrl::new))
    }

    fn show(value: &Option<RedactedUrl>) -> RedactedSetting {
        RedactedSetting::Text(value.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

impl SettingKind for BaseUrlKind {
    type Value = String;

    fn expects() -> String {
        "a URL such as \"https://api.example.com/v1\"".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<String, SettingFault> {
        let address = parse_url(raw, HTTP, "http:// or https://")?;
        let address = address.ok_or_else(|| SettingFault::new("the URL is empty"))?;
        if !address.chars().all(|letter| letter.is_ascii_graphic() && letter != '\\') {
            return Err(SettingFault::new("the URL contains a space or an invalid character"));
        }
        if address.contains('@') {
            return Err(
                SettingFault::new("the URL contains credentials").with_hint("set the key as `key` instead")
            );
        }
        if address.contains(['?', '#']) {
            let fault = SettingFault::new("the URL has a query or a fragment");
            return Err(fault.with_hint("put what follows the `?` in `query`"));
        }
        if address.split('/').nth(2).is_none_or(|host| host.is_empty() || host.starts_with(':')) {
            return Err(SettingFault::new("the URL has no host"));
        }
        Ok(address.trim_end_matches('/').to_owned())
    }

    fn show(value: &String) -> RedactedSetting {
        RedactedSetting::Text(value.clone())
    }
}

fn parse_url(raw: &RawSetting, schemes: &[&str], in_words: &str) -> Result<Option<String>, SettingFault> {
    // Not `wrong_kind`: it repeats what a variable holds.
    let text = raw.text()?.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if !has_scheme(text, schemes) {
        return Err(SettingFault::new(format!("the URL does not start with {in_words}")));
    }
    if schemes.contains(&text) {
        return Err(SettingFault::new("the URL ends after its scheme"));
    }
    Ok(Some(text.to_owned()))
}
