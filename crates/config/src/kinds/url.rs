//! Addresses of other services. They may hold a password, so no message repeats what was written.

use super::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::secret::{ConfigSecret, RedactedUrl, has_scheme};
use crate::show::RedactedSetting;

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
        Ok(beginning_with(raw, &schemes, "sqlite: or postgres://")?.map(RedactedUrl::new))
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
        Ok(beginning_with(raw, POSTGRES, "postgres://")?.map(ConfigSecret::new))
    }

    fn show(value: &Option<ConfigSecret>) -> RedactedSetting {
        RedactedSetting::Text(value.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

impl SettingKind for EndpointKind {
    type Value = Option<RedactedUrl>;

    fn expects() -> String {
        "an address such as \"http://127.0.0.1:4318\"".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Option<RedactedUrl>, SettingFault> {
        Ok(beginning_with(raw, HTTP, "http:// or https://")?.map(RedactedUrl::new))
    }

    fn show(value: &Option<RedactedUrl>) -> RedactedSetting {
        RedactedSetting::Text(value.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

impl SettingKind for BaseUrlKind {
    type Value = String;

    fn expects() -> String {
        "an address such as \"https://api.example.com/v1\"".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<String, SettingFault> {
        let address = beginning_with(raw, HTTP, "http:// or https://")?;
        let address = address.ok_or_else(|| SettingFault::new("the address is empty"))?;
        if !address.chars().all(|letter| letter.is_ascii_graphic() && letter != '\\') {
            return Err(SettingFault::new("the address has a space or a sign in it that no address has"));
        }
        if address.contains('@') {
            return Err(
                SettingFault::new("the address holds a login").with_hint("write the key as `key` instead")
            );
        }
        if address.contains(['?', '#']) {
            let fault = SettingFault::new("the address goes on after its path");
            return Err(fault.with_hint("write what follows the `?` as `query` instead"));
        }
        if address.split('/').nth(2).is_none_or(|host| host.is_empty() || host.starts_with(':')) {
            return Err(SettingFault::new("the address names no host"));
        }
        Ok(address.trim_end_matches('/').to_owned())
    }

    fn show(value: &String) -> RedactedSetting {
        RedactedSetting::Text(value.clone())
    }
}

fn beginning_with(
    raw: &RawSetting,
    schemes: &[&str],
    in_words: &str,
) -> Result<Option<String>, SettingFault> {
    // Not `wrong_kind`: it repeats what a variable holds.
    let text = raw.text()?.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if !has_scheme(text, schemes) {
        return Err(SettingFault::new(format!("the address does not begin with {in_words}")));
    }
    if schemes.contains(&text) {
        return Err(SettingFault::new("the address names nothing after its beginning"));
    }
    Ok(Some(text.to_owned()))
}
