//! A message after a question: its answer, its end, or another subject.

use munshi_lang::NumberKind;
use serde_json::Value;

use crate::fill::{FilledArguments, fill};
use crate::intent::{LIKELY, OfflineIntent, SURE, find_intent};
use crate::judgement::OfflineVerdict;
use crate::localized_phrasebook::LocalizedPhrasebook;
use crate::prepared_tools::{ArgumentField, PreparedTool, ToolArgumentKind};
use crate::question::{OfflineQuestion, OfflineQuestionKind};
use crate::question_context::{
    OfflineQuestionContext, differs_from_question, find_choice, is_agreement, is_plain_answer,
};
use crate::reading::{OfflineReading, OfflineReadingContext};
use crate::small_words::SmallWordClass;
use crate::tool_view::MessageToolView;
use crate::turn::{OfflineAnswer, OfflineTurn};

/// After this many answers that were none, the question is given up.
const TRIES: u8 = 2;

/// From here a question of one's own is taken for one, though another waits.
const PLAIN: f32 = 0.65;

impl OfflineTurn<'_> {
    /// The answer where the message goes on with the open question; none where it begins something else.
    pub(crate) fn continue_question(
        &self,
        reading: &OfflineReading<'_>,
        before: &OfflineReadingContext,
        open: &OfflineQuestion,
    ) -> Option<OfflineAnswer> {
        let tool = self.palette.find(open.tools.first()?)?;
        if reading.is_refusal() {
            return Some(self.drop_question(reading));
        }
        if let Some(other) = self.another_subject(reading, open, tool) {
            return Some(other);
        }
        match &open.wants {
            OfflineQuestionKind::GoAhead if reading.is_only(SmallWordClass::Yes) => {
                Some(self.call_tool(tool, open.arguments.clone(), 0.95))
            }
            OfflineQuestionKind::GoAhead if self.is_of_another(reading, open, tool) => {
                Some(self.answer_separately(reading, before, open, tool))
            }
            OfflineQuestionKind::GoAhead => Some(self.apply_correction(reading, open, tool)),
            OfflineQuestionKind::Field { name, choices } => {
                let field = tool.field(name)?;
                if field.kind != ToolArgumentKind::Person && self.is_of_another(reading, open, tool) {
                    return Some(self.answer_separately(reading, before, open, tool));
                }
                Some(self.answer_field(reading, open, tool, field, choices))
            }
            OfflineQuestionKind::Tool { said } => {
                Some(self.answer_tool_choice(reading, before, open, tool, said))
            }
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
        let mouth = self.phrasebook(reading.voice);
        let wants_name = matches!(&open.wants, OfflineQuestionKind::Field { name, .. } if asked.field(name).is_some_and(|field| field.kind == ToolArgumentKind::Person));
        if reading.is_small_talk(SmallWordClass::Help)
            || (!wants_name && reading.is_small_talk(SmallWordClass::Hello))
        {
            return self
                .answer_small_talk(reading, &mouth)
                .map(|talk| self.mention_unwritten(talk, open, asked, &mouth));
        }
        let (plan, known) = find_intent(reading.clone(), &self.palette, None);
        let plan = plan.filter(|plan| known > 0 && !plan.is_unreal)?;
        let tool = plan.tool(&self.palette)?;
        // A no is to what was asked, and corrects that.
        if tool.spec.effect.writes() && reading.refuses() {
            return None;
        }
        let is_whole = plan.filled.first_missing(tool).is_none();
        let is_other = tool.name() != asked.name();
        let is_plain = match plan.confidence >= SURE {
            true => is_whole || is_other,
            false => is_whole && is_other && is_clear_enough(&plan, tool, reading),
        };
        if !is_plain {
            return None;
        }
        let heard = OfflineQuestionContext { tool: asked, open, wanted: None };
        let is_left = is_other
            || heard.is_another(find_person(tool, &plan.filled).unwrap_or(&Value::Null)) == Some(true);
        let answer = self.answer_intent(plan, reading, &mouth);
        Some(if is_left { self.mention_unwritten(answer, open, asked, &mouth) } else { answer })
    }

    /// Whether a sentence is of somebody else than the open question, however unsure it is: its number is theirs. A no
    /// corrects what was asked, and a name alone says nothing of what was done.
    fn is_of_another(
        &self,
        reading: &OfflineReading<'_>,
        open: &OfflineQuestion,
        asked: &PreparedTool,
    ) -> bool {
        if asked.find_field(&ToolArgumentKind::Person).is_none()
            || reading.refuses()
            || reading.is_only(SmallWordClass::Yes)
        {
            return false;
        }
        let (plan, known) = find_intent(reading.clone(), &self.palette, None);
        let is_sentence = known > 0 || !reading.numbers.is_empty();
        let Some(plan) = plan.filter(|_| is_sentence) else { return false };
        let Some(tool) = plan.tool(&self.palette) else { return false };
        let heard = OfflineQuestionContext { tool: asked, open, wanted: None };
        let is_other = |name| heard.is_another(name).unwrap_or(tool.name() != asked.name());
        find_person(tool, &plan.filled).is_some_and(is_other)
    }

    /// Reads a message on its own, and says what it leaves unwritten.
    fn answer_separately(
        &self,
        reading: &OfflineReading<'_>,
        before: &OfflineReadingContext,
        open: &OfflineQuestion,
        asked: &PreparedTool,
    ) -> OfflineAnswer {
        let answer = self.answer_fresh(reading, before);
        self.mention_unwritten(answer, open, asked, &self.phrasebook(reading.voice))
    }

    /// Says too what the open question leaves unwritten.
    fn mention_unwritten(
        &self,
        answer: OfflineAnswer,
        open: &OfflineQuestion,
        asked: &PreparedTool,
        mouth: &LocalizedPhrasebook<'_>,
    ) -> OfflineAnswer {
        if !asked.spec.effect.writes() {
            return answer;
        }
        let left = mouth.render_unwritten(asked, &open.arguments);
        OfflineAnswer { text: format!("{left}\n{}", answer.text), ..answer }
    }

    /// "Nahi 600 tha": the same with another number or for another person, read back once more. A no without one ends it.
    fn apply_correction(
        &self,
        reading: &OfflineReading<'_>,
        open: &OfflineQuestion,
        tool: &PreparedTool,
    ) -> OfflineAnswer {
        let sight = MessageToolView::new(reading.clone(), &self.palette);
        let filled = fill(&sight, &sight.spans_for(tool, &self.palette), &tool.fields, None);
        let heard = OfflineQuestionContext { tool, open, wanted: None };
        let mut arguments = open.arguments.clone();
        arguments.extend(heard.new_arguments(&filled));
        let is_new = arguments != open.arguments || !filled.doubts.is_empty();
        if !is_new && reading.refuses() {
            return self.drop_question(reading);
        }
        if !is_new && !is_agreement(reading) {
            return self.ask_again(open, tool, reading);
        }
        let is_left = heard.names_another(&filled);
        let filled = FilledArguments { arguments, doubts: filled.doubts, ..FilledArguments::default() };
        let trust = if is_new { Trust::ReadBack } else { Trust::Word };
        let answer = self.call_or_ask(tool, filled, reading, trust);
        if is_left {
            self.mention_unwritten(answer, open, tool, &self.phrasebook(reading.voice))
        } else {
            answer
        }
    }

    /// The question is given up.
    fn drop_question(&self, reading: &OfflineReading<'_>) -> OfflineAnswer {
        OfflineAnswer::text(
            self.phrasebook(reading.voice).render_plain("cancelled"),
            OfflineVerdict::Talk,
            0.95,
        )
    }

    fn answer_field(
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
        let news = heard.new_arguments(&filled);
        let (is_left, is_plain) = (heard.names_another(&filled), is_plain_answer(&sight, &filled, &heard));
        // Only numbers and names answer; a note is the message that began it.
        for (name, value) in &open.arguments {
            if *name != field.name && !news.contains_key(name) {
                filled.arguments.insert(name.clone(), value.clone());
            }
        }
        filled.doubts.retain(|(name, _)| *name == field.name || !open.arguments.contains_key(name));
        if let Some(value) = find_choice(reading, choices) {
            filled.doubts.retain(|(name, _)| *name != field.name);
            filled.arguments.insert(field.name.clone(), value);
        }
        let is_answered = filled.arguments.contains_key(&field.name)
            || filled.doubts.iter().any(|(name, _)| *name == field.name);
        let says_a_number = sight.count_numbers(&[NumberKind::Money, NumberKind::Plain]) > 0;
        if !is_answered || !(reading.mood.is_plain() || says_a_number) {
            return self.ask_again(open, tool, reading);
        }
        let trust = if is_plain { Trust::Word } else { Trust::ReadBack };
        let answer = self.call_or_ask(tool, filled, reading, trust);
        if is_left {
            self.mention_unwritten(answer, open, tool, &self.phrasebook(reading.voice))
        } else {
            answer
        }
    }

    /// Calls the tool, or asks the next question.
    fn call_or_ask(
        &self,
        tool: &PreparedTool,
        filled: FilledArguments,
        reading: &OfflineReading<'_>,
        trust: Trust,
    ) -> OfflineAnswer {
        let mouth = self.phrasebook(reading.voice);
        let at = self.palette.tools.iter().position(|other| other.name() == tool.name()).unwrap_or(0);
        let plan = OfflineIntent {
            tool: at,
            filled,
            confidence: 0.9,
            is_unreal: false,
            rival: None,
            is_half: false,
        };
        match self.ask_incomplete(tool, &plan, &mouth) {
            Some(question) => question,
            None if trust == Trust::ReadBack && tool.spec.effect.writes() => {
                let open = self.build_question(
                    OfflineQuestionKind::GoAhead,
                    tool,
                    &plan.filled.arguments,
                    mouth.voice,
                );
                self.ask(mouth.ask_go_ahead(tool, &plan.filled.arguments), LIKELY, open)
            }
            None => self.call_tool(tool, plan.filled.arguments, 0.9),
        }
    }

    /// The message that left the tool open, read again with what was said now. Of another person or another amount it
    /// is a message of its own.
    fn answer_tool_choice(
        &self,
        reading: &OfflineReading<'_>,
        before: &OfflineReadingContext,
        open: &OfflineQuestion,
        tool: &PreparedTool,
        said: &str,
    ) -> OfflineAnswer {
        let mouth = self.phrasebook(reading.voice);
        let sight = MessageToolView::new(reading.clone(), &self.palette);
        let filled = fill(&sight, &sight.spans_for(tool, &self.palette), &tool.fields, None);
        if differs_from_question(tool, &filled, open) {
            return self.mention_unwritten(self.answer_fresh(reading, before), open, tool, &mouth);
        }
        let both = format!("{said} {}", reading.message);
        let (plan, _) = find_intent(OfflineReading::new(&both, before), &self.palette, Some(&open.tools));
        match plan {
            Some(plan) if plan.rival.is_none() && !plan.is_unreal => {
                self.answer_intent(plan, &OfflineReading::new(&both, before), &mouth)
            }
            _ => self.answer_unknown(&mouth),
        }
    }

    /// Asks once more, and then gives the question up.
    fn ask_again(
        &self,
        open: &OfflineQuestion,
        tool: &PreparedTool,
        reading: &OfflineReading<'_>,
    ) -> OfflineAnswer {
        let mouth = self.phrasebook(reading.voice);
        let tries = open.tries + 1;
        if tries >= TRIES {
            return OfflineAnswer::text(mouth.render_plain("stuck"), OfflineVerdict::Unknown, 0.0);
        }
        let text = match &open.wants {
            OfflineQuestionKind::Field { name, choices } if choices.len() > 1 => {
                tool.field(name).map(|field| mouth.ask_which(field, choices)).unwrap_or_default()
            }
            OfflineQuestionKind::Field { name, .. } => {
                tool.field(name).map(|field| mouth.ask_for(field)).unwrap_or_default()
            }
            _ => mouth.ask_go_ahead(tool, &open.arguments),
        };
        let mut open = open.clone();
        open.tries = tries;
        self.ask(text, 0.3, open)
    }
}

/// Whether a message that is not certain is another subject all the same: a question of its own, or an act with its own
/// person or thing. A bare number or name answers what was asked.
fn is_clear_enough(plan: &OfflineIntent, tool: &PreparedTool, reading: &OfflineReading<'_>) -> bool {
    match tool.spec.effect.writes() {
        true => plan.confidence >= LIKELY && (plan.filled.person.is_some() || plan.filled.item.is_some()),
        false => plan.confidence >= PLAIN && reading.numbers.is_empty(),
    }
}

/// Whom a message names for a tool.
fn find_person<'f>(tool: &PreparedTool, filled: &'f FilledArguments) -> Option<&'f Value> {
    filled.arguments.get(&tool.find_field(&ToolArgumentKind::Person)?.name)
}

/// What an answer is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// It says nothing else, and is done.
    Word,
    /// It says more, and is read back first.
    ReadBack,
}
