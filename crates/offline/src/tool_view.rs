//! A message looked at through a palette: which of its words the tools' phrases know, and which name something.

use munshi_lang::lexicon::Languages;
use munshi_lang::{NumberKind, ScriptForm};
use munshi_types::Language;

use crate::bare_counts::mark_counts;
use crate::name_roles::NameRole;
use crate::prepared_tools::{PreparedTool, PreparedToolSet, VocabularyMatch};
use crate::reading::OfflineReading;
use crate::small_words::{SmallWordClassSet, SmallWords};
use crate::spans::{NameSpan, WordKnowledge, find_spans};

/// Below this a word in an Indian script is not the one of a phrase.
const OWN_SCRIPT: f32 = 0.75;

#[derive(Debug)]
pub(crate) struct MessageToolView<'m> {
    pub reading: OfflineReading<'m>,
    /// For each word, what it is in the vocabulary.
    pub matches: Vec<Vec<VocabularyMatch>>,
    pub spans: Vec<NameSpan>,
}

impl<'m> MessageToolView<'m> {
    pub(crate) fn new(mut reading: OfflineReading<'m>, palette: &PreparedToolSet) -> Self {
        reading.release_numbers(|key| palette.vocabulary.is_cue(key));
        reading.release_polite();
        let matches: Vec<Vec<VocabularyMatch>> = reading
            .words
            .iter()
            .map(|word| {
                if !word.is_content() {
                    return Vec::new();
                }
                // Its own script spells a word in one way: what is only alike is another, or a name.
                let least = if word.text.is_ascii() { 0.0 } else { OWN_SCRIPT };
                let mut found = palette.vocabulary.find(word, &reading.languages);
                found.retain(|one| one.likeness >= least);
                found
            })
            .collect();
        mark_counts(&mut reading, |at| {
            let cue = |found: &VocabularyMatch| {
                palette.vocabulary.entries.get(found.entry).is_some_and(|entry| entry.is_cue)
            };
            matches
                .get(at)
                .is_some_and(|found| found.iter().any(|found| found.likeness >= 0.95 && cue(found)))
        });
        let known = |at: usize| {
            let mut found = matches.get(at).into_iter().flatten();
            let is_cue =
                |entry: usize| palette.vocabulary.entries.get(entry).is_some_and(|entry| entry.is_cue);
            let is_chosen = reading.words.get(at).is_some_and(|word| palette.chosen.contains(&word.key));
            match is_chosen || found.any(|found| found.likeness > 0.7 && is_cue(found.entry)) {
                true => WordKnowledge::Cue,
                false if matches.get(at).is_some_and(|found| is_exact(found)) => WordKnowledge::Thing,
                false => WordKnowledge::No,
            }
        };
        let spans = find_spans(&reading, known);
        Self { reading, matches, spans }
    }

    /// The spans as one tool sees them: words that only other tools' phrases have may name something here.
    pub(crate) fn spans_for(&self, tool: &PreparedTool, palette: &PreparedToolSet) -> Vec<NameSpan> {
        let languages = &self.reading.languages;
        let known = |at: usize| {
            let found = self.matches.get(at).map_or(&[][..], Vec::as_slice);
            let is_cue = |one: &VocabularyMatch| one.likeness > 0.7 && tool.has_cue(one.entry, languages);
            let is_chosen = self.reading.words.get(at).is_some_and(|word| palette.chosen.contains(&word.key));
            match is_chosen || found.iter().any(is_cue) {
                true => WordKnowledge::Cue,
                false if is_exact(found) && found.iter().any(|one| tool.named.contains(&one.entry)) => {
                    WordKnowledge::Thing
                }
                false => WordKnowledge::No,
            }
        };
        find_spans(&self.reading, known)
    }

    /// The language the tools' phrases tell, where the message left several open or they know more of its words.
    pub(crate) fn better_language(&self, palette: &PreparedToolSet) -> Option<Language> {
        let exact: Vec<Languages> = self
            .matches
            .iter()
            .filter_map(|found| found.iter().find(|found| found.likeness >= 0.7))
            .filter(|found| palette.vocabulary.entries.get(found.entry).is_some_and(|entry| entry.is_cue))
            .filter_map(|found| palette.vocabulary.entries.get(found.entry).map(|entry| entry.languages))
            .collect();
        let count = |language: Language| exact.iter().filter(|languages| languages.has(language)).count();
        let read = *self.reading.languages.first()?;
        let form = self.reading.voice.form;
        let fits = |language: &Language| form == ScriptForm::Latin || language.script() == read.script();
        // Of those that know as many words, the one the message seems to be in.
        let likely = |language: &Language| self.reading.languages.contains(language);
        let best = Language::ALL.into_iter().filter(fits).max_by_key(|language| {
            (count(*language), likely(language), std::cmp::Reverse(language.index()))
        })?;
        if count(best) > count(read).max(1) {
            return Some(best);
        }
        // One word is enough against a language that has none and was only a guess.
        let is_guess = count(read) == 0 && self.reading.languages.len() > 1;
        if is_guess && self.reading.languages.contains(&best) && count(best) > 0 {
            return Some(best);
        }
        let others = self.reading.languages.iter().skip(1);
        let knows = |language: Language| self.count_words(language, palette);
        let is_told =
            others.clone().count() > 0 && others.into_iter().all(|other| knows(*other) < knows(read));
        is_told.then_some(read)
    }

    /// How many words are of a language, by the tools' phrases or by its grammar.
    fn count_words(&self, language: Language, palette: &PreparedToolSet) -> usize {
        let is_cue = |one: &VocabularyMatch| {
            let entry = palette.vocabulary.entries.get(one.entry);
            one.likeness >= 0.75 && entry.is_some_and(|entry| entry.is_cue && entry.languages.has(language))
        };
        let small = SmallWords::get();
        let words = self.reading.words.iter().zip(&self.matches);
        let said = words.filter(|(word, _)| word.held.is_none() && !word.is_sign);
        said.filter(|(word, found)| {
            found.iter().any(is_cue) || small.classes(&word.key, &[language]) != SmallWordClassSet::NONE
        })
        .count()
    }

    /// How many words of it any phrase has.
    pub(crate) fn known_count(&self) -> usize {
        self.matches.iter().filter(|found| !found.is_empty()).count()
    }

    /// Whether the verb, which stands last, is known only with another ending: that may ask, deny or suppose.
    pub(crate) fn is_verb_inflected(&self, palette: &PreparedToolSet) -> bool {
        let known = self.reading.words.iter().zip(&self.matches).rfind(|(_, found)| !found.is_empty());
        let tail = |stem: &str| stem.get(stem.len().saturating_sub(2)..).unwrap_or_default().to_owned();
        known.is_some_and(|(word, found)| {
            let ends_alike = |one: &VocabularyMatch| {
                let entry = palette.vocabulary.entries.get(one.entry);
                one.is_form || entry.is_some_and(|entry| tail(&entry.stem) == tail(&word.stem))
            };
            !found.iter().any(ends_alike)
        })
    }

    pub(crate) fn count_numbers(&self, wanted: &[NumberKind]) -> usize {
        self.reading.numbers.iter().filter(|number| wanted.contains(&number.kind)).count()
    }

    /// The span that is most likely a person.
    pub(crate) fn person(&self) -> Option<&NameSpan> {
        let likely = self.spans.iter().filter(|span| person_likelihood(span) > 0.0);
        likely.max_by(|one, other| {
            person_likelihood(one).total_cmp(&person_likelihood(other)).then(other.from.cmp(&one.from))
        })
    }
}

fn is_exact(found: &[VocabularyMatch]) -> bool {
    found.iter().any(|found| found.likeness >= 1.0)
}

/// How much a span looks like a person.
pub(crate) fn person_likelihood(span: &NameSpan) -> f32 {
    let role = match span.role() {
        Some(_) if span.takes_part() => 3.0,
        Some(NameRole::Of) => 0.8,
        Some(_) => 1.2,
        None => 0.5,
    };
    let counted = if span.is_counted { -2.5 } else { 0.0 };
    let respect = if span.has_honorific { 2.0 } else { 0.0 };
    let capital = if span.is_capital { 1.0 } else { 0.0 };
    role + counted + respect + capital
}
