//! Tool results as a person reads them.

use munshi_lang::{Locale, PlaceholderValue, format};
use munshi_llm::chat::ToolResult;
use munshi_types::Money;
use serde_json::{Map, Value};

use crate::localized_phrasebook::LocalizedPhrasebook;
use crate::prepared_tools::{PreparedTool, PreparedToolSet, names_money};

/// Lines shown of a result that has no phrase.
const LINES: usize = 20;

/// A result in words, and whether they are a phrase made for it.
pub(crate) struct ResultWording {
    pub text: String,
    pub is_phrased: bool,
    pub is_failure: bool,
}

pub(crate) fn render_result(
    mouth: &LocalizedPhrasebook<'_>,
    palette: &PreparedToolSet,
    result: &ToolResult,
) -> ResultWording {
    let content = parse_content(&result.content);
    let is_rehearsal = content.get("rehearsal").is_some();
    let failed = result.is_error || content.get("ok") == Some(&Value::Bool(false));
    if failed {
        return ResultWording { text: apology(mouth, &content), is_phrased: true, is_failure: true };
    }
    let tool = palette.find(&result.name);
    if let Some(text) = tool.and_then(|tool| render_phrases(mouth, tool, &content)) {
        return ResultWording { text, is_phrased: !is_rehearsal, is_failure: false };
    }
    let text = lines(mouth, &content);
    match text.is_empty() {
        true => ResultWording { text: mouth.render_plain("done"), is_phrased: true, is_failure: false },
        false => ResultWording { text, is_phrased: false, is_failure: false },
    }
}

/// A result is JSON, or text. A prompt puts it in a fence, as one item of a list; what was shortened there can't be read
/// any more, and a fence is nothing for people.
fn parse_content(content: &str) -> Value {
    let fenced = content.strip_prefix('⟦').and_then(|rest| rest.split_once("⟧\n"));
    let Some((_, rest)) = fenced else {
        return serde_json::from_str(content).unwrap_or_else(|_| Value::from(content));
    };
    let item = rest.rsplit_once("⟦end ").map_or(rest, |(item, _)| item).trim();
    serde_json::from_str(item.strip_prefix("- ").unwrap_or(item)).unwrap_or_default()
}

/// What a tool said, within what is said about it.
fn data(content: &Value) -> Option<&Value> {
    content.get("data").or_else(|| content.get("result").filter(|_| content.get("ok").is_some()))
}

/// A kind word for a failure: its own phrase where the code or the suggestion names one.
fn apology(mouth: &LocalizedPhrasebook<'_>, content: &Value) -> String {
    let said = |name: &str| content.get(name).and_then(Value::as_str);
    let phrase = |name: &str| mouth.book.render(&name.replace('_', "-"), mouth.voice, &[]).ok();
    // Nothing goes by the name that was said: which one is the most useful thing to say.
    let not_found = |name: &str| {
        mouth.book.render("not-found", mouth.voice, &[("name", PlaceholderValue::Text(name))]).ok()
    };
    if let Some(text) = said("missing").and_then(not_found) {
        return text;
    }
    if let Some(text) = said("suggestion").and_then(phrase).or_else(|| said("code").and_then(phrase)) {
        return text;
    }
    let is_passing = content.get("retryable") == Some(&Value::Bool(true));
    mouth.render_plain(if is_passing { "error" } else { "stuck" })
}

/// The reply phrases, when the result fills all of their slots.
fn render_phrases(mouth: &LocalizedPhrasebook<'_>, tool: &PreparedTool, content: &Value) -> Option<String> {
    let object = data(content).and_then(Value::as_object).or_else(|| content.as_object());
    let empty = Map::new();
    let object = object.unwrap_or(&empty);
    let said: Option<Vec<String>> =
        list_reply_phrases(tool, object).into_iter().map(|name| render_filled(mouth, name, object)).collect();
    said.filter(|said| !said.is_empty()).map(|said| said.join(" "))
}

/// The phrases a result names in `reply`, one or several; else the one of the tool. A result names only phrases of its
/// tool's own pack.
fn list_reply_phrases<'r>(tool: &'r PreparedTool, object: &'r Map<String, Value>) -> Vec<&'r str> {
    let prefix = format!("{}-", tool.spec.module());
    let named: Vec<&str> = match object.get("reply") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if named.is_empty() || named.iter().any(|name| !name.starts_with(&prefix)) {
        return tool.spec.reply.as_deref().into_iter().collect();
    }
    named
}

fn render_filled(mouth: &LocalizedPhrasebook<'_>, name: &str, object: &Map<String, Value>) -> Option<String> {
    let slots = mouth.book.placeholders(name);
    let texts: Vec<(String, Slot)> = object
        .iter()
        .filter_map(|(name, value)| Some((name.replace('_', "-"), slot(name, value, mouth.voice)?)))
        .collect();
    let fills: Vec<(&str, PlaceholderValue<'_>)> = texts
        .iter()
        .filter(|(name, _)| slots.contains(name.as_str()))
        .map(|(name, slot)| (name.as_str(), slot.fill()))
        .collect();
    mouth.book.render(name, mouth.voice, &fills).ok()
}

/// What fills a slot, owned.
enum Slot {
    Text(String),
    Money(Money),
    Count(u64),
    Day(jiff::civil::Date),
}

impl Slot {
    fn fill(&self) -> PlaceholderValue<'_> {
        match self {
            Self::Text(text) => PlaceholderValue::Text(text),
            Self::Money(money) => PlaceholderValue::Money(*money),
            Self::Count(count) => PlaceholderValue::Count(*count),
            Self::Day(day) => PlaceholderValue::Day(*day),
        }
    }
}

fn slot(name: &str, value: &Value, voice: Locale) -> Option<Slot> {
    Some(match value {
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(paise), _) if names_money(name) => Slot::Money(Money::from_paise(paise)),
            (_, Some(count)) => Slot::Count(count),
            _ => Slot::Text(number.to_string()),
        },
        Value::String(text) => text.parse().map_or_else(|_| Slot::Text(text.clone()), Slot::Day),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| render_inline(item, voice)).collect();
            Slot::Text(format::list(&items, voice))
        }
        Value::Object(_) => Slot::Text(render_inline(value, voice)),
        Value::Bool(_) | Value::Null => return None,
    })
}

/// A result without a phrase, as plain lines.
fn lines(mouth: &LocalizedPhrasebook<'_>, content: &Value) -> String {
    let mut out: Vec<String> = Vec::new();
    match data(content).unwrap_or(content) {
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(name, _)| *name != "ok") {
                match value {
                    Value::Array(items) => {
                        out.push(format!("{}:", label(name)));
                        out.extend(
                            items.iter().map(|item| format!("• {}", render_inline(item, mouth.voice))),
                        );
                    }
                    value => out.extend(
                        render_value(name, value, mouth.voice).map(|text| format!("{}: {text}", label(name))),
                    ),
                }
            }
        }
        Value::Array(items) => {
            out.extend(items.iter().map(|item| format!("• {}", render_inline(item, mouth.voice))));
        }
        other => out.extend(render_value("", other, mouth.voice)),
    }
    if out.len() > LINES {
        out.truncate(LINES);
        out.push("…".to_owned());
    }
    out.join("\n")
}

/// One thing in one line: its values, one after another.
fn render_inline(value: &Value, voice: Locale) -> String {
    match value {
        Value::Object(fields) => {
            let parts: Vec<String> =
                fields.iter().filter_map(|(name, value)| render_value(name, value, voice)).collect();
            parts.join(", ")
        }
        Value::Array(items) => {
            items.iter().map(|item| render_inline(item, voice)).collect::<Vec<_>>().join(", ")
        }
        other => render_value("", other, voice).unwrap_or_default(),
    }
}

fn render_value(name: &str, value: &Value, voice: Locale) -> Option<String> {
    Some(match value {
        Value::Array(_) | Value::Object(_) => render_inline(value, voice),
        Value::Bool(is_so) => (if *is_so { "✓" } else { "✗" }).to_owned(),
        value => match slot(name, value, voice)? {
            Slot::Text(text) => text,
            Slot::Money(money) => format::rupees(money),
            Slot::Count(count) => format::group_digits(count),
            Slot::Day(day) => format::date(day, voice),
        },
    })
}

fn label(name: &str) -> String {
    name.replace(['_', '-'], " ")
}
