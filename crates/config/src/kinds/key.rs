//! A key that is sent in a header and shown as dots.

use super::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;
use crate::secret::ConfigSecret;

/// Empty for none.
#[derive(Debug)]
pub enum SecretKeyKind {}

impl SettingKind for SecretKeyKind {
    type Value = ConfigSecret;

    fn expects() -> String {
        "the key as issued, in double quotes, or \"\" for none".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<ConfigSecret, SettingFault> {
        let text = raw.text()?.trim();
        if text.chars().all(|letter| letter.is_ascii_graphic()) {
            Ok(ConfigSecret::new(text.to_owned()))
        } else {
            Err(SettingFault::new("the key contains a space or an invalid character"))
        }
    }

    fn show(value: &ConfigSecret) -> RedactedSetting {
        RedactedSetting::Text(if value.reveal().is_empty() { String::new() } else { value.to_string() })
    }
}
