//! Plain text: any, a single word, the name of a header.

use munshi_toml::QuotedValue;

use super::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;

/// It must say something.
#[derive(Debug)]
pub enum TextKind {}

/// Empty says that there is to be none, whatever a preset has.
#[derive(Debug)]
pub enum OptionalTextKind {}

/// Small letters, digits, dashes and underscores, as names and places are written.
#[derive(Debug)]
pub enum SlugKind {}

#[derive(Debug)]
pub enum HeaderNameKind {}

impl SettingKind for TextKind {
    type Value = String;

    fn expects() -> String {
        "text, in double quotes".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<String, SettingFault> {
        let text = raw.text()?.trim();
        if text.is_empty() { Err(SettingFault::new("the text is empty")) } else { Ok(text.to_owned()) }
    }

    fn show(value: &String) -> RedactedSetting {
        RedactedSetting::Text(value.clone())
    }
}

impl SettingKind for OptionalTextKind {
    type Value = String;

    fn expects() -> String {
        "text, in double quotes, or \"\" for none".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<String, SettingFault> {
        Ok(raw.text()?.trim().to_owned())
    }

    fn show(value: &String) -> RedactedSetting {
        RedactedSetting::Text(value.clone())
    }
}

impl SettingKind for SlugKind {
    type Value = String;

    fn expects() -> String {
        "a word of lowercase letters, digits, dashes and underscores, such as \"in\"".to_owned()
    }

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<String, SettingFault> {
        let text = TextKind::read(raw, home)?;
        let fits =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
        if text.chars().all(fits) {
            return Ok(text);
        }
        Err(SettingFault::new(format!(
            "{} is not a word of lowercase letters, digits, dashes and underscores",
            QuotedValue(&text)
        )))
    }

    fn show(value: &String) -> RedactedSetting {
        RedactedSetting::Text(value.clone())
    }
}

impl SettingKind for HeaderNameKind {
    type Value = String;

    fn expects() -> String {
        "\"documented\" for the API format's own header, \"bearer\", or the header's name, such as \"api-key\""
            .to_owned()
    }

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<String, SettingFault> {
        let text = TextKind::read(raw, home)?.to_lowercase();
        if Self::is_valid(&text) {
            return Ok(text);
        }
        // It may be a key that was written in the wrong place, so it is not repeated.
        Err(SettingFault::new("the header's name contains an invalid character"))
    }

    fn show(value: &String) -> RedactedSetting {
        RedactedSetting::Text(value.clone())
    }
}

impl HeaderNameKind {
    pub(super) fn is_valid(text: &str) -> bool {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
        !text.is_empty() && text.chars().all(fits)
    }
}
