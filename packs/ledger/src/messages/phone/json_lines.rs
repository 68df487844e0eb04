//! Lines of JSON: `{"text":…,"sender"?:…,"at"?:…}`.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::{AT, KIND, PhoneBackupRow, PhoneSms, SENDER, TEXT, is_sent, timestamp};

pub(super) fn read(text: &str, zone: &TimeZone) -> Vec<PhoneBackupRow> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| PhoneBackupRow { number, message: message(line, zone) }).collect()
}

fn message(line: &str, zone: &TimeZone) -> Result<PhoneSms, String> {
    let object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| format!("this line is not a JSON object: {error}"))?;
    let named = |names: &[&str]| {
        let found = object.iter().find(|(key, _)| names.contains(&key.to_ascii_lowercase().as_str()));
        found.and_then(|(_, value)| to_text(value))
    };
    let text = named(TEXT).ok_or("it has no text: add it as \"text\"")?;
    let at = match named(AT) {
        Some(at) => Some(timestamp::parse(&at, zone).ok_or_else(|| format!("`{at}` is not a valid time"))?),
        None => None,
    };
    Ok(PhoneSms { text, sender: named(SENDER), at, is_sent: named(KIND).is_some_and(|kind| is_sent(&kind)) })
}

fn to_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
