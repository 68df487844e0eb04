//! Names with values: headers and the parts of a query. The values may be secret, so no message repeats them.

use super::list::items;
use super::{HeaderNameKind, HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::secret::{ConfigSecret, DOTS};
use crate::show::RedactedSetting;

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
        "a list of texts such as [\"X-Team: shop\"]; in a variable, a line each".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Vec<NameValuePair>, SettingFault> {
        items(raw, "\n")?.iter().map(header).collect()
    }

    fn show(value: &Vec<NameValuePair>) -> RedactedSetting {
        RedactedSetting::List(value.iter().map(|pair| format!("{}: {DOTS}", pair.name)).collect())
    }
}

fn header(raw: &RawSetting) -> Result<NameValuePair, SettingFault> {
    let (name, value) = raw
        .text()?
        .split_once(':')
        .ok_or_else(|| SettingFault::new("a header has no colon after its name"))?;
    let (name, value) = (name.trim(), value.trim());
    if !HeaderNameKind::is(name) {
        return Err(SettingFault::new("a header's name has a sign in it that no header's name has"));
    }
    if value.is_empty() || !value.chars().all(|letter| letter == ' ' || letter.is_ascii_graphic()) {
        return Err(SettingFault::new("a header's value is empty, or has a sign in it that can't be sent"));
    }
    Ok(NameValuePair { name: name.to_owned(), value: ConfigSecret::new(value.to_owned()) })
}

impl SettingKind for QueryParametersKind {
    type Value = Vec<NameValuePair>;

    fn expects() -> String {
        "text such as \"api-version=2024-10-21\", with & between more than one, or \"\" for none".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Vec<NameValuePair>, SettingFault> {
        let text = raw.text()?.trim().trim_start_matches('?');
        text.split('&').filter(|part| !part.is_empty()).map(part).collect()
    }

    fn show(value: &Vec<NameValuePair>) -> RedactedSetting {
        let parts: Vec<String> = value.iter().map(|pair| format!("{}={DOTS}", pair.name)).collect();
        RedactedSetting::Text(parts.join("&"))
    }
}

fn part(text: &str) -> Result<NameValuePair, SettingFault> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok(NameValuePair {
            name: name.trim().to_owned(),
            value: ConfigSecret::new(value.trim().to_owned()),
        }),
        _ => Err(SettingFault::new("a part of the query has no name with an `=` after it")),
    }
}
