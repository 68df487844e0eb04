//! A name that is several people's, and one that is nobody's: the numbered question, the pick that answers it, and the
//! search that comes before giving up.

use munshi_lang::list_position;
use munshi_lang::names::is_honorific;
use munshi_lang::yes_no::{YesNoAnswer, classify_reply};
use munshi_lang::{ContactDirectory, Locale, PhraseError, Phrasebook, PlaceholderValue, fold};
use munshi_tools::{ChoiceOption, FailureHint};
use munshi_types::{ToolName, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::entities::EntityRef;

/// So many are shown with a number; whoever means another says its name.
pub const MOST_SHOWN: usize = 9;
const MOST: usize = 20;
/// In letters.
const LONGEST_LABEL: usize = 130;
/// In bytes; a call with more is not kept, and the model makes it anew.
const LONGEST_ARGUMENTS: usize = 4 * 1024;
/// A longer message says more than no.
const NO_WORDS: usize = 3;
/// A longer message says more than which one.
const MOST_WORDS: usize = 7;

/// A question with numbers, as the session keeps it until the next message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChoiceQuestion {
    tool: String,
    /// The call as it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
    /// Which of its arguments the pick becomes.
    argument: String,
    choices: Vec<ChoiceOption>,
    /// It was passed by, and is put a second time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    again: bool,
}

/// What was picked, and the call it makes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceAnswer {
    pub tool: String,
    /// The call as it was made, with the choice in its place; none where it was too long to keep.
    pub arguments: Option<Value>,
    pub argument: String,
    pub choice: ChoiceOption,
}

impl ChoiceQuestion {
    /// The question that a failure leads to, if it does.
    pub fn from_hint(tool: &str, arguments: &Value, next: &FailureHint) -> Option<Self> {
        match next {
            FailureHint::Choose { argument, choices } => {
                Self::new(tool, arguments, argument, choices.clone())
            }
            FailureHint::Search { .. } => None,
        }
    }

    fn new(tool: &str, arguments: &Value, argument: &str, choices: Vec<ChoiceOption>) -> Option<Self> {
        let arguments =
            Some(arguments).filter(|value| value.is_object() && value.to_string().len() <= LONGEST_ARGUMENTS);
        let asked = Self {
            tool: tool.to_owned(),
            arguments: arguments.cloned(),
            argument: argument.to_owned(),
            choices,
            again: false,
        };
        asked.enforce_limits()
    }

    pub(crate) fn enforce_limits(mut self) -> Option<Self> {
        let fits = |choice: &ChoiceOption| {
            choice.label.chars().count() <= LONGEST_LABEL
                && choice.value.to_string().len() <= LONGEST_ARGUMENTS
        };
        self.choices.retain(fits);
        self.choices.truncate(MOST);
        (!self.choices.is_empty()).then_some(self)
    }

    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Whether a message says no to it and nothing else.
    pub fn is_declined(&self, text: &str) -> bool {
        classify_reply(text) == YesNoAnswer::No && text.split_whitespace().count() <= NO_WORDS
    }

    /// The question for another time, where a message passed it by. Who says no to it wants it no more.
    pub fn into_repeat(self, text: &str) -> Option<Self> {
        let is_over = self.again || classify_reply(text) == YesNoAnswer::No;
        (!is_over).then_some(Self { again: true, ..self })
    }

    /// Whether a call is the one that it is about, whomever it names.
    pub fn is_about(&self, tool: &str, arguments: &Value) -> bool {
        let others = |value: &Value| {
            let mut rest = value.as_object().cloned().unwrap_or_default();
            rest.remove(&self.argument);
            rest
        };
        self.tool == tool && self.arguments.as_ref().is_some_and(|own| others(own) == others(arguments))
    }

    pub fn choices(&self) -> &[ChoiceOption] {
        &self.choices
    }

    /// The question as the person sees it.
    pub fn render(&self, book: &Phrasebook, voice: Locale) -> Result<String, PhraseError> {
        let count = PlaceholderValue::Count(self.choices.len() as u64);
        let mut text = book.render("ask-which-one", voice, &[("count", count)])?;
        for (number, choice) in (1..).zip(self.choices.iter().take(MOST_SHOWN)) {
            text += &match &choice.detail {
                Some(detail) => format!("\n{number}. {} – {detail}", one_line(&choice.label)),
                None => format!("\n{number}. {}", one_line(&choice.label)),
            };
        }
        Ok(text)
    }

    /// What a message picks: a number, a place, a name, or yes where there is one thing only.
    pub(crate) fn pick(self, text: &str) -> Option<ChoiceAnswer> {
        let at = self.find_choice_index(text)?;
        let choice = self.choices.get(at)?.clone();
        let arguments = self.arguments.map(|mut arguments| {
            arguments[self.argument.as_str()] = choice.value.clone();
            arguments
        });
        Some(ChoiceAnswer { tool: self.tool, arguments, argument: self.argument, choice })
    }

    fn find_choice_index(&self, text: &str) -> Option<usize> {
        let answer = classify_reply(text);
        if self.choices.len() == 1 && answer == YesNoAnswer::Yes {
            return Some(0);
        }
        if let Some(at) = self.match_numbered_label(text) {
            return Some(at);
        }
        if let Some(place) = list_position::parse_choice(text) {
            return place.index(self.choices.len());
        }
        if answer == YesNoAnswer::No || text.split_whitespace().count() > MOST_WORDS {
            return None;
        }
        self.match_name(text)
    }

    /// `2. Ramesh Kumar`, as it was shown or offered.
    fn match_numbered_label(&self, text: &str) -> Option<usize> {
        let (number, label) = text.trim().split_once(['.', ')'])?;
        let at = list_position::parse_choice(number)?.index(self.choices.len())?;
        let (known, said) = (letters(&self.choices.get(at)?.label), letters(label));
        // What is offered may be cut short.
        (!said.is_empty() && known.starts_with(&said)).then_some(at)
    }

    /// The one whose name or detail was said, if it is one, and if nothing else was.
    fn match_name(&self, text: &str) -> Option<usize> {
        let said = fold::key(text);
        let same = self.indexes(|choice| fold::key(&choice.label) == said);
        if let [one] = same.as_slice() {
            return Some(*one);
        }
        let counts: Vec<usize> =
            self.choices.iter().map(|choice| count_matching_words(text, choice)).collect();
        let most = counts.iter().copied().max().filter(|most| *most > 0)?;
        let mut best = counts.iter().enumerate().filter(|(_, count)| **count == most).map(|(at, _)| at);
        let one = best.next().filter(|_| best.next().is_none())?;
        let choice = self.choices.get(one)?;
        let is_left = |word: &str| {
            !list_position::is_filler_word(word)
                && !is_honorific(&fold::key(word))
                && count_matching_words(word, choice) == 0
        };
        let words = text
            .split(|c: char| c.is_whitespace() || c.is_ascii_punctuation())
            .filter(|word| !word.is_empty());
        (!words.into_iter().any(is_left)).then_some(one)
    }

    fn indexes(&self, is: impl Fn(&ChoiceOption) -> bool) -> Vec<usize> {
        self.choices.iter().enumerate().filter(|(_, choice)| is(choice)).map(|(at, _)| at).collect()
    }
}

/// What comes of a search that was made because a tool found nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum FallbackSearchOutcome {
    /// Nothing either.
    Nothing,
    /// One thing, and the tool only looks: the call to make with it.
    One(Value),
    /// The person is asked.
    Ask(ChoiceQuestion),
    /// The call does not say where its words stood; the model goes on with what was found.
    Unplaced,
}

/// The search to make where a tool found nothing, if the agent has one for it.
pub fn find_fallback_search(next: &FailureHint, offered: &[ToolName]) -> Option<(ToolName, Value)> {
    let (by, arguments) = next.search_call()?;
    offered.iter().any(|tool| tool.overlaps(&by.tool)).then(|| (by.tool.clone(), arguments))
}

/// Goes from what a search found back to the call that found nothing. What only nearly has the name is never written to
/// unasked.
pub fn resolve_fallback_search(
    spec: &ToolSpec,
    arguments: &Value,
    next: &FailureHint,
    found: &[EntityRef],
) -> FallbackSearchOutcome {
    let FailureHint::Search { words, .. } = next else { return FallbackSearchOutcome::Unplaced };
    if found.is_empty() {
        return FallbackSearchOutcome::Nothing;
    }
    let place = arguments.as_object().and_then(|fields| {
        fields
            .iter()
            .find(|(_, value)| value.as_str().is_some_and(|text| text.trim() == words.trim()))
            .map(|(key, _)| key)
    });
    let Some(argument) = place else { return FallbackSearchOutcome::Unplaced };
    if let ([one], false) = (found, spec.effect.writes()) {
        let mut again = arguments.clone();
        again[argument.as_str()] = Value::from(one.name.as_str());
        return FallbackSearchOutcome::One(again);
    }
    let choices = found.iter().map(|one| ChoiceOption::new(one.name.as_str(), one.name.as_str())).collect();
    ChoiceQuestion::new(spec.name.as_str(), arguments, argument, choices)
        .map_or(FallbackSearchOutcome::Nothing, FallbackSearchOutcome::Ask)
}

/// What the person is told when nothing was found.
pub fn render_not_found(
    next: &FailureHint,
    book: &Phrasebook,
    voice: Locale,
) -> Option<Result<String, PhraseError>> {
    match next {
        FailureHint::Search { words, .. } => {
            Some(book.render("not-found", voice, &[("name", PlaceholderValue::Text(&one_line(words)))]))
        }
        FailureHint::Choose { .. } => None,
    }
}

/// How many words of a choice a text says, in any script and under any ending.
fn count_matching_words(text: &str, choice: &ChoiceOption) -> usize {
    let words = choice
        .label
        .split_whitespace()
        .chain(choice.detail.iter().flat_map(|detail| detail.split_whitespace()));
    let directory = ContactDirectory::new(words);
    let mut met: Vec<usize> = directory
        .find(text)
        .iter()
        .flat_map(|found| &found.candidates)
        .map(|candidate| candidate.contact)
        .collect();
    met.sort_unstable();
    met.dedup();
    met.len()
}

/// The letters of a label as they are written.
fn letters(text: &str) -> String {
    fold::normalize_spelling(text).split_whitespace().collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
