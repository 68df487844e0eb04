//! A key that is sent in a header and shown as dots.

use super::{Fault, Home, Kind, Raw};
use crate::secret::Secret;
use crate::show::Shown;

/// Empty for none.
#[derive(Debug)]
pub enum SecretKey {}

impl Kind for SecretKey {
    type Value = Secret;

    fn expects() -> String {
        "the key as the provider gave it, in double quotes, or \"\" for none".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<Secret, Fault> {
        let text = raw.text()?.trim();
        if text.chars().all(|letter| letter.is_ascii_graphic()) {
            Ok(Secret::new(text.to_owned()))
        } else {
            Err(Fault::new("the key has a space or a sign in it that no key has"))
        }
    }

    fn show(value: &Secret) -> Shown {
        Shown::Text(if value.reveal().is_empty() { String::new() } else { value.to_string() })
    }
}
