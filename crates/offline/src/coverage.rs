//! Whether every word of a message is accounted for.
//!
//! A word that nobody understands may turn a sentence round: perhaps, nobody, nearly, forgave. So something is written
//! without asking only where each word is one of the phrase, grammar, a number, a plain name, or a thing that is known
//! or counted.

use munshi_lang::{DateExpression, NumberKind};
use munshi_types::Language;

use crate::fill::FilledArguments;
use crate::name_roles::{CASES, NameRole};
use crate::prepared_tools::{PhrasePattern, PreparedTool, PreparedToolSet, ToolArgumentKind};
use crate::rank::RankedTool;
use crate::reading::{OfflineWord, WordOwner};
use crate::small_words::{SmallWordClass, SmallWordClassSet, SmallWords};
use crate::tool_view::MessageToolView;

/// What may stand in any sentence and change nothing.
const HARMLESS: SmallWordClassSet = SmallWordClassSet::of(&[
    SmallWordClass::To,
    SmallWordClass::By,
    SmallWordClass::From,
    SmallWordClass::Of,
    SmallWordClass::In,
    SmallWordClass::Me,
    SmallWordClass::ToMe,
    SmallWordClass::Small,
    SmallWordClass::Yes,
    SmallWordClass::Hello,
    SmallWordClass::Thanks,
    SmallWordClass::Place,
]);

/// A tool as one message asks for it.
pub(crate) struct WordCoverage<'s, 'm> {
    pub sight: &'s MessageToolView<'m>,
    pub palette: &'s PreparedToolSet,
    pub tool: &'s PreparedTool,
    pub best: &'s RankedTool,
    pub filled: &'s FilledArguments,
}

impl WordCoverage<'_, '_> {
    /// Whether nothing in the message is left to be understood, so that it may be written as it stands.
    pub(crate) fn is_settled(&self) -> bool {
        if self.tool.takes_sentence() {
            return true;
        }
        let words = &self.sight.reading.words;
        let keys: Vec<&str> =
            words.iter().filter(|word| !word.is_sign).map(|word| word.key.as_str()).collect();
        let is_clear = SmallWords::get().find_answer(&keys, SmallWordClass::Doubt).is_none()
            && (0..words.len()).all(|at| self.is_in_place(at) || self.is_explained(at));
        is_clear
            && self.filled.left_over == 0
            && self.filled.unplaced == 0
            && self.sight.reading.numbers.iter().all(|number| !number.unit.is_some_and(crate::fill::is_time))
            && self.filled.person.as_ref().is_none_or(|span| self.is_name(span))
            && self.filled.item.as_ref().is_none_or(|span| self.is_thing(span))
            && !self.is_half_said()
            && !self.says_twice()
    }

    /// Whether two words pass for the same word of a phrase: one of them is something else.
    fn says_twice(&self) -> bool {
        let said: Vec<usize> = (0..self.sight.reading.words.len())
            .filter(|at| !self.is_in_place(*at) && self.is_said(*at))
            .collect();
        // "Nahi nahi" is one word said twice.
        let text = |at: usize| self.sight.reading.words.get(at).map(|word| word.text.to_lowercase());
        let is_doubled = |one: usize, other: usize| other == one + 1 && text(one) == text(other);
        let entries = |at: &usize| self.sight.matches.get(*at).into_iter().flatten().map(|found| found.entry);
        said.iter().enumerate().any(|(place, one)| {
            said.iter()
                .skip(place + 1)
                .filter(|other| !is_doubled(*one, **other))
                .any(|other| entries(one).any(|entry| entries(other).any(|same| same == entry)))
        })
    }

    /// The parts of a message, cut where it may go on to another thing, that this tool knows nothing of.
    pub(crate) fn leaves_out(&self, parts: &[(usize, usize)]) -> bool {
        if self.tool.takes_sentence() {
            return false;
        }
        let words = &self.sight.reading.words;
        let is_idle = |word: &OfflineWord<'_>| !word.is_content() || word.classes.intersects(HARMLESS);
        parts.iter().any(|(from, to)| {
            let mut content =
                (*from..*to).filter(|at| words.get(*at).is_some_and(|word| !is_idle(word))).peekable();
            content.peek().is_some() && !content.any(|at| self.is_in_place(at) || self.is_said(at))
        })
    }

    /// Whether a word belongs to what was taken for a person or a thing.
    fn is_in_place(&self, at: usize) -> bool {
        let taken = [&self.filled.person, &self.filled.item];
        taken.into_iter().flatten().any(|span| (span.from..span.to).contains(&at))
    }

    fn is_explained(&self, at: usize) -> bool {
        let Some(word) = self.sight.reading.words.get(at) else { return true };
        match word.held {
            Some(WordOwner::Number(number)) => return self.is_count(number),
            Some(WordOwner::Date(date)) => return self.is_day(date),
            // When of the day it was changes nothing of it.
            Some(WordOwner::Time) => return true,
            None => {}
        }
        if word.is_sign {
            return matches!(word.text, "," | "." | "।" | "!" | "₹" | "/" | "-" | "/-" | "'" | "’" | "|");
        }
        if self.is_said(at) || self.is_choice(word) {
            return true;
        }
        // "Chah te 120" is on tea, and "phonepe te" by it: there it joins nothing.
        let is_on = word.classes.has(SmallWordClass::In) && self.is_number(at + 1);
        let before = at.checked_sub(1).and_then(|at| self.sight.reading.words.get(at));
        let is_on = is_on
            || (word.classes.has(SmallWordClass::In) && before.is_some_and(|word| self.is_choice(word)));
        let joins = word.classes.has(SmallWordClass::And) && !word.classes.intersects(CASES) && !is_on;
        // After a word of the phrase it only points: the last wali entry.
        let points = at.checked_sub(1).is_some_and(|before| self.is_said(before));
        let is_trade = word.classes.has(SmallWordClass::Trade) && !self.is_of_number(at) && !points;
        let is_open = joins || is_trade || word.classes.has(SmallWordClass::Doubt);
        // In another script it is hardly grammar of this language.
        let is_own = word.text.is_ascii() == self.sight.reading.is_latin();
        let is_harmless = is_own && word.classes.intersects(HARMLESS);
        let is_turned = word.classes.has(SmallWordClass::Be) && self.is_said(at + 1);
        !is_open && is_harmless && !is_turned && !self.marks_another(at) && !self.is_speaker_receiver(word)
    }

    /// Whether a word stands right after a number: 500 wala is nobody's trade.
    fn is_of_number(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| self.is_number(before))
    }

    fn is_number(&self, at: usize) -> bool {
        let word = self.sight.reading.words.get(at);
        word.is_some_and(|word| matches!(word.held, Some(WordOwner::Number(_))))
    }

    /// Whether the speaker receives where the phrase has somebody else do so.
    fn is_speaker_receiver(&self, word: &OfflineWord<'_>) -> bool {
        let best = self.best.pattern.and_then(|at| self.tool.patterns.get(at));
        word.classes.has(SmallWordClass::ToMe) && best.is_some_and(|best| best.role == Some(NameRole::To))
    }

    /// Whether the speaker has the part that the phrase gives to somebody else: remind me about Mahesh.
    pub(crate) fn is_of_speaker(&self) -> bool {
        let said = |word: &OfflineWord<'_>| word.held.is_none() && self.is_speaker_receiver(word);
        self.sight.reading.words.iter().any(said)
    }

    /// Whether a marker gives somebody a part who is not the person: mere bhai ne.
    fn marks_another(&self, at: usize) -> bool {
        let parts = SmallWordClassSet::of(&[SmallWordClass::To, SmallWordClass::By, SmallWordClass::From]);
        let speaker = SmallWordClassSet::of(&[SmallWordClass::Me, SmallWordClass::ToMe]);
        let reading = &self.sight.reading;
        let is_marker = reading.words.get(at).is_some_and(|word| {
            word.classes.intersects(parts)
                && !word.classes.intersects(SmallWordClassSet::of(&[SmallWordClass::In, SmallWordClass::Of]))
        });
        // English says it before the name.
        let is_after = reading.languages.first() != Some(&Language::English);
        let beside = if is_after { at.checked_sub(1) } else { Some(at + 1) };
        let Some(beside) = beside.filter(|_| is_marker) else { return false };
        let gives =
            |at: usize| reading.words.get(at).is_some_and(|word| word.classes.has(SmallWordClass::To));
        let is_told = reading.words.get(beside).is_some_and(|word| {
            let is_speaker = word.classes.intersects(speaker) && (is_after || gives(at));
            let is_grammar = is_speaker || word.classes.intersects(CASES);
            word.held.is_some() || is_grammar || self.is_choice(word)
        });
        !is_told && !self.is_in_place(beside) && !self.is_said(beside)
    }

    /// Whether a number counts something; days and accounts do not.
    fn is_count(&self, number: usize) -> bool {
        let kind = self.sight.reading.numbers.get(number).map(|number| number.kind);
        match kind {
            Some(NumberKind::Money | NumberKind::Quantity | NumberKind::Plain) => true,
            Some(NumberKind::Phone) => self.tool.find_field(&ToolArgumentKind::Phone).is_some(),
            _ => false,
        }
    }

    /// Today needs no place; another day does.
    fn is_day(&self, date: usize) -> bool {
        let found = self.sight.reading.dates.get(date);
        let is_today = found.is_some_and(|found| {
            found.readings.iter().all(|one| matches!(one.when, DateExpression::Day { offset: 0 }))
        });
        is_today
            || self
                .tool
                .find_field(&ToolArgumentKind::Date)
                .is_some_and(|field| self.filled.arguments.contains_key(&field.name))
    }

    /// Whether a word is one of the phrase that fits best, or of another of the tool in which the person has the same
    /// part: udhaar is said of those who are given and of those who are taken from, but with another verb.
    fn is_said(&self, at: usize) -> bool {
        let Some(word) = self.sight.reading.words.get(at) else { return false };
        let found = self.sight.matches.get(at).map_or(&[][..], Vec::as_slice);
        found.iter().any(|one| {
            let entry = self.palette.vocabulary.entries.get(one.entry);
            let is_near = || entry.is_some_and(|entry| is_near(&entry.stem, &word.stem));
            let is_spelt = match word.classes.has(SmallWordClass::Doubt) {
                true => one.likeness >= 1.0,
                // Its own script spells a verb in one way; another vowel is another tense.
                false if !word.text.is_ascii() => one.likeness >= 0.95,
                false => one.likeness >= 0.9 || (one.likeness >= 0.75 && is_near()),
            };
            is_spelt && self.phrases().any(|pattern| pattern.words.contains(&one.entry))
        })
    }

    fn phrases(&self) -> impl Iterator<Item = &PhrasePattern> {
        let best = self.best.pattern.and_then(|at| self.tool.patterns.get(at));
        let languages = &self.sight.reading.languages;
        let part = |pattern: &PhrasePattern| pattern.has_person.then(|| pattern.role.unwrap_or(NameRole::By));
        self.tool.patterns.iter().filter(move |pattern| {
            let is_own = languages.contains(&pattern.language) || pattern.language == Language::English;
            best.is_some_and(|best| is_own && (part(pattern).is_none() || part(pattern) == part(best)))
        })
    }

    fn is_choice(&self, word: &OfflineWord<'_>) -> bool {
        self.tool.fields.iter().any(|field| {
            self.filled.arguments.contains_key(&field.name) && field.kind.choice_keys().contains(&word.key)
        })
    }

    /// Whether the phrase knows of no person and there is one, or another tool's phrase says all of this and more: diya
    /// may be udhaar diya. Whom the shop buys from is paid.
    fn is_half_said(&self) -> bool {
        let Some(best) = self.best.pattern.and_then(|at| self.tool.patterns.get(at)) else { return true };
        let Some(person) = self.filled.person.as_ref() else { return false };
        if !best.has_person {
            return true;
        }
        let words = self.sight.reading.words.get(person.from..person.to).unwrap_or_default();
        if words.iter().any(|word| word.is_trade) {
            return false;
        }
        let said: Vec<Vec<usize>> = (0..self.sight.reading.words.len())
            .filter(|at| !self.is_in_place(*at) && self.is_said(*at))
            .map(|at| self.sight.matches.get(at).into_iter().flatten().map(|found| found.entry).collect())
            .collect();
        let says_more = |pattern: &PhrasePattern| {
            let is_said = |entry: &usize| said.iter().any(|found| found.contains(entry));
            pattern.has_person
                && (!pattern.has_speaker || self.sight.reading.has_receiver())
                && pattern.role == best.role
                && self.sight.reading.languages.contains(&pattern.language)
                && said.iter().all(|found| found.iter().any(|entry| pattern.words.contains(entry)))
                && pattern.words.iter().any(|entry| !is_said(entry))
        };
        // What somebody lent the speaker is said whole by another tool's phrase: enakku kadan kuduthaan.
        let lends = |pattern: &PhrasePattern| {
            pattern.has_speaker
                && !best.has_speaker
                && self.sight.reading.has_receiver()
                && pattern.words.iter().all(|entry| said.iter().any(|found| found.contains(entry)))
        };
        let says_more = |pattern: &PhrasePattern| says_more(pattern) || lends(pattern);
        let others = self.palette.tools.iter().filter(|other| other.name() != self.tool.name());
        // A reminder is sent too, but of no amount.
        let money = self.sight.count_numbers(&[NumberKind::Money]) > 0;
        let may_be = |other: &&PreparedTool| {
            other.spec.effect.writes() && (!money || other.find_field(&ToolArgumentKind::Money).is_some())
        };
        others.filter(may_be).any(|other| other.patterns.iter().any(says_more))
    }
}

/// Whether two spellings are as long and begin and end alike: what stands before a verb or after it may deny it.
fn is_near(one: &str, other: &str) -> bool {
    let tail = |stem: &str| stem.get(stem.len().saturating_sub(2)..).map(str::to_owned);
    one.len().abs_diff(other.len()) <= 2
        && one.chars().next() == other.chars().next()
        && tail(one) == tail(other)
}
