//! One log line, as JSON or for a terminal.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};
use tracing::Level;

/// What a line says, in the order it says it.
#[derive(Debug, Serialize)]
pub(super) struct LogLineRecord<'a> {
    pub ts: String,
    pub level: &'static str,
    pub service: &'a str,
    pub target: &'a str,
    pub message: String,
    /// `request_id`, `tenant`: known from the spans around.
    #[serde(flatten)]
    pub carried: Map<String, Value>,
    /// From the outermost in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

pub(super) fn level_name(level: &Level) -> &'static str {
    match *level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

impl LogLineRecord<'_> {
    pub(super) fn to_json(&self) -> String {
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// `2026-11-15T02:17:41.123456Z INFO  http.home.show request answered status=200 request_id=…`
    pub(super) fn to_pretty(&self, paint: LogLineColour) -> String {
        let mut text = String::new();
        let level = self.level.to_uppercase();
        let place = self.spans.last().map_or(self.target, String::as_str);
        let (dim, bright, reset) = paint.codes(self.level);
        // Writing to a string can't fail.
        let _ = write!(text, "{dim}{}{reset} {bright}{level:<5}{reset} {dim}", self.ts);
        escape(&mut text, place);
        let _ = write!(text, "{reset} ");
        escape(&mut text, &self.message);
        for (name, value) in self.fields.iter().chain(&self.carried) {
            let _ = write!(text, " {dim}{name}={reset}");
            match value {
                Value::String(words) => escape(&mut text, words),
                other => escape(&mut text, &other.to_string()),
            }
        }
        text.push('\n');
        text
    }
}

/// Line breaks and terminal codes inside a value must not act on the reader's terminal.
fn escape(text: &mut String, words: &str) {
    for c in words.chars() {
        if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogLineColour {
    Plain,
    Colour,
}

impl LogLineColour {
    fn codes(self, level: &str) -> (&'static str, &'static str, &'static str) {
        let bright = match level {
            _ if self == Self::Plain => return ("", "", ""),
            "error" => "\x1b[31m",
            "warn" => "\x1b[33m",
            "info" => "\x1b[32m",
            _ => "\x1b[34m",
        };
        ("\x1b[2m", bright, "\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(message: &str) -> LogLineRecord<'_> {
        let map = |value: Value| value.as_object().cloned().unwrap();
        LogLineRecord {
            ts: "2026-11-15T02:17:41Z".to_owned(),
            level: "warn",
            service: "munshi",
            target: "munshi_server",
            message: message.to_owned(),
            carried: map(json!({"request_id": "r1"})),
            spans: vec!["http.home.show".to_owned()],
            fields: map(json!({"status": 200, "who": "a\nb\u{1b}[2J"})),
        }
    }

    #[test]
    fn json_is_one_line_in_a_fixed_order() {
        assert_eq!(
            line("two\nlines").to_json(),
            concat!(
                r#"{"ts":"2026-11-15T02:17:41Z","level":"warn","service":"munshi","target":"munshi_server","#,
                r#""message":"two\nlines","request_id":"r1","spans":["http.home.show"],"#,
                r#""fields":{"status":200,"who":"a\nb\u001b[2J"}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn pretty_is_one_line_that_can_not_drive_a_terminal() {
        let text = line("two\nlines").to_pretty(LogLineColour::Plain);
        assert_eq!(
            text,
            "2026-11-15T02:17:41Z WARN  http.home.show two\\nlines status=200 who=a\\nb\\u{1b}[2J request_id=r1\n"
        );
        assert!(line("x").to_pretty(LogLineColour::Colour).contains("\x1b[33mWARN"));
    }
}
