//! Names with values: headers and the parts of a query. The values may be secret, so no message repeats them.

use super::list::items;
use super::{HeaderNameKind, HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;
use crate::secret::{ConfigSecret, DOTS};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameValuePair {
    pub name: String,
    pub value: ConfigSecret,
}

/// `Name: value`, each a text of its own; in a variable, a line each.
#[derive(Debug)]
pub enum HeaderListKind {}

/// `name=value`, with `&` between.
#[derive(Debug)]
pub enum QueryParametersKind {}

impl SettingKind for HeaderListKind {
    type Value = Vec<NameValuePair>;

    fn expects() -> String {
        "a list of strings such as [\"X-Team: shop\"]; one per line in a variable".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Vec<NameValuePair>, SettingFault> {
        items(raw, "\n")?.iter().map(parse_header).collect()
    }

    fn show(value: &Vec<NameValuePair>) -> RedactedSetting {
        RedactedSetting::List(value.iter().map(|pair| format!("{}: {DOTS}", pair.name)).collect())
    }
}

fn parse_header(raw: &RawSetting) -> Result<NameValuePair, SettingFault> {
    let (name, value) = raw
        .text()?
        .split_once(':')
        .ok_or_else(|| SettingFault::new("a header has no colon after its name"))?;
    let (name, value) = (name.trim(), value.trim());
    if !HeaderNameKind::is_valid(name) {
        return Err(SettingFault::new("a header's name contains an invalid character"));
    }
    if value.is_empty() || !value.chars().all(|letter| letter == ' ' || letter.is_ascii_graphic()) {
        return Err(SettingFault::new("a header's value is empty or contains an invalid character"));
    }
    Ok(NameValuePair { name: name.to_owned(), value: ConfigSecret::new(value.to_owned()) })
}

impl SettingKind for QueryParametersKind {
    type Value = Vec<NameValuePair>;

    fn expects() -> String {
        "text such as \"api-version=2024-10-21\", separated by &, or \"\" for none".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Vec<NameValuePair>, SettingFault> {
        let text = raw.text()?.trim().trim_start_matches('?');
        text.split('&').filter(|part| !part.is_empty()).map(parse_parameter).collect()
    }

    fn show(value: &Vec<NameValuePair>) -> RedactedSetting {
        let parts: Vec<String> = value.iter().map(|pair| format!("{}={DOTS}", pair.name)).collect();
        RedactedSetting::Text(parts.join("&"))
    }
}

fn parse_parameter(text: &str) -> Result<NameValuePair, SettingFault> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok(NameValuePair {
            name: name.trim().to_owned(),
            value: ConfigSecret::new(value.trim().to_owned()),
        }),
        _ => Err(SettingFault::new("a query parameter has no `name=`")),
    }
}
