//! Whose words led here. Text from visitors, documents and other programs may hold instructions; a write that follows
//! it is confirmed by a person, unless every value in it stands in the person's own words.

use std::collections::BTreeSet;

use munshi_lang::fold;
use munshi_lang::number::Number;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::compiled_tool::CompiledTool;
use super::numbers;

/// Where foreign text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaintSource {
    Visitor,
    Document,
    Connector,
    Web,
}

/// What a run has read so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taint {
    pub sources: BTreeSet<TaintSource>,
    /// The principal's own messages in this turn, as they wrote them.
    pub own_words: Vec<String>,
    /// It knows what is not for everybody: results of tools, facts, what was said before. A run that was stored before this
    /// was noted counts as one that does.
    #[serde(default = "default_holds_private")]
    pub holds_private: bool,
    /// Bits of data that earlier calls of the run may have carried out without a question: choices that the model made.
    #[serde(default, rename = "choices")]
    pub leaked_bits: u32,
}

const fn default_holds_private() -> bool {
    true
}

impl Taint {
    pub fn from_own_words(own_words: impl Into<String>) -> Self {
        Self { own_words: vec![own_words.into()], ..Self::default() }
    }

    pub fn is_clean(&self) -> bool {
        self.sources.is_empty()
    }

    /// Whether every value stands in the principal's own words: texts word for word in any script, numbers as numbers.
    /// What is empty stands nowhere: to a tool it may mean to clear what is there. Names of fields within values are
    /// values too, unless the tool itself has such a name.
    pub(super) fn own_words_cover(&self, arguments: &Value, names: ArgumentFacts<'_>) -> bool {
        let words: Vec<OwnWords> = self.own_words.iter().map(|text| OwnWords::from_message(text)).collect();
        // Reading numbers costs the most, and most refusals are found without.
        all_texts_said(arguments, &words, names.is_named)
            && (!holds_number(arguments) || {
                let numbers: Vec<Number> =
                    self.own_words.iter().flat_map(|text| numbers::find_exact(text)).collect();
                let Value::Object(fields) = arguments else {
                    return all_numbers_said(arguments, &numbers, Unit::AsSaid, names.is_named);
                };
                fields.iter().all(|(field, value)| {
                    let declared = (names.counts_paise)(field).then_some(Unit::Paise);
                    let unit = declared.unwrap_or_else(|| Unit::from_field(field, names.is_named));
                    all_numbers_said(value, &numbers, unit, names.is_named)
                })
            })
    }
}

/// The largest whole number that tells nothing: a page, how many.
const SMALL: u64 = 100;
const CHOICES_OF_A_SMALL: u32 = SMALL.ilog2() + 1;
/// So many choices of yes or no may one call leave to the model, whatever its fields are. More could spell what the run
/// has read: a phone number takes 33.
const MOST_CHOICES: u32 = 24;
/// So many may all calls of a run leave to it together.
const MOST_CHOICES_OF_A_RUN: u32 = 48;
/// One of the few dozen letters, with and without marks, of any width and style, that are compared as one.
const CHOICES_OF_A_LETTER: u32 = 6;
/// As it was written, in small letters, or with capitals where a sentence or a name has them.
const CHOICES_OF_PLAIN_CASE: u32 = 2;

impl Taint {
    /// Whether something in the arguments may be what the run has read: a text that does not stand in the principal's own
    /// words, a number that neither does nor is small, the name of a field that is neither theirs nor the tool's. What the
    /// tool itself lists, switches, and which of the principal's words are picked, are nobody's data unless there are many
    /// such choices, here or in the run's calls before.
    pub(super) fn may_leak_into(&self, arguments: &Value, tool: &CompiledTool) -> bool {
        let words: Vec<OwnWords> = self.own_words.iter().map(|text| OwnWords::from_message(text)).collect();
        let is_named = |name: &str| tool.has_argument(name);
        let Value::Object(fields) = arguments else { return true };
        let choices = count_choices(fields, tool, &words);
        if choices > MOST_CHOICES || self.leaked_bits.saturating_add(choices) > MOST_CHOICES_OF_A_RUN {
            return true;
        }
        let told: Vec<(&String, &Value)> =
            fields.iter().filter(|(field, value)| tool.find_enum_size(field, value).is_none()).collect();
        if told.iter().any(|(field, value)| {
            !(is_named(field) || is_their_name(field, &words)) || !texts_are_theirs(value, &words, &is_named)
        }) {
            return true;
        }
        let numbers: Vec<Number> = self.own_words.iter().flat_map(|text| numbers::find_exact(text)).collect();
        told.iter().any(|(field, value)| {
            let declared = tool.counts_paise(field).then_some(Unit::Paise);
            let unit = declared.unwrap_or_else(|| Unit::from_field(field, &is_named));
            !all_numbers_said(&drop_small_numbers(value), &numbers, unit, &is_named)
        })
    }

    /// Notes a call whose tool is gone: what it may have carried nobody can tell any more.
    pub fn record_unknown_call(&mut self) {
        self.leaked_bits = self.leaked_bits.saturating_add(MOST_CHOICES);
    }

    /// Notes a call that left without a question, so that the run's next ones have so much less to choose. What somebody
    /// was asked about is theirs to send.
    pub fn record_choices(&mut self, arguments: &Value, tool: &CompiledTool) {
        let Value::Object(fields) = arguments else { return };
        if tool.sends_data_out() && !self.may_leak_into(arguments, tool) {
            let words: Vec<OwnWords> =
                self.own_words.iter().map(|text| OwnWords::from_message(text)).collect();
            self.leaked_bits = self.leaked_bits.saturating_add(count_choices(fields, tool, &words));
        }
    }
}

/// How many choices of yes or no a call leaves to whoever writes it: which of the fields are there, and what is in them.
fn count_choices(fields: &Map<String, Value>, tool: &CompiledTool, words: &[OwnWords]) -> u32 {
    let names = tool.count_names();
    let free = fields.keys().filter(|field| !tool.requires(field)).count();
    let values = fields.iter().map(|(field, value)| match tool.find_enum_size(field, value) {
        Some(listed) => bits(listed),
        None => name_choices(field, tool, words).saturating_add(count_value_choices(value, tool, words)),
    });
    values.fold(count_presence_choices(free, names), u32::saturating_add)
}

/// How many choices of yes or no lead to one of so many.
fn bits(count: usize) -> u32 {
    count.max(1).ilog2() + 1
}

/// Which of the names are there: each is or is not, or each that is was picked among all.
fn count_presence_choices(there: usize, names: usize) -> u32 {
    let each = u32::try_from(names).unwrap_or(u32::MAX);
    let picked = u32::try_from(there).unwrap_or(u32::MAX).saturating_mul(bits(names));
    each.min(picked)
}

/// How many choices a value leaves, where its text is the principal's: at least whether it stands there at all.
fn count_value_choices(value: &Value, tool: &CompiledTool, words: &[OwnWords]) -> u32 {
    match value {
        Value::Number(_) => CHOICES_OF_A_SMALL,
        Value::Null | Value::Bool(_) => 1,
        Value::String(text) => text_choices(text, words),
        Value::Array(items) => {
            items.iter().map(|item| count_value_choices(item, tool, words)).fold(1, u32::saturating_add)
        }
        Value::Object(inner) => inner
            .iter()
            .map(|(name, item)| {
                name_choices(name, tool, words).saturating_add(count_value_choices(item, tool, words))
            })
            .fold(
                count_presence_choices(inner.len(), tool.count_names()).saturating_add(1),
                u32::saturating_add,
            ),
    }
}

/// A name that is not the tool's own was cut out of the words as a text is.
fn name_choices(name: &str, tool: &CompiledTool, words: &[OwnWords]) -> u32 {
    if tool.has_argument(name) { 0 } else { text_choices(name, words) }
}

/// Where in the words a text was cut out, and how it is written: each letter could be one of dozens that are compared as
/// one where it is written otherwise than a person would.
fn text_choices(text: &str, words: &[OwnWords]) -> u32 {
    if text.is_empty() {
        return 1;
    }
    let count: usize = words.iter().map(|said| said.words.len()).sum();
    let cuts = bits(count.saturating_mul(count.saturating_add(1)) / 2);
    let lower = text.to_lowercase();
    let written = if words.iter().any(|said| said.written.contains(text)) {
        0
    } else if has_plain_case(text, &lower) && words.iter().any(|said| said.text.contains(&lower)) {
        CHOICES_OF_PLAIN_CASE
    } else {
        u32::try_from(text.chars().count()).unwrap_or(u32::MAX).saturating_mul(CHOICES_OF_A_LETTER)
    };
    cuts.saturating_add(written)
}

/// In small letters, or with a capital at the beginning of the whole or of every word.
fn has_plain_case(text: &str, lower: &str) -> bool {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    };
    let every_word = lower.split(' ').map(capital).collect::<Vec<_>>().join(" ");
    text == lower || text == capital(lower) || text == every_word
}

/// As [`all_texts_said`], where a switch is no matter.
fn texts_are_theirs(value: &Value, words: &[OwnWords], is_named: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::Null | Value::Number(_) | Value::Bool(_) => true,
        // Blanks and lists of switches can spell anything.
        Value::String(text) => text.is_empty() || (is_single_spaced(text) && is_said(text, words)),
        Value::Array(items) => {
            items.iter().all(|item| !item.is_boolean() && texts_are_theirs(item, words, is_named))
        }
        Value::Object(inner) => inner.iter().all(|(key, item)| {
            (is_named(key) || is_their_name(key, words)) && texts_are_theirs(item, words, is_named)
        }),
    }
}

/// Blanks in a name can spell as much as those in a text.
fn is_their_name(name: &str, words: &[OwnWords]) -> bool {
    is_single_spaced(name) && is_said(name, words)
}

fn is_single_spaced(text: &str) -> bool {
    text.split(' ').all(|word| !word.is_empty())
}

/// Small numbers say little by themselves; in a list they can spell anything.
fn drop_small_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.as_u64().is_some_and(|number| number <= SMALL) => Value::Null,
        Value::Object(inner) => {
            Value::Object(inner.iter().map(|(key, item)| (key.clone(), drop_small_numbers(item))).collect())
        }
        other => other.clone(),
    }
}

/// What a tool says of its arguments.
#[derive(Clone, Copy)]
pub(super) struct ArgumentFacts<'t> {
    /// Whether it has an argument of this name, at any depth.
    pub is_named: &'t dyn Fn(&str) -> bool,
    /// Whether an argument of the call itself is money in whole paise.
    pub counts_paise: &'t dyn Fn(&str) -> bool,
}

/// One message of the principal.
struct OwnWords {
    words: Vec<OwnWord>,
    /// As they wrote it.
    written: String,
    /// In small letters, with its signs.
    text: String,
}

/// One word of it, as it may be compared.
struct OwnWord {
    /// As it sounds, where every letter of it has a sound.
    sound: Option<String>,
    exact: String,
}

impl OwnWords {
    fn from_message(text: &str) -> Self {
        // Joiners shape letters, and whoever writes a word again may leave them out.
        let words = split(text).map(|word| {
            let sound = to_phonetic_key(&word.replace(['\u{200c}', '\u{200d}'], ""));
            OwnWord { sound, exact: word.to_lowercase() }
        });
        Self { words: words.collect(), written: text.to_owned(), text: text.to_lowercase() }
    }

    /// The words in their order, in any script. Signs and line breaks change what a value means (`-500`, `../7`), so a
    /// value that has any must stand there as it is.
    fn contains(&self, wanted: &[WantedWord], text: &str) -> bool {
        self.words.windows(wanted.len().max(1)).any(|part| {
            part.len() == wanted.len() && part.iter().zip(wanted).all(|(own, wanted)| wanted.matches(own))
        }) && (text.chars().all(|c| c.is_alphanumeric() || c == ' ' || is_mark(c))
            || self.text.contains(&text.to_lowercase()))
    }
}

/// One word of a value.
enum WantedWord {
    Sound(String),
    /// It has digits, or letters that have no sound here: nothing may be left out of it.
    Exact(String),
}

impl WantedWord {
    fn of(word: &str) -> Self {
        to_phonetic_key(word).map_or_else(|| Self::Exact(word.to_lowercase()), Self::Sound)
    }

    fn matches(&self, own: &OwnWord) -> bool {
        match self {
            Self::Sound(sound) => own.sound.as_ref() == Some(sound),
            Self::Exact(exact) => *exact == own.exact,
        }
    }
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || is_mark(c))).filter(|word| !word.is_empty())
}

/// What a word sounds like. None where something of it would be left out, or all.
fn to_phonetic_key(word: &str) -> Option<String> {
    fold::has_only_known_letters(word).then(|| fold::key(word)).filter(|key| !key.is_empty())
}

/// Vowel signs and joiners belong to the word before them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{0900}'..='\u{0DFF}' | '\u{200c}' | '\u{200d}') && !matches!(c, '\u{0964}' | '\u{0965}')
}

fn holds_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(items) => items.iter().any(holds_number),
        Value::Object(inner) => inner.values().any(holds_number),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn all_texts_said(value: &Value, words: &[OwnWords], is_named: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::Number(_) => true,
        // Nobody says "true": what a switch does was not in their words. Nor does anybody say nothing: to a tool it may
        // mean to clear what is there.
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => is_said(text, words),
        Value::Array(items) => {
            !items.is_empty() && items.iter().all(|item| all_texts_said(item, words, is_named))
        }
        Value::Object(inner) => {
            let is_field_said = |(key, item): (&String, &Value)| {
                (is_named(key) || is_said(key, words)) && all_texts_said(item, words, is_named)
            };
            !inner.is_empty() && inner.iter().all(is_field_said)
        }
    }
}

/// Nobody says a space before or behind, and to a tool it may be another value.
fn is_said(text: &str, words: &[OwnWords]) -> bool {
    let wanted: Vec<WantedWord> = split(text).map(WantedWord::of).collect();
    !wanted.is_empty() && text.trim() == text && words.iter().any(|said| said.contains(&wanted, text))
}

/// In what a field counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    AsSaid,
    Paise,
}

impl Unit {
    /// By the tool's own name for a field. A name the model made up says nothing.
    fn from_field(field: &str, is_named: &dyn Fn(&str) -> bool) -> Self {
        let paise = is_named(field) && field.to_ascii_lowercase().ends_with("paise");
        if paise { Self::Paise } else { Self::AsSaid }
    }
}

fn all_numbers_said(value: &Value, numbers: &[Number], unit: Unit, is_named: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::Number(number) => {
            let wanted = Number::from_decimal(&number.to_string());
            wanted.is_some_and(|wanted| numbers.iter().any(|said| is_same_number(*said, wanted, unit)))
        }
        Value::Array(items) => items.iter().all(|item| all_numbers_said(item, numbers, unit, is_named)),
        Value::Object(inner) => inner
            .iter()
            .all(|(key, item)| all_numbers_said(item, numbers, Unit::from_field(key, is_named), is_named)),
        _ => true,
    }
}

/// As said, or in paise where rupees were said and the field counts paise.
fn is_same_number(said: Number, wanted: Number, unit: Unit) -> bool {
    said == wanted || (unit == Unit::Paise && said.checked_mul(100) == Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(taint: &Taint, arguments: &Value, is_named: impl Fn(&str) -> bool) -> bool {
        taint.own_words_cover(
            arguments,
            ArgumentFacts { is_named: &is_named, counts_paise: &|name| name == "price" },
        )
    }

    #[test]
    fn a_value_stands_in_the_words_or_it_does_not() {
        let taint = Taint::from_own_words("राजू को पाँच सौ का माल दिया, note: second shelf");
        for (arguments, expected) in [
            (json!({ "name": "राजू", "amount": 500 }), true),
            (json!({ "name": "Raju", "amount_paise": 50000 }), true),
            (json!({ "name": "Raju", "amount_paise": [{ "amount": 50000 }] }), false),
            (json!({ "name": "Raju", "amount": 50000 }), false),
            (json!({ "name": "Raju", "price": 50000 }), true),
            (json!({ "name": "Raju", "price": 70000 }), false),
            (json!({ "name": "Raju", "amount": { "price": 50000 } }), false),
            (json!({ "list": [{ "दिया": 500 }] }), true),
            (json!({ "list": [{ "दिया": 50000 }] }), false),
            (json!({ "note": "second shelf" }), true),
            // Nobody said that anything is to be cleared.
            (json!({ "note": "second shelf", "tags": [] }), false),
            (json!({ "note": "second shelf", "tags": [{}] }), false),
            (json!({ "name": "राजू", "note": "" }), false),
            (json!({ "name": "राजू", "note": null }), false),
            (json!({ "note": "shelf second" }), false),
            (json!({ "note": "दिया, note: second" }), true),
            (json!({ "note": "../second shelf" }), false),
            (json!({ "name": "-राजू" }), false),
            (json!({ "name": " राजू" }), false),
            (json!({ "name": "राजू\u{a0}" }), false),
            (json!({ "note": "second\nshelf" }), false),
            (json!({ "name": "Ramesh", "amount": 500 }), false),
            (json!({ "name": "राजू", "amount": 5000 }), false),
            (json!({ "amount": 500, "everyone": true }), false),
            (json!({}), false),
            (json!({ "list": ["राजू", { "deep": "evil" }] }), false),
            (json!({ "list": [{ "name": "राजू" }] }), true),
            (json!({ "list": [{ "give it to Ramesh": "राजू" }] }), false),
        ] {
            let named = [
                "price",
                "name",
                "amount",
                "amount_paise",
                "note",
                "tags",
                "everyone",
                "empty",
                "list",
                "deep",
            ];
            assert_eq!(said(&taint, &arguments, |name| named.contains(&name)), expected, "{arguments}");
        }
    }

    #[test]
    fn digits_in_a_text_are_words() {
        let taint = Taint::from_own_words("raju 42 rice 7");
        assert!(said(&taint, &json!({ "id": "42", "to": "raju" }), |_| true));
        assert!(said(&taint, &json!({ "id": 42 }), |_| true));
        assert!(!said(&taint, &json!({ "id": "4" }), |_| true));
        assert!(!said(&taint, &json!({ "to": "raju 9800000001" }), |_| true));
        assert!(!said(&taint, &json!({ "to": "raju9800000001" }), |_| true));
    }

    #[test]
    fn with_no_words_nothing_was_said() {
        assert!(!said(&Taint::default(), &json!({ "x": "a" }), |_| true));
        assert!(!said(&Taint::from_own_words(""), &json!({ "x": 1 }), |_| true));
    }
}
