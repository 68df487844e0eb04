//! JSON values as TOML: the same value always has the same bytes.

use serde_json::{Map, Value};

/// A line that ends the front matter of a file, so no text may spread over one.
pub const FENCE: &str = "+++";
const WIDEST: usize = 100;

/// `[path]` or `[[path]]` as given, parted from what stands above it.
pub fn write_heading(heading: &str, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(heading);
    out.push('\n');
}

/// One line for each key, in the order of the keys.
pub fn write_entries<'a, K: AsRef<str>>(entries: impl IntoIterator<Item = (K, &'a Value)>, out: &mut String) {
    for (name, value) in entries {
        let line = format!("{} = ", render_key(name.as_ref()));
        out.push_str(&line);
        write_value(value, line.chars().count(), out);
        out.push('\n');
    }
}

/// The keys of `order` that `body` has, one line for each.
pub fn write_ordered(body: &Map<String, Value>, order: &[&str], out: &mut String) {
    write_entries(order.iter().filter_map(|key| Some((key, body.get(*key)?))), out);
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

/// A value on one line.
pub fn render_inline(value: &Value) -> String {
    match value {
        // TOML has no null, and no file has a key for one.
        Value::Null => "\"\"".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(render_inline).collect::<Vec<_>>().join(", "))
        }
        Value::Object(body) => {
            let mut pairs: Vec<(&String, &Value)> =
                body.iter().filter(|(_, value)| !value.is_null()).collect();
            // The id of a rule reads best in front.
            pairs.sort_by_key(|(name, _)| (*name != "id", *name));
            let pairs: Vec<String> = pairs
                .into_iter()
                .map(|(name, value)| format!("{} = {}", render_key(name), render_inline(value)))
                .collect();
            if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
        }
    }
}

/// A key as it is, or in quotes where TOML needs them.
pub fn render_key(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(plain) { name.to_owned() } else { quote(name) }
}

/// A text in double quotes, on one line.
pub fn quote(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_is_read_as_it_was_written(key in any::<String>(), text in any::<String>()) {
            let mut out = String::new();
            let body = Map::from_iter([(key, Value::String(text))]);
            write_entries(&body, &mut out);
            prop_assert_eq!(crate::read::<Map<String, Value>>(&out).unwrap(), body, "{}", out);
        }
    }

    #[test]
    fn wide_lists_have_a_line_for_each_value() {
        let mut out = String::new();
        let words = Value::from(vec!["x".repeat(60), "y".repeat(60)]);
        write_entries([("words", &words), ("one", &Value::from(vec!["z".repeat(120)]))], &mut out);
        let wanted = format!(
            "words = [\n  \"{}\",\n  \"{}\",\n]\none = [\"{}\"]\n",
            "x".repeat(60),
            "y".repeat(60),
            "z".repeat(120)
        );
        assert_eq!(out, wanted);
    }

    #[test]
    fn tables_on_one_line_begin_with_the_id() {
        let value = serde_json::json!({ "a b": 1, "id": "x", "gone": null, "more": {} });
        assert_eq!(render_inline(&value), "{ id = \"x\", \"a b\" = 1, more = {} }");
    }
}
