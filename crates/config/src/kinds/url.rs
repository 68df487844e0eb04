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

const POSTGRES: &[&str] = &["postgres://", "postgresql://"];

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
        Ok(beginning_with(raw, &["http://", "https://"], "http:// or https://")?.map(Url::new))
    }

    fn show(value: &Option<Url>) -> Shown {
        Shown::Text(value.as_ref().map(ToString::to_string).unwrap_or_default())
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
