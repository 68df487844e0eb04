//! A body as TOML: the keys in their table's order, so that the same body always has the same bytes.

use serde_json::{Map, Value};

use super::{TierField, ValueShape};

/// A line that ends the front matter, so no text may spread over one.
pub(crate) const FENCE: &str = "+++";
const WIDEST: usize = 100;

/// Writes `body` without the key `skip`, which stands elsewhere.
pub(crate) fn render_toml(fields: &[TierField], body: &Map<String, Value>, skip: Option<&str>) -> String {
    let mut out = String::new();
    table(fields, body, skip, "", &mut out);
    out
}

/// Plain values first, then tables under their headings: TOML wants it so.
fn table(fields: &[TierField], body: &Map<String, Value>, skip: Option<&str>, path: &str, out: &mut String) {
    let known = || fields.iter().filter(|field| Some(field.name) != skip);
    for field in known().filter(|field| !has_heading(&field.shape)) {
        if let Some(value) = body.get(field.name) {
            let line = format!("{} = ", field.name);
            out.push_str(&line);
            write_value(value, line.chars().count(), out);
            out.push('\n');
        }
    }
    for field in known().filter(|field| has_heading(&field.shape)) {
        let Some(value) = body.get(field.name) else { continue };
        let path = if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
        match (&field.shape, value) {
            (ValueShape::Table(fields), Value::Object(inner)) => {
                heading(&format!("[{path}]"), out);
                table(fields, inner, None, &path, out);
            }
            (ValueShape::Map { .. }, Value::Object(inner)) => {
                heading(&format!("[{path}]"), out);
                entries(inner, out);
            }
            (ValueShape::List(ValueShape::Table(fields)), Value::Array(items)) if !items.is_empty() => {
                for inner in items.iter().filter_map(Value::as_object) {
                    heading(&format!("[[{path}]]"), out);
                    table(fields, inner, None, &path, out);
                }
            }
            (ValueShape::List(ValueShape::Free), Value::Array(items)) if !items.is_empty() => {
                for inner in items.iter().filter_map(Value::as_object) {
                    heading(&format!("[[{path}]]"), out);
                    entries(inner, out);
                }
            }
            _ => {}
        }
    }
}

fn has_heading(shape: &ValueShape) -> bool {
    matches!(
        shape,
        ValueShape::Table(_)
            | ValueShape::Map { .. }
            | ValueShape::List(ValueShape::Table(_) | ValueShape::Free)
    )
}

fn heading(text: &str, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
    out.push('\n');
}

fn entries(body: &Map<String, Value>, out: &mut String) {
    for (name, value) in body {
        let line = format!("{} = ", key(name));
        out.push_str(&line);
        write_value(value, line.chars().count(), out);
        out.push('\n');
    }
}

/// A value after its key. A list that would be too wide has a line for each of its values.
fn write_value(value: &Value, indent: usize, out: &mut String) {
    if let Value::String(text) = value
        && text.contains('\n')
        && !text.lines().any(|line| line.trim_end() == FENCE)
    {
        out.push_str(&quote_multiline(text));
        return;
    }
    let line = render_inline(value);
    match value {
        Value::Array(items) if indent + line.chars().count() > WIDEST && items.len() > 1 => {
            out.push_str("[\n");
            for item in items {
                out.push_str(&format!("  {},\n", render_inline(item)));
            }
            out.push(']');
        }
        _ => out.push_str(&line),
    }
}

fn render_inline(value: &Value) -> String {
    match value {
        // TOML has no null; none is ever in a body that was checked.
        Value::Null => "\"\"".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(render_inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(body) => {
            // The id of a rule reads best in front.
            let mut pairs: Vec<(&String, &Value)> = body.iter().collect();
            pairs.sort_by_key(|(name, _)| (*name != "id", *name));
            let pairs: Vec<String> = pairs
                .into_iter()
                .map(|(name, value)| format!("{} = {}", key(name), render_inline(value)))
                .collect();
            if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
        }
    }
}

fn key(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(plain) { name.to_owned() } else { quote(name) }
}

fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    text.chars().for_each(|letter| escape(letter, &mut out));
    out.push('"');
    out
}

/// Text of several lines, as it looks. TOML forgets the line's end right after the opening quotes.
fn quote_multiline(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str("\"\"\"\n");
    for letter in text.chars() {
        if letter == '\n' { out.push('\n') } else { escape(letter, &mut out) }
    }
    out.push_str("\"\"\"");
    out
}

fn escape(letter: char, out: &mut String) {
    match letter {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        control if control.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(control))),
        plain => out.push(plain),
    }
}
