//! What an answer to a question says: of what was asked, and beside it.
//!
//! An answer goes with the question only in what it leaves alone. A name or a number in it that is not the question's
//! own is never passed over: it is taken and read back, or the answer is read back as it is.

use munshi_lang::names;
use serde_json::{Map, Value};

use crate::fill::{FilledArguments, is_time};
use crate::name_roles::NameRole;
use crate::prepared_tools::{ArgumentField, PreparedTool, ToolArgumentKind};
use crate::question::OfflineQuestion;
use crate::reading::{OfflineReading, OfflineWord, WordOwner};
use crate::small_words::{SmallWordClass, SmallWordClassSet};
use crate::spans::NameSpan;
use crate::tool_view::{MessageToolView, person_likelihood};

/// What is held against an open question.
pub(crate) struct OfflineQuestionContext<'h> {
    pub tool: &'h PreparedTool,
    pub open: &'h OfflineQuestion,
    /// The field that was asked for; none where a yes was.
    pub wanted: Option<&'h ArgumentField>,
}

impl OfflineQuestionContext<'_> {
    /// What the answer says anew: numbers, a thing that is counted, a person who is plainly named.
    pub(crate) fn new_arguments(&self, filled: &FilledArguments) -> Map<String, Value> {
        let is_new = |name: &str| {
            let Some(field) = self.tool.field(name) else { return false };
            match field.kind {
                ToolArgumentKind::Money | ToolArgumentKind::Quantity | ToolArgumentKind::Unit => true,
                ToolArgumentKind::Item => filled.item.as_ref().is_some_and(|item| item.is_counted),
                ToolArgumentKind::Person => self.names_another(filled),
                _ => false,
            }
        };
        filled
            .arguments
            .iter()
            .filter(|(name, _)| is_new(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Whether somebody else is plainly named than the question is about.
    pub(crate) fn names_another(&self, filled: &FilledArguments) -> bool {
        let Some(span) = filled.person.as_ref().filter(|span| is_plain_name(span)) else { return false };
        self.is_another(&Value::from(span.text.as_str())).unwrap_or(false)
    }

    /// Whether a name is somebody else's than the question is about; none where it is about nobody yet.
    pub(crate) fn is_another(&self, name: &Value) -> Option<bool> {
        self.known_value(&ToolArgumentKind::Person).map(|then| !is_same_name(name, then))
    }

    /// What the question has for the field of a kind already.
    fn known_value(&self, kind: &ToolArgumentKind) -> Option<&Value> {
        self.open.arguments.get(&self.tool.find_field(kind)?.name)
    }

    /// Whether a name or thing is what was asked for, or the question's own.
    fn expects(&self, span: &NameSpan, kind: &ToolArgumentKind) -> bool {
        if self.wanted.is_some_and(|field| field.kind == *kind) {
            return *kind != ToolArgumentKind::Person || !self.has_opposite_role(span);
        }
        self.known_value(kind).is_some_and(|then| is_same_name(&Value::from(span.text.as_str()), then))
    }

    /// Whether the name has a part that may make it another act: who was asked about receives, and this one gives.
    fn has_opposite_role(&self, span: &NameSpan) -> bool {
        let receives = || self.tool.patterns.iter().any(|pattern| pattern.role == Some(NameRole::To));
        match span.told.filter(|told| told.is_marked).map(|told| told.role) {
            Some(NameRole::To) => !receives(),
            Some(NameRole::By | NameRole::From) => receives(),
            _ => false,
        }
    }

    /// Whether a number of the question would be another one.
    fn changes_number(&self, filled: &FilledArguments) -> bool {
        let is_asked = |name: &str| self.wanted.is_some_and(|field| field.name == name);
        self.open.arguments.iter().any(|(name, then)| {
            let counts = self.tool.field(name).is_some_and(is_number);
            counts && !is_asked(name) && filled.arguments.get(name).is_some_and(|now| now != then)
        })
    }
}

/// Whether a message speaks of another person or another number than the question.
pub(crate) fn differs_from_question(
    tool: &PreparedTool,
    filled: &FilledArguments,
    open: &OfflineQuestion,
) -> bool {
    let heard = OfflineQuestionContext { tool, open, wanted: None };
    let differs = |name: &str, now: &Value| open.arguments.get(name).is_some_and(|then| then != now);
    let recounts = tool
        .fields
        .iter()
        .filter(|field| is_number(field))
        .any(|field| filled.arguments.get(&field.name).is_some_and(|now| differs(&field.name, now)));
    recounts || heard.names_another(filled)
}

const fn is_number(field: &ArgumentField) -> bool {
    matches!(field.kind, ToolArgumentKind::Money | ToolArgumentKind::Quantity)
}

/// Whether two names would be found as one.
fn is_same_name(one: &Value, other: &Value) -> bool {
    match (one.as_str(), other.as_str()) {
        (Some(one), Some(other)) => {
            names::similarity(one, other) >= names::SAME || names::name_key(one) == names::name_key(other)
        }
        _ => one == other,
    }
}

/// A name with a part in the sentence, with respect, or written large inside it.
fn is_plain_name(span: &NameSpan) -> bool {
    person_likelihood(span) >= 2.0 || (span.is_capital && span.from > 0)
}

/// Whether a message agrees, with no more than the number beside it.
pub(crate) fn is_agreement(reading: &OfflineReading<'_>) -> bool {
    let allowed = SmallWordClassSet::of(&[SmallWordClass::Yes, SmallWordClass::Small, SmallWordClass::In]);
    let said = || reading.words.iter().filter(|word| !word.is_sign);
    reading.mood.is_plain()
        && said().any(|word| word.held.is_none() && word.classes.has(SmallWordClass::Yes))
        && said().all(|word| {
            matches!(word.held, Some(WordOwner::Number(_)))
                || (word.held.is_none() && word.classes.intersects(allowed))
        })
}

/// Whether an answer is a number or a name and grammar, and nothing that may take it back.
pub(crate) fn is_plain_answer(
    sight: &MessageToolView<'_>,
    filled: &FilledArguments,
    heard: &OfflineQuestionContext<'_>,
) -> bool {
    let harmless = SmallWordClassSet::of(&[
        SmallWordClass::To,
        SmallWordClass::By,
        SmallWordClass::From,
        SmallWordClass::Of,
        SmallWordClass::In,
        SmallWordClass::Small,
        SmallWordClass::Yes,
        SmallWordClass::Me,
        SmallWordClass::ToMe,
    ]);
    let taken = [(&filled.person, ToolArgumentKind::Person), (&filled.item, ToolArgumentKind::Item)];
    let is_taken = |at: usize| {
        taken.iter().any(|(span, kind)| {
            let span = span.as_ref().filter(|span| (span.from..span.to).contains(&at));
            span.is_some_and(|span| span.to - span.from < 3 && heard.expects(span, kind))
        })
    };
    let reading = &sight.reading;
    let is_clear = |(at, word): (usize, &OfflineWord<'_>)| {
        let is_number = matches!(word.held, Some(WordOwner::Number(_)));
        let is_doubtful = word.classes.intersects(SmallWordClassSet::of(&[
            SmallWordClass::Doubt,
            SmallWordClass::Not,
            SmallWordClass::No,
            SmallWordClass::If,
        ]));
        is_number
            || (word.is_sign && word.text != "?")
            || (!is_doubtful && (is_taken(at) || word.classes.intersects(harmless)))
    };
    reading.mood.is_plain()
        && filled.unplaced == 0
        && !heard.changes_number(filled)
        && reading.numbers.iter().all(|number| !number.unit.is_some_and(is_time))
        && reading.words.iter().enumerate().all(is_clear)
}

/// The choice an answer names, by what it says or by its place.
pub(crate) fn find_choice(reading: &OfflineReading<'_>, choices: &[Value]) -> Option<Value> {
    const FIRST: &[&str] =
        &["first", "pehla", "pehle", "pahla", "pehli", "modalu", "mudhal", "modati", "prothom", "pahila"];
    const SECOND: &[&str] =
        &["second", "dusra", "doosra", "dusre", "dusri", "dvitiyo", "bijo", "duja", "rendava", "irandavadhu"];
    let key = |text: &str| munshi_lang::fold::key(text);
    let names = |list: &[&str]| reading.words.iter().any(|word| list.iter().any(|one| key(one) == word.key));
    find_choice_by_words(reading, choices)
        .or_else(|| choices.first().filter(|_| names(FIRST)))
        .or_else(|| choices.get(1).filter(|_| names(SECOND)))
        .cloned()
}

/// The one choice of which the most words were said; none where two have as many.
fn find_choice_by_words<'c>(reading: &OfflineReading<'_>, choices: &'c [Value]) -> Option<&'c Value> {
    let is_said = |part: &&str| {
        let key = munshi_lang::fold::key(part);
        reading.words.iter().any(|word| !word.key.is_empty() && word.key == key)
    };
    let said =
        |choice: &Value| choice.as_str().map_or(0, |text| text.split_whitespace().filter(is_said).count());
    let most = choices.iter().map(said).max().filter(|most| *most > 0)?;
    let mut best = choices.iter().filter(|choice| said(choice) == most);
    let first = best.next()?;
    best.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::OfflineReadingContext;

    fn chosen(said: &str) -> Option<String> {
        let choices = ["Ramesh Kumar", "Ramesh Gupta"].map(Value::from);
        let before = OfflineReadingContext::default();
        find_choice(&OfflineReading::new(said, &before), &choices)?.as_str().map(str::to_owned)
    }

    #[test]
    fn of_two_that_share_a_name_none_is_picked_by_it() {
        assert_eq!(chosen("Ramesh"), None);
        assert_eq!(chosen("Gupta wala").as_deref(), Some("Ramesh Gupta"));
        assert_eq!(chosen("Ramesh Kumar ko").as_deref(), Some("Ramesh Kumar"));
        assert_eq!(chosen("dusra").as_deref(), Some("Ramesh Gupta"));
    }
}
