//! Addresses of other services. They may hold a password, so no message repeats what was written.

use super::{Fault, Home, Kind, Raw};
use crate::secret::{Secret, Url, has_scheme};
use crate::show::Shown;

/// A database; empty for the default one.
#[derive(Debug)]
pub enum StoreUrl {}

/// A Postgres database that is never shown, not even without its password; empty for none.
#[derive(Debug)]
pub enum SecretStoreUrl {}

/// An HTTP address; empty for none.
#[derive(Debug)]
pub enum Endpoint {}

/// What a server's paths are put behind. It holds no login and no query: those have keys of their own.
#[derive(Debug)]
pub enum BaseUrl {}

const POSTGRES: &[&str] = &["postgres://", "postgresql://"];
const HTTP: &[&str] = &["http://", "https://"];

impl Kind for StoreUrl {
    type Value = Option<Url>;

    fn expects() -> String {
        "\"sqlite:\" and a path, or \"postgres://user:password@host/database\"".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<Option<Url>, Fault> {
        let schemes = [&["sqlite:"], POSTGRES].concat();
        Ok(beginning_with(raw, &schemes, "sqlite: or postgres://")?.map(Url::new))
    }

    fn show(value: &Option<Url>) -> Shown {
        Shown::Text(value.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

impl Kind for SecretStoreUrl {
    type Value = Option<Secret>;

    fn expects() -> String {
        "\"postgres://user:password@host/database\"".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<Option<Secret>, Fault> {
        Ok(beginning_with(raw, POSTGRES, "postgres://")?.map(Secret::new))
    }

    fn show(value: &Option<Secret>) -> Shown {
        Shown::Text(value.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

impl Kind for Endpoint {
    type Value = Option<Url>;

    fn expects() -> String {
        "an address such as \"http://127.0.0.1:4318\"".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<Option<Url>, Fault> {
        Ok(beginning_with(raw, HTTP, "http:// or https://")?.map(Url::new))
    }

    fn show(value: &Option<Url>) -> Shown {
        Shown::Text(value.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

impl Kind for BaseUrl {
    type Value = String;

    fn expects() -> String {
        "an address such as \"https://api.example.com/v1\"".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<String, Fault> {
        let address = beginning_with(raw, HTTP, "http:// or https://")?;
        let address = address.ok_or_else(|| Fault::new("the address is empty"))?;
        if !address.chars().all(|letter| letter.is_ascii_graphic() && letter != '\\') {
            return Err(Fault::new("the address has a space or a sign in it that no address has"));
        }
        if address.contains('@') {
            return Err(Fault::new("the address holds a login").with_hint("write the key as `key` instead"));
        }
        if address.contains(['?', '#']) {
            let fault = Fault::new("the address goes on after its path");
            return Err(fault.with_hint("write what follows the `?` as `query` instead"));
        }
        if address.split('/').nth(2).is_none_or(|host| host.is_empty() || host.starts_with(':')) {
            return Err(Fault::new("the address names no host"));
        }
        Ok(address.trim_end_matches('/').to_owned())
    }

    fn show(value: &String) -> Shown {
        Shown::Text(value.clone())
    }
}

fn beginning_with(raw: &Raw, schemes: &[&str], in_words: &str) -> Result<Option<String>, Fault> {
    // Not `wrong_kind`: it repeats what a variable holds.
    let text = raw.text()?.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if !has_scheme(text, schemes) {
        return Err(Fault::new(format!("the address does not begin with {in_words}")));
    }
    if schemes.contains(&text) {
        return Err(Fault::new("the address names nothing after its beginning"));
    }
    Ok(Some(text.to_owned()))
}
