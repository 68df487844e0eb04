//! A message after a question: its answer, its end, or another subject.

use munshi_lang::Kind as Counts;
use serde_json::Value;

use crate::fill::{Filled, fill};
use crate::judgement::Verdict;
use crate::palette::{Field, Tool};
use crate::plan::{Plan, SURE, plan};
use crate::reading::{Before, Reading};
use crate::sight::Sight;
use crate::state::{Open, Want};
use crate::turn::{Answer, Turn};
use crate::words::Class;

/// After this many answers that were none, the question is given up.
const TRIES: u8 = 2;

impl Turn<'_> {
    /// The answer where the message goes on with the open question; none where it begins something else.
    pub(crate) fn continued(&self, reading: &Reading<'_>, before: &Before, open: &Open) -> Option<Answer> {
        let mouth = self.mouth(reading.voice);
        let tool = self.palette.find(open.tools.first()?)?;
        let has_number = !reading.numbers.is_empty();
        let gives_up = reading.is_only(Class::Stop) || (reading.is_only(Class::No) && !has_number);
        if gives_up {
            return Some(Answer::text(mouth.plain("cancelled"), Verdict::Talk, 0.95));
        }
        if let Some(other) = self.another_subject(reading, before, tool) {
            return Some(other);
        }
        match &open.wants {
            Want::GoAhead if reading.is_only(Class::Yes) => {
                Some(self.call(tool, open.arguments.clone(), 0.95))
            }
            Want::GoAhead if has_number => self.corrected(reading, before, open, tool),
            Want::GoAhead => Some(self.again(open, tool, reading)),
            Want::Field { name, choices } => {
                let field = tool.field(name)?;
                Some(self.field_answered(reading, before, open, tool, field, choices))
            }
            Want::Tool { said } => Some(self.tool_answered(reading, before, open, said)),
        }
    }

    /// Something else that is said plainly enough to drop the question for.
    fn another_subject(&self, reading: &Reading<'_>, before: &Before, asked: &Tool) -> Option<Answer> {
        let (plan, known) = plan(Reading::new(reading.message, before), &self.palette, None);
        let plan = plan.filter(|plan| known > 0 && !plan.is_unreal && plan.confidence >= SURE)?;
        let tool = plan.tool(&self.palette)?;
        let is_whole = plan.filled.missing(tool).is_none();
        (is_whole || tool.name() != asked.name())
            .then(|| self.planned(plan, reading, &self.mouth(reading.voice)))
    }

    /// "Nahi 600 tha": the same with another number, which is now the person's own word.
    fn corrected(&self, reading: &Reading<'_>, before: &Before, open: &Open, tool: &Tool) -> Option<Answer> {
        let sight = Sight::new(Reading::new(reading.message, before), &self.palette);
        let filled = fill(&sight, &sight.spans_for(tool, &self.palette), &tool.fields, None);
        let mut arguments = open.arguments.clone();
        arguments.extend(filled.arguments.clone());
        let filled = Filled { arguments, ..filled };
        Some(self.filled_up(tool, filled, reading))
    }

    fn field_answered(
        &self,
        reading: &Reading<'_>,
        before: &Before,
        open: &Open,
        tool: &Tool,
        field: &Field,
        choices: &[Value],
    ) -> Answer {
        let sight = Sight::new(Reading::new(reading.message, before), &self.palette);
        let mut filled = fill(&sight, &sight.spans_for(tool, &self.palette), &tool.fields, Some(&field.name));
        // Only numbers and names answer; a note is the message that began it.
        for (name, value) in &open.arguments {
            let is_new =
                *name == field.name || filled.arguments.get(name).is_some_and(|_| is_said(tool, name));
            if !is_new {
                filled.arguments.insert(name.clone(), value.clone());
            }
        }
        filled.doubts.retain(|(name, _)| *name == field.name || !open.arguments.contains_key(name));
        if let Some(value) = picked(reading, choices) {
            filled.doubts.retain(|(name, _)| *name != field.name);
            filled.arguments.insert(field.name.clone(), value);
        }
        let is_answered = filled.arguments.contains_key(&field.name)
            || filled.doubts.iter().any(|(name, _)| *name == field.name);
        let says_a_number = sight.counts(&[Counts::Money, Counts::Plain]) > 0;
        if is_answered && (reading.mood.is_plain() || says_a_number) {
            return self.filled_up(tool, filled, reading);
        }
        self.again(open, tool, reading)
    }

    /// Calls the tool, or asks the next question.
    fn filled_up(&self, tool: &Tool, filled: Filled, reading: &Reading<'_>) -> Answer {
        let mouth = self.mouth(reading.voice);
        let at = self.palette.tools.iter().position(|other| other.name() == tool.name()).unwrap_or(0);
        let plan = Plan { tool: at, filled, confidence: 0.9, is_unreal: false, rival: None };
        match self.incomplete(tool, &plan, &mouth) {
            Some(question) => question,
            None => self.call(tool, plan.filled.arguments, 0.9),
        }
    }

    /// The message that left the tool open, read again with what was said now.
    fn tool_answered(&self, reading: &Reading<'_>, before: &Before, open: &Open, said: &str) -> Answer {
        let mouth = self.mouth(reading.voice);
        let both = format!("{said} {}", reading.message);
        let (plan, _) = plan(Reading::new(&both, before), &self.palette, Some(&open.tools));
        match plan {
            Some(plan) if plan.rival.is_none() && !plan.is_unreal => {
                self.planned(plan, &Reading::new(&both, before), &mouth)
            }
            _ => self.lost(&mouth),
        }
    }

    /// Asks once more, and then gives the question up.
    fn again(&self, open: &Open, tool: &Tool, reading: &Reading<'_>) -> Answer {
        let mouth = self.mouth(reading.voice);
        let tries = open.tries + 1;
        if tries >= TRIES {
            return Answer::text(mouth.plain("stuck"), Verdict::Unknown, 0.0);
        }
        let text = match &open.wants {
            Want::Field { name, choices } if choices.len() > 1 => {
                tool.field(name).map(|field| mouth.ask_which(field, choices)).unwrap_or_default()
            }
            Want::Field { name, .. } => tool.field(name).map(|field| mouth.ask(field)).unwrap_or_default(),
            _ => mouth.ask_go_ahead(tool, &open.arguments),
        };
        let mut open = open.clone();
        open.tries = tries;
        self.asked(text, 0.3, open)
    }
}

/// Whether a field is filled from what is said, and not from the whole message.
fn is_said(tool: &Tool, name: &str) -> bool {
    use crate::palette::Kind;
    tool.field(name).is_some_and(|field| matches!(field.kind, Kind::Money | Kind::Quantity | Kind::Unit))
}

/// The choice an answer names, by what it says or by its place.
fn picked(reading: &Reading<'_>, choices: &[Value]) -> Option<Value> {
    const FIRST: &[&str] =
        &["first", "pehla", "pehle", "pahla", "pehli", "modalu", "mudhal", "modati", "prothom", "pahila"];
    const SECOND: &[&str] =
        &["second", "dusra", "doosra", "dusre", "dusri", "dvitiyo", "bijo", "duja", "rendava", "irandavadhu"];
    let key = |text: &str| munshi_lang::fold::key(text);
    let names = |list: &[&str]| reading.words.iter().any(|word| list.iter().any(|one| key(one) == word.key));
    let by_text = choices.iter().find(|choice| {
        choice.as_str().is_some_and(|text| {
            text.split_whitespace()
                .any(|part| reading.words.iter().any(|word| !word.key.is_empty() && word.key == key(part)))
        })
    });
    by_text
        .or_else(|| choices.first().filter(|_| names(FIRST)))
        .or_else(|| choices.get(1).filter(|_| names(SECOND)))
        .cloned()
}
