//! An act in plain words, for the person who is asked about it.

use munshi_types::ToolSpec;
use serde_json::Value;

/// Longer values are cut: the whole is in the arguments beside it.
const LONGEST: usize = 200;

/// What the tool does, in its own first sentence, and with what.
pub(super) fn plain(spec: &ToolSpec, arguments: &Value) -> String {
    let what = spec.description.split_inclusive(['.', '।']).next().unwrap_or_default().trim();
    let what = if what.is_empty() { spec.name.as_str() } else { what };
    let mut words = format!("{} ({})", what.trim_end_matches(['.', '।']), spec.name);
    let given = arguments.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    for (position, (name, value)) in given.enumerate() {
        words.push_str(if position == 0 { ": " } else { "; " });
        words.push_str(&seen(&name.replace('_', " ")));
        words.push(' ');
        words.push_str(&shown(value));
    }
    words
}

/// Without line breaks and control characters, so that no value can pass for something else on the page.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => format!("“{text}”"),
        other => other.to_string(),
    };
    seen(&text)
}

fn seen(text: &str) -> String {
    let mut clean: String = text.chars().map(|c| if is_unseen(c) { ' ' } else { c }).collect();
    if let Some((cut, _)) = clean.char_indices().nth(LONGEST) {
        clean.truncate(cut);
        clean.push('…');
    }
    clean
}

fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_act_reads_as_a_sentence_and_can_not_break_the_page() {
        let spec = ToolSpec::read(
            "log_sale".parse().unwrap(),
            "Writes a sale down. Use it when…",
            "ledger.sale.add",
        );
        assert_eq!(
            plain(&spec, &json!({ "amount": 12000, "name": "Raju\n\u{202e}granted", "note": null })),
            "Writes a sale down (log_sale): amount 12000; name “Raju  granted”"
        );
        let forged = plain(&spec, &json!({ "a\n\u{202e}b\u{e0041}": 1 }));
        assert_eq!(forged, "Writes a sale down (log_sale): a  b  1");
        let long = plain(&spec, &json!({ "note": "क".repeat(5000) }));
        assert!(long.chars().count() < 300 && long.ends_with('…'), "{long}");
    }
}
