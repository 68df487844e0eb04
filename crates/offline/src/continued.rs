//! A message after a question: its answer, its end, or another subject.

use munshi_lang::NumberKind as Counts;
use serde_json::Value;

use crate::answered::{OfflineQuestionContext, changed, is_agreed, is_plain_answer, picked};
use crate::fill::{FilledArguments, fill};
use crate::judgement::OfflineVerdict;
use crate::palette::{ArgumentField, PreparedTool, ToolArgumentKind};
use crate::plan::{LIKELY, OfflineIntent, SURE, plan};
use crate::reading::{OfflineReading, OfflineReadingContext};
use crate::say::LocalizedPhrasebook;
use crate::sight::MessageToolView;
use crate::state::{OfflineQuestion, OfflineQuestionKind};
use crate::turn::{OfflineAnswer, OfflineTurn};
use crate::words::SmallWordClass;

/// After this many answers that were none, the question is given up.
const TRIES: u8 = 2;

/// From here a question of one's own is taken for one, though another waits.
const PLAIN: f32 = 0.65;

impl OfflineTurn<'_> {
    /// The answer where the message goes on with the open question; none where it begins something else.
    pub(crate) fn continued(
        &self,
        reading: &OfflineReading<'_>,
        before: &OfflineReadingContext,
        open: &OfflineQuestion,
    ) -> Option<OfflineAnswer> {
        let tool = self.palette.find(open.tools.first()?)?;
        if reading.is_refusal() {
            return Some(self.dropped(reading));
        }
        if let Some(other) = self.another_subject(reading, open, tool) {
            return Some(other);
        }
        match &open.wants {
            OfflineQuestionKind::GoAhead if reading.is_only(SmallWordClass::Yes) => {
                Some(self.call(tool, open.arguments.clone(), 0.95))
            }
            OfflineQuestionKind::GoAhead if self.is_of_another(reading, open, tool) => {
                Some(self.turned_away(reading, before, open, tool))
            }
            OfflineQuestionKind::GoAhead => Some(self.corrected(reading, open, tool)),
            OfflineQuestionKind::Field { name, choices } => {
                let field = tool.field(name)?;
                if field.kind != ToolArgumentKind::Person && self.is_of_another(reading, open, tool) {
                    return Some(self.turned_away(reading, before, open, tool));
                }
                Some(self.field_answered(reading, open, tool, field, choices))
            }
            OfflineQuestionKind::Tool { said } => Some(self.tool_answered(reading, before, open, tool, said)),
        }
    }

    /// Something else that is said plainly enough to drop the question for. What would have been written is named, so
    /// that nobody takes it for done.
    fn another_subject(
        &self,
        reading: &OfflineReading<'_>,
        open: &OfflineQuestion,
        asked: &PreparedTool,
    ) -> Option<OfflineAnswer> {
        let mouth = self.mouth(reading.voice);
        let wants_name = matches!(&open.wants, OfflineQuestionKind::Field { name, .. } if asked.field(name).is_some_and(|field| field.kind == ToolArgumentKind::Person));
        if reading.is_talk(SmallWordClass::Help) || (!wants_name && reading.is_talk(SmallWordClass::Hello)) {
            return self.small_talk(reading, &mouth).map(|talk| self.leaving(talk, open, asked, &mouth));
        }
        let (plan, known) = plan(reading.clone(), &self.palette, None);
        let plan = plan.filter(|plan| known > 0 && !plan.is_unreal)?;
        let tool = plan.tool(&self.palette)?;
        // A no is to what was asked, and corrects that.
        if tool.spec.effect.writes() && reading.refuses() {
            return None;
        }
        let is_whole = plan.filled.missing(tool).is_none();
        let is_other = tool.name() != asked.name();
        let is_plain = match plan.confidence >= SURE {
            true => is_whole || is_other,
            false => is_whole && is_other && says_enough(&plan, tool, reading),
        };
        if !is_plain {
            return None;
        }
        let heard = OfflineQuestionContext { tool: asked, open, wanted: None };
        let is_left =
            is_other || heard.is_another(named(tool, &plan.filled).unwrap_or(&Value::Null)) == Some(true);
        let answer = self.planned(plan, reading, &mouth);
        Some(if is_left { self.leaving(answer, open, asked, &mouth) } else { answer })
    }

    /// Whether a sentence is of somebody else than the open question, however unsure it is: its number is theirs. A no
    /// corrects what was asked, and a name alone says nothing of what was done.
    fn is_of_another(
        &self,
        reading: &OfflineReading<'_>,
        open: &OfflineQuestion,
        asked: &PreparedTool,
    ) -> bool {
        if asked.wants(&ToolArgumentKind::Person).is_none()
            || reading.refuses()
            || reading.is_only(SmallWordClass::Yes)
        {
            return false;
        }
        let (plan, known) = plan(reading.clone(), &self.palette, None);
        let is_sentence = known > 0 || !reading.numbers.is_empty();
        let Some(plan) = plan.filter(|_| is_sentence) else { return false };
        let Some(tool) = plan.tool(&self.palette) else { return false };
        let heard = OfflineQuestionContext { tool: asked, open, wanted: None };
        let is_other = |name| heard.is_another(name).unwrap_or(tool.name() != asked.name());
        named(tool, &plan.filled).is_some_and(is_other)
    }

    /// Reads a message on its own, and says what it leaves unwritten.
    fn turned_away(
        &self,
        reading: &OfflineReading<'_>,
        before: &OfflineReadingContext,
        open: &OfflineQuestion,
        asked: &PreparedTool,
    ) -> OfflineAnswer {
        let answer = self.fresh(reading, before);
        self.leaving(answer, open, asked, &self.mouth(reading.voice))
    }

    /// Says too what the open question leaves unwritten.
    fn leaving(
        &self,
        answer: OfflineAnswer,
        open: &OfflineQuestion,
        asked: &PreparedTool,
        mouth: &LocalizedPhrasebook<'_>,
    ) -> OfflineAnswer {
        if !asked.spec.effect.writes() {
            return answer;
        }
        let left = mouth.left(asked, &open.arguments);
        OfflineAnswer { text: format!("{left}\n{}", answer.text), ..answer }
    }

    /// "Nahi 600 tha": the same with another number or for another person, read back once more. A no without one ends it.
    fn corrected(
        &self,
        reading: &OfflineReading<'_>,
        open: &OfflineQuestion,
        tool: &PreparedTool,
    ) -> OfflineAnswer {
        let sight = MessageToolView::new(reading.clone(), &self.palette);
        let filled = fill(&sight, &sight.spans_for(tool, &self.palette), &tool.fields, None);
        let heard = OfflineQuestionContext { tool, open, wanted: None };
        let mut arguments = open.arguments.clone();
        arguments.extend(heard.news(&filled));
        let is_new = arguments != open.arguments || !filled.doubts.is_empty();
        if !is_new && reading.refuses() {
            return self.dropped(reading);
        }
        if !is_new && !is_agreed(reading) {
            return self.again(open, tool, reading);
        }
        let is_left = heard.names_another(&filled);
        let filled = FilledArguments { arguments, doubts: filled.doubts, ..FilledArguments::default() };
        let trust = if is_new { Trust::ReadBack } else { Trust::Word };
        let answer = self.filled_up(tool, filled, reading, trust);
        if is_left { self.leaving(answer, open, tool, &self.mouth(reading.voice)) } else { answer }
    }

    /// The question is given up.
    fn dropped(&self, reading: &OfflineReading<'_>) -> OfflineAnswer {
        OfflineAnswer::text(self.mouth(reading.voice).plain("cancelled"), OfflineVerdict::Talk, 0.95)
    }

    fn field_answered(
        &self,
        reading: &OfflineReading<'_>,
        open: &OfflineQuestion,
        tool: &PreparedTool,
        field: &ArgumentField,
        choices: &[Value],
    ) -> OfflineAnswer {
        let sight = MessageToolView::new(reading.clone(), &self.palette);
        let mut filled = fill(&sight, &sight.spans_for(tool, &self.palette), &tool.fields, Some(&field.name));
        let heard = OfflineQuestionContext { tool, open, wanted: Some(field) };
        let news = heard.news(&filled);
        let (is_left, is_plain) = (heard.names_another(&filled), is_plain_answer(&sight, &filled, &heard));
        // Only numbers and names answer; a note is the message that began it.
        for (name, value) in &open.arguments {
            if *name != field.name && !news.contains_key(name) {
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
        if !is_answered || !(reading.mood.is_plain() || says_a_number) {
            return self.again(open, tool, reading);
        }
        let trust = if is_plain { Trust::Word } else { Trust::ReadBack };
        let answer = self.filled_up(tool, filled, reading, trust);
        if is_left { self.leaving(answer, open, tool, &self.mouth(reading.voice)) } else { answer }
    }

    /// Calls the tool, or asks the next question.
    fn filled_up(
        &self,
        tool: &PreparedTool,
        filled: FilledArguments,
        reading: &OfflineReading<'_>,
        trust: Trust,
    ) -> OfflineAnswer {
        let mouth = self.mouth(reading.voice);
        let at = self.palette.tools.iter().position(|other| other.name() == tool.name()).unwrap_or(0);
        let plan = OfflineIntent {
            tool: at,
            filled,
            confidence: 0.9,
            is_unreal: false,
            rival: None,
            is_half: false,
        };
        match self.incomplete(tool, &plan, &mouth) {
            Some(question) => question,
            None if trust == Trust::ReadBack && tool.spec.effect.writes() => {
                let open = self.open(OfflineQuestionKind::GoAhead, tool, &plan.filled.arguments, mouth.voice);
                self.asked(mouth.ask_go_ahead(tool, &plan.filled.arguments), LIKELY, open)
            }
            None => self.call(tool, plan.filled.arguments, 0.9),
        }
    }

    /// The message that left the tool open, read again with what was said now. Of another person or another amount it
    /// is a message of its own.
    fn tool_answered(
        &self,
        reading: &OfflineReading<'_>,
        before: &OfflineReadingContext,
        open: &OfflineQuestion,
        tool: &PreparedTool,
        said: &str,
    ) -> OfflineAnswer {
        let mouth = self.mouth(reading.voice);
        let sight = MessageToolView::new(reading.clone(), &self.palette);
        let filled = fill(&sight, &sight.spans_for(tool, &self.palette), &tool.fields, None);
        if changed(tool, &filled, open) {
            return self.leaving(self.fresh(reading, before), open, tool, &mouth);
        }
        let both = format!("{said} {}", reading.message);
        let (plan, _) = plan(OfflineReading::new(&both, before), &self.palette, Some(&open.tools));
        match plan {
            Some(plan) if plan.rival.is_none() && !plan.is_unreal => {
                self.planned(plan, &OfflineReading::new(&both, before), &mouth)
            }
            _ => self.lost(&mouth),
        }
    }

    /// Asks once more, and then gives the question up.
    fn again(
        &self,
        open: &OfflineQuestion,
        tool: &PreparedTool,
        reading: &OfflineReading<'_>,
    ) -> OfflineAnswer {
        let mouth = self.mouth(reading.voice);
        let tries = open.tries + 1;
        if tries >= TRIES {
            return OfflineAnswer::text(mouth.plain("stuck"), OfflineVerdict::Unknown, 0.0);
        }
        let text = match &open.wants {
            OfflineQuestionKind::Field { name, choices } if choices.len() > 1 => {
                tool.field(name).map(|field| mouth.ask_which(field, choices)).unwrap_or_default()
            }
            OfflineQuestionKind::Field { name, .. } => {
                tool.field(name).map(|field| mouth.ask(field)).unwrap_or_default()
            }
            _ => mouth.ask_go_ahead(tool, &open.arguments),
        };
        let mut open = open.clone();
        open.tries = tries;
        self.asked(text, 0.3, open)
    }
}

/// Whether a message that is not certain is another subject all the same: a question of its own, or an act with its own
/// person or thing. A bare number or name answers what was asked.
fn says_enough(plan: &OfflineIntent, tool: &PreparedTool, reading: &OfflineReading<'_>) -> bool {
    match tool.spec.effect.writes() {
        true => plan.confidence >= LIKELY && (plan.filled.person.is_some() || plan.filled.item.is_some()),
        false => plan.confidence >= PLAIN && reading.numbers.is_empty(),
    }
}

/// Whom a message names for a tool.
fn named<'f>(tool: &PreparedTool, filled: &'f FilledArguments) -> Option<&'f Value> {
    filled.arguments.get(&tool.wants(&ToolArgumentKind::Person)?.name)
}

/// What an answer is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// It says nothing else, and is done.
    Word,
    /// It says more, and is read back first.
    ReadBack,
}
