//! Fields in JSON: a table in the file, or JSON as text.

use serde_json::{Map, Number, Value};
use toml::de::DeValue;

use super::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;

#[derive(Debug)]
pub enum JsonTableKind {}

impl SettingKind for JsonTableKind {
    type Value = Map<String, Value>;

    fn expects() -> String {
        "a table such as { service_tier = \"auto\" }, or the same as JSON in quotes".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Map<String, Value>, SettingFault> {
        match raw {
            RawSetting::Table(table) => return Ok(table.clone()),
            RawSetting::Other(found) => return Err(SettingFault::new(format!("this is {found}"))),
            _ => {}
        }
        let text = raw.text().map_err(|_| raw.wrong_kind("a table"))?.trim();
        if text.is_empty() {
            return Ok(Map::new());
        }
        // The parser's own words may quote the value; its position says enough.
        serde_json::from_str(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => SettingFault::new("this is JSON, but not an object"),
            _ => SettingFault::new(format!("invalid JSON at character {}", error.column())),
        })
    }

    fn show(value: &Map<String, Value>) -> RedactedSetting {
        RedactedSetting::Text(if value.is_empty() {
            String::new()
        } else {
            Value::Object(value.clone()).to_string()
        })
    }
}

/// The same value in JSON, which has no dates, no infinity and no numbers beyond 64 bits.
pub(super) fn from_toml(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::String(text.clone().into_owned()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok()?.into(),
        DeValue::Float(number) => Value::Number(Number::from_f64(number.as_str().parse().ok()?)?),
        DeValue::Datetime(_) => return None,
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| from_toml(item.get_ref())).collect::<Option<_>>()?)
        }
        DeValue::Table(table) => {
            let fields = table
                .iter()
                .map(|(name, value)| Some((name.get_ref().to_string(), from_toml(value.get_ref())?)));
            Value::Object(fields.collect::<Option<_>>()?)
        }
    })
}
