//! What an act would do, in the words of whoever is asked about it.
//!
//! A tool has phrases by which people ask for it; filled with what the act has, they say in a person's own language what a
//! yes is for. What `safety` says of it in plain words is English and shows values as the tool takes them.

use std::cmp::Reverse;

use munshi_lang::{Language, Locale, ScriptForm, fold, format};
use munshi_types::{Money, ToolSpec, is_invisible};
use serde_json::Value;

/// Longer values are cut: all of them stand beside the question.
const LONGEST: usize = 200;

/// The act as the tool's own phrase, with every value that was given. None where no phrase in this language and script
/// says as much without a gap: then the plain words are what there is.
pub fn render(spec: &ToolSpec, arguments: &Value, voice: Locale) -> Option<String> {
    let given: Vec<(&str, &Value)> =
        arguments.as_object()?.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let given: Vec<(&str, &Value)> = given.into_iter().filter(|(_, value)| !value.is_null()).collect();
    let is_given = |name: &str| given.iter().any(|(known, _)| *known == name);
    let phrases = spec.phrases.get(&voice.language)?.iter();
    let fitting =
        phrases.filter(|phrase| is_in_script(phrase, voice) && list_placeholders(phrase).all(is_given));
    // The first of equals: authors put the best first.
    let (_, phrase) =
        fitting.enumerate().max_by_key(|(at, phrase)| (list_placeholders(phrase).count(), Reverse(*at)))?;
    let value = |name: &str| {
        let (_, value) = given.iter().find(|(known, _)| *known == name)?;
        Some(render_value(spec, name, value, voice))
    };
    let unsaid = given.iter().filter(|(name, _)| !list_placeholders(phrase).any(|said| said == *name));
    let unsaid = unsaid.filter_map(|(name, _)| value(name));
    let said = std::iter::once(fill_placeholders(phrase, value)).chain(unsaid);
    Some(said.collect::<Vec<_>>().join(", "))
}

fn is_in_script(phrase: &str, voice: Locale) -> bool {
    let form = if phrase.chars().any(fold::is_indic) { ScriptForm::Native } else { ScriptForm::Latin };
    voice.language == Language::English || form == voice.form
}

/// What the gaps of a phrase are called.
fn list_placeholders(phrase: &str) -> impl Iterator<Item = &str> {
    phrase.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

fn fill_placeholders<'v>(phrase: &str, value: impl Fn(&str) -> Option<String> + 'v) -> String {
    let mut out = String::with_capacity(phrase.len());
    let mut rest = phrase;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&value(name).unwrap_or_default());
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A value as people read it: money in rupees, days by their names, nothing that hides or breaks a line.
fn render_value(spec: &ToolSpec, name: &str, value: &Value, voice: Locale) -> String {
    let is_money = spec.parameters["properties"][name]["format"] == "money";
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(paise) if is_money => format::rupees(Money::from_paise(paise)),
            _ => number.as_u64().map_or_else(|| number.to_string(), format::group_digits),
        },
        Value::String(text) => {
            text.parse().map_or_else(|_| sanitise_text(text), |day| format::date(day, voice))
        }
        other => sanitise_text(&other.to_string()),
    }
}

fn sanitise_text(text: &str) -> String {
    let clean = text.chars().map(|c| if is_invisible(c) || c.is_control() { ' ' } else { c });
    let cut: String = clean.take(LONGEST).collect();
    if text.chars().count() > LONGEST { format!("{cut}…") } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec() -> ToolSpec {
        let mut spec =
            ToolSpec::read_only("credit_given".parse().unwrap(), "Writes credit down.", "ledger.credit.add");
        spec.parameters = json!({ "properties": { "amount": { "type": "integer", "format": "money" } } });
        for (language, phrases) in [
            (
                Language::English,
                vec!["credit", "gave {person} {amount} on credit", "gave {person} {amount} of {item}"],
            ),
            (Language::Hindi, vec!["{person} ko {amount} udhaar diya", "{person} को {amount} उधार दिया"]),
        ] {
            spec.phrases.insert(language, phrases.into_iter().map(str::to_owned).collect());
        }
        spec
    }

    #[test]
    fn an_act_is_told_in_the_persons_words_with_all_it_has() {
        let given = json!({ "person": "Ramesh", "amount": 50_000_000, "note": null });
        let say = |voice| render(&spec(), &given, voice);
        let hindi = |form| Locale::new(Language::Hindi, form);
        assert_eq!(say(hindi(ScriptForm::Native)).unwrap(), "Ramesh को ₹5,00,000 उधार दिया");
        assert_eq!(say(hindi(ScriptForm::Latin)).unwrap(), "Ramesh ko ₹5,00,000 udhaar diya");
        assert_eq!(
            say(Locale::new(Language::English, ScriptForm::Latin)).unwrap(),
            "gave Ramesh ₹5,00,000 on credit"
        );
        assert_eq!(say(Locale::new(Language::Tamil, ScriptForm::Native)), None, "it has no words in Tamil");
        // What a phrase has no place for stands behind it.
        let more = json!({ "person": "Ra\nmesh\u{202e}", "amount": 100, "note": "2026-11-15", "many": 1200 });
        let told = render(&spec(), &more, hindi(ScriptForm::Latin)).unwrap();
        assert_eq!(told, "Ra mesh  ko ₹1 udhaar diya, 1,200, 15 November 2026");
    }

    #[test]
    fn nothing_is_told_with_a_gap_in_it() {
        let english = Locale::new(Language::English, ScriptForm::Latin);
        assert_eq!(render(&spec(), &json!({ "amount": 100 }), english).unwrap(), "credit, ₹1");
        assert_eq!(
            render(&spec(), &json!({ "amount": 100 }), Locale::new(Language::Hindi, ScriptForm::Native)),
            None
        );
        assert_eq!(render(&spec(), &json!("x"), english), None);
    }
}
