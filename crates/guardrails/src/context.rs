//! What the rules know of the turn besides the reply.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::Arc;

use munshi_lang::ScriptForm;
use munshi_types::{Language, Money};

use super::reading::GuardrailReading;
use super::rule::ReplyStretch;
use super::sentences;
use super::table::PrehashedHasher;
use super::whispered_numbers::WhisperedNumbers;

/// What a check may rest on. All of it is plain data: the turn fills in what it knows.
#[derive(Clone, Debug, Default)]
pub struct GuardrailContext {
    /// What the tools of this turn returned from the catalogue.
    pub items: Vec<CatalogItem>,
    /// Other amounts that tools returned or the person named: totals, payments, budgets.
    pub amounts: Vec<Money>,
    /// Turns since a price was last said; none when none was.
    pub turns_since_price: Option<u32>,
    /// The person asked for a price in this turn, which ends a cooldown.
    pub asked_price: bool,
    /// The name the persona goes by.
    pub persona: Option<String>,
    /// Names of models and vendors that must never be said, besides those everybody knows.
    pub model_names: Vec<String>,
    /// The prompt whose sentences must not come back.
    pub prompt: Option<Arc<PromptFingerprint>>,
    /// What colleagues told for this turn, of which no longer piece comes back.
    pub whispers: Option<Arc<PromptFingerprint>>,
    /// The tongues the persona may speak; empty is any.
    pub lock: Vec<AllowedLanguage>,
    /// The person's language: what concerns their money and safety may always be said in it.
    pub person_language: Option<Language>,
    /// What the person wrote in this turn.
    pub person_said: String,
    /// The person's own name, which is no secret to them.
    pub person_name: Option<String>,
    /// Other people whom tools named in this turn.
    pub people: Vec<String>,
    /// Something in the conversation needs a doctor at once.
    pub red_flag: bool,
    /// The reply comes with a hand-over to a person: nothing is left to say about the red flag.
    pub escalated: bool,
    /// A tool of this turn picked something for the person.
    pub recommended: bool,
    /// The person asked whether they talk to a machine.
    pub asked_if_ai: bool,
    pub election: ElectionMode,
}

/// Something that can be bought, as a tool returned it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogItem {
    pub sku: String,
    pub name: String,
    pub price: Money,
    /// How many there are, when the inventory was asked.
    pub stock: Option<u32>,
}

/// A language, in one form or in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowedLanguage {
    pub language: Language,
    pub form: Option<ScriptForm>,
}

/// What the election law allows the speaker now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ElectionMode {
    /// It speaks for nobody: no asking for votes.
    #[default]
    Neutral,
    /// It speaks for a candidate: asking for votes is allowed, what the law forbids everybody is not.
    Campaign,
    /// The last 48 hours: nobody asks for votes.
    Silence,
}

/// A prompt, kept as what is needed to know its sentences again.
#[derive(Clone, Debug)]
pub struct PromptFingerprint {
    /// The hashes of runs of words, each begun with the length of its run.
    runs: Arc<HashSet<u64, BuildHasherDefault<PrehashedHasher>>>,
    /// How many words the shortest run has.
    shortest: usize,
    marks: Vec<String>,
    numbers: WhisperedNumbers,
}

impl Default for PromptFingerprint {
    fn default() -> Self {
        let numbers = WhisperedNumbers::default();
        Self { runs: Arc::default(), shortest: RUN, marks: Vec::new(), numbers }
    }
}

/// So many words in a row are no accident.
const RUN: usize = 7;
/// So many are none either where they are a whole sentence that somebody told in confidence.
const SHORTEST_SENTENCE: usize = 3;

impl PromptFingerprint {
    /// `marks` are strings that stand nowhere but in the prompt: fences, canaries.
    pub fn new(text: &str, marks: Vec<String>) -> Self {
        let text = strip_quoted(text);
        let reading = GuardrailReading::new(&text, &sentences::find_ends(&text));
        let runs = hash_runs(&collect_words(&reading), RUN).map(|(_, run)| run).collect();
        Self { runs: Arc::new(runs), shortest: RUN, marks, numbers: WhisperedNumbers::default() }
    }

    /// What colleagues told in confidence, each by itself: also a sentence that is shorter than a run, where all of it comes back, and every
    /// number of four or more digits.
    pub fn of_whispers<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let (mut runs, mut numbers) = (HashSet::default(), WhisperedNumbers::default());
        for text in texts {
            let text = strip_quoted(text);
            numbers.add(&text);
            let ends = sentences::find_ends(&text);
            let reading = GuardrailReading::new(&text, &ends);
            runs.extend(hash_runs(&collect_words(&reading), RUN).map(|(_, run)| run));
            let mut from = 0;
            for to in ends {
                let sentence = text.get(from..to).unwrap_or_default();
                let reading = GuardrailReading::new(sentence, &[sentence.len()]);
                let words = collect_words(&reading);
                if (SHORTEST_SENTENCE..RUN).contains(&words.len()) {
                    runs.extend(hash_runs(&words, words.len()).map(|(_, run)| run));
                }
                from = to;
            }
        }
        Self { runs: Arc::new(runs), shortest: SHORTEST_SENTENCE, marks: Vec::new(), numbers }
    }

    /// The same where a text is no secret, such as what the person wrote themselves: its numbers may come back.
    #[must_use]
    pub fn without_numbers_of(mut self, text: &str) -> Self {
        self.numbers.remove_known(text);
        self
    }

    /// The same text with the marks of one turn: what is the same in every turn is read once.
    #[must_use]
    pub fn with_marks(&self, marks: Vec<String>) -> Self {
        Self { runs: self.runs.clone(), shortest: self.shortest, marks, numbers: self.numbers.clone() }
    }

    /// Whether a longer piece of it stands in a text.
    pub fn is_repeated_in(&self, text: &str) -> bool {
        let reading = GuardrailReading::new(text, &sentences::find_ends(text));
        self.find_leak(text, &reading, &[]).is_some() || !self.find_numbers(text, &[], &[]).is_empty()
    }

    /// Where whispered numbers come back; `amounts` are known otherwise, such as from a tool.
    pub(crate) fn find_numbers(
        &self,
        text: &str,
        earlier: &[ReplyStretch],
        amounts: &[Money],
    ) -> Vec<Range<usize>> {
        if self.numbers.is_empty() {
            return Vec::new();
        }
        let known: Vec<String> =
            amounts.iter().map(|amount| (amount.as_paise() / 100).unsigned_abs().to_string()).collect();
        let is_known = |number: &[u8]| {
            known.iter().any(|known| known.bytes().map(|digit| digit - b'0').eq(number.iter().copied()))
        };
        self.numbers.find(text, earlier, is_known)
    }

    /// Where the prompt's own words come back first.
    pub(crate) fn find_leak(
        &self,
        text: &str,
        reading: &GuardrailReading,
        earlier: &[ReplyStretch],
    ) -> Option<Range<usize>> {
        self.find_leaks(text, reading, earlier).into_iter().next()
    }

    /// Everywhere that the prompt's own words come back in a reading, as ranges of bytes; `earlier` is what was said before it. One that is said
    /// twice is found twice.
    pub(crate) fn find_leaks(
        &self,
        text: &str,
        reading: &GuardrailReading,
        earlier: &[ReplyStretch],
    ) -> Vec<Range<usize>> {
        let mark = self.marks.iter().filter(|mark| !mark.is_empty());
        if let Some((at, mark)) = mark.filter_map(|mark| Some((text.find(mark.as_str())?, mark))).next() {
            return std::iter::once(at..at + mark.len()).collect();
        }
        if self.runs.is_empty() {
            return Vec::new();
        }
        let mut all = last_words(earlier);
        let kept = all.len();
        all.extend(collect_words(reading));
        let mut found = Vec::new();
        for length in self.shortest..=RUN {
            // Of what was said before alone nothing is found anew.
            let is_known = |(from, run): &(usize, u64)| from + length > kept && self.runs.contains(run);
            let leaks = hash_runs(&all, length).filter(is_known).filter_map(|(from, _)| {
                let last = all.get((from + length - 1).max(kept))?.0;
                let first = all.get(from.max(kept))?.0;
                Some(reading.tokens.get(first)?.start..reading.tokens.get(last)?.end)
            });
            found.extend(leaks);
        }
        merge_ranges(found)
    }
}

/// In order, those that overlap as one.
pub(crate) fn merge_ranges(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut().filter(|last| range.start < last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

/// The prompt without what stands in quotation marks there: those are words to be said.
fn strip_quoted(text: &str) -> String {
    let mut inside = false;
    text.chars()
        .map(|letter| {
            if matches!(letter, '"' | '“' | '”') {
                inside = !inside;
                return '\n';
            }
            if inside { ' ' } else { letter }
        })
        .collect()
}

/// The words said last, as many as a run may begin with.
fn last_words(earlier: &[ReplyStretch]) -> Vec<(usize, u64)> {
    let mut last: Vec<(usize, u64)> = Vec::with_capacity(RUN - 1);
    for part in earlier.iter().rev() {
        let reading = &part.reading;
        let words = (0..reading.tokens.len()).rev().filter(|at| reading.is_word_or_number(*at));
        last.extend(words.take(RUN - 1 - last.len()).map(|at| (at, reading.hash(at))));
        if last.len() == RUN - 1 {
            break;
        }
    }
    last.reverse();
    last
}

/// The words of a reading: the token each is, and its hash.
fn collect_words(reading: &GuardrailReading) -> Vec<(usize, u64)> {
    let words = (0..reading.tokens.len()).filter(|at| reading.is_word_or_number(*at));
    words.map(|at| (at, reading.hash(at))).collect()
}

/// Every run of so many words, with the word it begins at.
fn hash_runs(words: &[(usize, u64)], length: usize) -> impl Iterator<Item = (usize, u64)> {
    let together =
        |run: &[(usize, u64)]| run.iter().fold(run.len() as u64, |all, (_, one)| all.rotate_left(9) ^ one);
    words.windows(length.max(1)).enumerate().map(move |(from, run)| (from, together(run)))
}
