//! An act in plain words, for the person who is asked about it.

use munshi_lang::format::rupees;
use munshi_types::{Money, ToolSpec, is_invisible};
use serde_json::Value;

use crate::pipeline::ConsentQuestion;

/// Longer values are cut: the whole is in the arguments beside it.
const LONGEST: usize = 200;

/// What the tool does, in its own first sentence, and with what.
pub fn describe_call(spec: &ToolSpec, arguments: &Value) -> String {
    let what = spec.description.split_inclusive(['.', '।']).next().unwrap_or_default().trim();
    let what = if what.is_empty() { spec.name.as_str() } else { what };
    let mut words = format!("{} ({})", what.trim_end_matches(['.', '।']), spec.name);
    let given = arguments.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    for (position, (name, value)) in given.enumerate() {
        words.push_str(if position == 0 { ": " } else { "; " });
        words.push_str(&render_name(name));
        words.push(' ');
        words.push_str(&render_money(spec, name, value).unwrap_or_else(|| render_value(value)));
    }
    words
}

/// What somebody is asked: the words of the purpose, to the letter, and what they are for now.
pub(super) fn describe_question(question: &ConsentQuestion, spec: &ToolSpec, arguments: &Value) -> String {
    let act = describe_call(spec, arguments);
    match &question.purpose {
        None => act,
        Some(purpose) => format!("{}\n{act}", purpose.words),
    }
}

/// Money as people write it, where the tool says that an argument counts paise.
fn render_money(spec: &ToolSpec, name: &str, value: &Value) -> Option<String> {
    let format = spec.parameters.get("properties")?.get(name)?.get("format")?;
    (format == "money").then(|| value.as_i64().map(|paise| rupees(Money::from_paise(paise)))).flatten()
}

/// A name with signs in it could read as more than one, so it stands in quotes as a value does.
fn render_name(name: &str) -> String {
    if name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        make_visible(&name.replace('_', " "))
    } else {
        quote(name)
    }
}

fn render_value(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        other => make_visible(&other.to_string()),
    }
}

/// In quotes that only end where the value ends, also where it is cut.
fn quote(text: &str) -> String {
    let mut quoted = String::from("“");
    for letter in make_visible(text).chars() {
        if matches!(letter, '“' | '”' | '\\') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted.push('”');
    quoted
}

/// Without line breaks and what can't be seen, so that no value can pass for something else on the page.
fn make_visible(text: &str) -> String {
    let mut clean: String = text.chars().map(|c| if is_invisible(c) { ' ' } else { c }).collect();
    if let Some((cut, _)) = clean.char_indices().nth(LONGEST) {
        clean.truncate(cut);
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_act_reads_as_a_sentence_and_can_not_break_the_page() {
        let spec = ToolSpec::read_only(
            "log_sale".parse().unwrap(),
            "Writes a sale down. Use it when…",
            "ledger.sale.add",
        );
        assert_eq!(
            describe_call(&spec, &json!({ "amount": 12000, "name": "Raju\n\u{202e}granted", "note": null })),
            "Writes a sale down (log_sale): amount 12000; name “Raju  granted”"
        );
        let mut priced = spec.clone();
        priced.parameters =
            json!({ "type": "object", "properties": { "amount": { "type": "integer", "format": "money" } } });
        let words = describe_call(&priced, &json!({ "amount": 1_234_500, "count": 1_234_500 }));
        assert_eq!(words, "Writes a sale down (log_sale): amount ₹12,345; count 1234500");
        let forged = describe_call(&spec, &json!({ "a\n\u{202e}b\u{e0041}": 1 }));
        assert_eq!(forged, "Writes a sale down (log_sale): “a  b ” 1");
        for (arguments, words) in [
            (json!({ "name": "Raju”; amount 5" }), "name “Raju\\”; amount 5”"),
            (json!({ "name": "Raju\\”; amount 5" }), "name “Raju\\\\\\”; amount 5”"),
            (json!({ "amount 5; to": "me" }), "“amount 5; to” “me”"),
            (json!({ "list": ["x\"]; amount 5"] }), r#"list ["x\"]; amount 5"]"#),
        ] {
            assert_eq!(describe_call(&spec, &arguments), format!("Writes a sale down (log_sale): {words}"));
        }
        let long = describe_call(&spec, &json!({ "note": "क".repeat(5000) }));
        assert!(long.chars().count() < 300 && long.ends_with("…”"), "{long}");
    }
}
