//! One phrase or example of a tool, read as a message is read.
//!
//! A word in braces stands for an argument: `{person} ko udhaar diya`. It is read with a stand-in there, so that the
//! grammar around it is understood exactly as in a message.

use munshi_lang::fold;
use munshi_types::Language;
use munshi_types::tool::ToolSpec;

use super::fields::{ArgumentField, ToolArgumentKind};
use super::vocabulary::PhraseVocabulary;
use crate::mood::{SentenceActor, SentenceMood};
use crate::name_roles::NameRole;
use crate::reading::{OfflineReading, OfflineReadingContext, OfflineWord};
use crate::spans::{NameSpan, WordKnowledge, find_spans};

/// A name that is no word of any language here.
const SOMEBODY: &str = "Xzibqo";
const SOMETHING: &str = "xzobqi";

#[derive(Debug)]
pub(crate) struct PhrasePattern {
    pub language: Language,
    /// Places in the vocabulary.
    pub words: Vec<usize>,
    /// Words that named an argument in an example: they speak for the tool, but need not be said.
    pub named: Vec<usize>,
    /// The part the person has in it.
    pub role: Option<NameRole>,
    pub actor: Option<SentenceActor>,
    pub mood: SentenceMood,
    pub has_person: bool,
    /// The speaker receives in it: enakku kadan kuduthaan.
    pub has_speaker: bool,
}

/// The patterns of a tool, its words added to the vocabulary.
pub(crate) fn build_patterns(
    spec: &ToolSpec,
    fields: &[ArgumentField],
    vocabulary: &mut PhraseVocabulary,
) -> Vec<PhrasePattern> {
    let mut found = Vec::new();
    for (language, phrases) in &spec.phrases {
        for phrase in phrases {
            found.push(pattern(&stand_ins(phrase, fields), *language, &[], vocabulary));
        }
    }
    for example in &spec.examples {
        let values: Vec<&str> = example
            .arguments
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| fields.iter().any(|field| field.name == **name && is_named(&field.kind)))
            .filter_map(|(_, value)| value.as_str())
            .collect();
        found.push(pattern(&example.text, example.language, &values, vocabulary));
    }
    // A tool that says nothing of how people ask for it is at least known by its name.
    if found.is_empty() {
        found.push(pattern(&spec.name.as_str().replace('_', " "), Language::English, &[], vocabulary));
    }
    found
}

const fn is_named(kind: &ToolArgumentKind) -> bool {
    matches!(kind, ToolArgumentKind::Person | ToolArgumentKind::Item | ToolArgumentKind::Unknown)
}

fn pattern(
    text: &str,
    language: Language,
    values: &[&str],
    vocabulary: &mut PhraseVocabulary,
) -> PhrasePattern {
    let before = OfflineReadingContext { language: Some(language), ..OfflineReadingContext::default() };
    let mut reading = OfflineReading::new(text, &before);
    reading.release_numbers(|_| true);
    let parts = || values.iter().flat_map(|value| value.split_whitespace());
    let is_value = |word: &str| parts().any(|part| word.starts_with(part));
    let stands_in = |word: &str| [SOMEBODY, SOMETHING].iter().any(|name| word.starts_with(name));
    let names: Vec<bool> =
        reading.words.iter().map(|word| stands_in(word.text) || is_value(word.text)).collect();
    let (mut words, mut named) = (Vec::new(), Vec::new());
    for (at, word) in reading.words.iter().enumerate().filter(|(_, word)| word.is_content()) {
        if stands_in(word.text) {
            continue;
        }
        let is_name = names.get(at).copied().unwrap_or(false);
        // A thing is kept as it is called, not as the sentence bends it.
        let called = parts().find(|part| word.text.starts_with(part)).map(fold::key).filter(|_| is_name);
        let place = vocabulary.add(called.as_deref().unwrap_or(&word.key), language, !is_name);
        let list = if is_name { &mut named } else { &mut words };
        if !list.contains(&place) {
            list.push(place);
        }
    }
    let is_cue = |at: usize| {
        names.get(at) != Some(&true) && reading.words.get(at).is_some_and(OfflineWord::is_content)
    };
    let spans = find_spans(&reading, |at| if is_cue(at) { WordKnowledge::Cue } else { WordKnowledge::No });
    let is_person = |text: &str| text.contains(SOMEBODY) || (is_value(text) && !text.contains(SOMETHING));
    let person = spans.iter().find(|span| is_person(&span.text));
    PhrasePattern {
        language,
        words,
        named,
        role: person.and_then(NameSpan::role),
        actor: reading.actor,
        mood: reading.mood,
        has_person: person.is_some(),
        has_speaker: reading.has_receiver(),
    }
}

/// A phrase with something in the place of its braces.
fn stand_ins(phrase: &str, fields: &[ArgumentField]) -> String {
    let mut out = String::with_capacity(phrase.len());
    let mut rest = phrase;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        let kind = fields.iter().find(|field| field.name == name).map(|field| &field.kind);
        out.push_str(match kind {
            Some(ToolArgumentKind::Person) => SOMEBODY,
            Some(ToolArgumentKind::Money) => "₹501",
            Some(ToolArgumentKind::Quantity) => "5 kg",
            Some(ToolArgumentKind::Unit | ToolArgumentKind::Date | ToolArgumentKind::Period) => "",
            _ => SOMETHING,
        });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A phrase as it is shown to a person: each brace filled from the arguments, or left open.
pub(crate) fn render_phrase(phrase: &str, fill: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(phrase.len());
    let mut rest = phrase;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&fill(name).unwrap_or_else(|| "…".to_owned()));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What the braces of a phrase name.
pub(crate) fn list_placeholders(phrase: &str) -> impl Iterator<Item = &str> {
    phrase.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}
