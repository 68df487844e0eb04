//! One turn: what the last message of a conversation is answered with.

use std::sync::Arc;

use jiff::civil::Date;
use munshi_lang::{Locale, Phrasebook, ScriptForm, detect};
use munshi_llm::chat::{ReplyFormat, ToolResult};
use munshi_llm::{ChatMessage, ChatRequest, ModelMessagePart, ModelRole, ToolCall, ToolChoice};
use munshi_types::Language;
use serde_json::{Map, Value};

use crate::clauses::split_clauses;
use crate::intent::{LIKELY, LOOK, OfflineIntent, SURE, find_intent};
use crate::judgement::{OfflineJudgement, OfflineVerdict};
use crate::localized_phrasebook::LocalizedPhrasebook;
use crate::prepared_tools::{PreparedTool, PreparedToolSet, ToolArgumentKind};
use crate::provider::OWN;
use crate::question::{OfflineQuestion, OfflineQuestionKind};
use crate::reading::{OfflineReading, OfflineReadingContext};
use crate::result_wording::render_result;
use crate::small_words::SmallWordClass;

/// Below this not even two guesses are offered.
const GUESS: f32 = 0.3;

/// What is answered, and how sure that is.
#[derive(Debug)]
pub(crate) struct OfflineAnswer {
    pub judgement: OfflineJudgement,
    pub text: String,
    pub calls: Vec<OfflineToolCall>,
    pub open: Option<OfflineQuestion>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OfflineToolCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

/// One turn at work.
pub(crate) struct OfflineTurn<'t> {
    pub request: &'t ChatRequest,
    pub palette: Arc<PreparedToolSet>,
    pub book: &'t Phrasebook,
    pub today: Option<Date>,
}

impl OfflineAnswer {
    pub(crate) fn text(text: String, verdict: OfflineVerdict, confidence: f32) -> Self {
        let judgement = OfflineJudgement::new(verdict, confidence);
        Self { judgement, text, calls: Vec::new(), open: None }
    }

    fn calls(calls: Vec<OfflineToolCall>, confidence: f32) -> Self {
        let judgement = OfflineJudgement::new(OfflineVerdict::Act, confidence);
        Self { judgement, text: String::new(), calls, open: None }
    }

    fn question(text: String, confidence: f32, open: OfflineQuestion) -> Self {
        Self { open: Some(open), ..Self::text(text, OfflineVerdict::Ask, confidence) }
    }
}

impl OfflineTurn<'_> {
    pub(crate) fn answer(&self) -> OfflineAnswer {
        let open = OfflineQuestion::find(self.request)
            .filter(|open| open.tools.iter().all(|name| self.palette.find(name).is_some()));
        let before = self.reading_context(open.as_ref().and_then(OfflineQuestion::voice));
        let last = self.request.messages.last();
        let results: Vec<&ToolResult> =
            last.into_iter().flat_map(|message| &message.parts).filter_map(result).collect();
        if !results.is_empty() {
            return self.answer_results(&results, &before);
        }
        let text =
            last.filter(|message| message.role == ModelRole::User).map(ChatMessage::text).unwrap_or_default();
        let reading = OfflineReading::new(&text, &before);
        let continued = open.and_then(|open| self.continue_question(&reading, &before, &open));
        let answer = continued.unwrap_or_else(|| self.answer_fresh(&reading, &before));
        let is_template = answer.judgement.verdict == OfflineVerdict::Act
            && self.request.tool_choice != ToolChoice::None
            && !(self.has_asked_otherwise() && self.writes(&answer.calls))
            && self.need_no_model(answer.calls.iter().map(|call| call.tool.as_str()));
        OfflineAnswer { judgement: OfflineJudgement { is_template, ..answer.judgement }, ..answer }
    }

    pub(crate) fn phrasebook(&self, voice: Locale) -> LocalizedPhrasebook<'_> {
        LocalizedPhrasebook { book: self.book, voice }
    }

    /// What the conversation so far says about how to read its last message.
    fn reading_context(&self, open: Option<Locale>) -> OfflineReadingContext {
        let messages = self.request.messages.iter().rev().filter(|message| message.role == ModelRole::User);
        let texts = messages.map(ChatMessage::text).filter(|text| text.chars().any(char::is_alphabetic));
        let found: Vec<_> =
            texts.skip(usize::from(self.is_spoken())).take(5).filter_map(|text| detect(&text)).collect();
        let last_languages: Vec<Language> =
            found.iter().rev().filter(|found| found.is_sure()).map(|found| found.language).collect();
        let last = found.first().map(|found| Locale::new(found.language, found.form()));
        OfflineReadingContext { last_languages, voice: open.or(last), today: self.today, language: None }
    }

    /// The voice the person is answered in, where the caller knows it.
    fn known_voice(&self) -> Option<Locale> {
        let code = self.request.language.as_ref()?;
        Locale::all().find(|voice| voice.code() == code.as_str())
    }

    /// Whether the last message has words of the person.
    fn is_spoken(&self) -> bool {
        let last = self.request.messages.last().map(ChatMessage::text).unwrap_or_default();
        last.chars().any(char::is_alphabetic)
    }

    fn answer_results(&self, results: &[&ToolResult], before: &OfflineReadingContext) -> OfflineAnswer {
        let english = Locale::new(Language::English, ScriptForm::Latin);
        let mouth = self.phrasebook(self.known_voice().or(before.voice).unwrap_or(english));
        let told: Vec<_> =
            results.iter().map(|result| render_result(&mouth, &self.palette, result)).collect();
        // What another model has called for, it may want to look at before it speaks.
        let is_own = results.iter().all(|result| result.call_id.starts_with(OWN));
        let confidence = match told.iter().all(|told| told.is_phrased) {
            _ if !is_own => GUESS,
            true => 1.0,
            false => LIKELY,
        };
        // What failed another model may mend.
        let is_told = told.iter().all(|told| told.is_phrased && !told.is_failure);
        let is_template =
            is_own && is_told && self.need_no_model(results.iter().map(|result| result.name.as_str()));
        let texts: Vec<String> = told.into_iter().map(|told| told.text).collect();
        let answer = OfflineAnswer::text(texts.join("\n"), OfflineVerdict::Tell, confidence);
        OfflineAnswer { judgement: OfflineJudgement { is_template, ..answer.judgement }, ..answer }
    }

    /// Whether the last words before the message are a question of another model: what it asked it knows better.
    fn has_asked_otherwise(&self) -> bool {
        let last = self.request.messages.iter().rev().nth(1);
        let said = last.filter(|message| message.role == ModelRole::Assistant).map(ChatMessage::text);
        OfflineQuestion::find(self.request).is_none() && said.is_some_and(|said| asks(&said))
    }

    fn writes(&self, calls: &[OfflineToolCall]) -> bool {
        calls.iter().any(|call| self.palette.find(&call.tool).is_none_or(|tool| tool.spec.effect.writes()))
    }

    /// Whether all of these tools leave models out where they are plainly asked for.
    fn need_no_model<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> bool {
        names.all(|name| self.palette.find(name).is_some_and(|tool| tool.spec.needs_no_model))
    }

    /// A message that answers no open question.
    pub(crate) fn answer_fresh(
        &self,
        reading: &OfflineReading<'_>,
        before: &OfflineReadingContext,
    ) -> OfflineAnswer {
        let mouth = self.phrasebook(reading.voice);
        if self.request.output != ReplyFormat::Text {
            return OfflineAnswer::text(String::new(), OfflineVerdict::Unknown, 0.0);
        }
        // A word of thanks is the same in several languages; the conversation has one.
        let talking = self.phrasebook(self.known_voice().unwrap_or(reading.voice));
        if let Some(answer) = self.answer_small_talk(reading, &talking) {
            return answer;
        }
        if self.request.tool_choice == ToolChoice::None {
            return OfflineAnswer::text(mouth.render_plain("not-understood"), OfflineVerdict::Unknown, 0.0);
        }
        let parts = split_clauses(reading);
        if parts.len() > 1
            && let Some(answer) = self.answer_several(&parts, reading, before)
        {
            return answer;
        }
        let (plan, _) = find_intent(reading.clone(), &self.palette, self.required_tools().as_deref());
        match plan {
            Some(plan) => self.answer_intent(plan, reading, &mouth),
            None => self.answer_unknown(&mouth),
        }
    }

    /// The tool a caller has named, if it did.
    fn required_tools(&self) -> Option<Vec<String>> {
        match &self.request.tool_choice {
            ToolChoice::Named(name) => Some(vec![name.clone()]),
            _ => None,
        }
    }

    pub(crate) fn answer_small_talk(
        &self,
        reading: &OfflineReading<'_>,
        mouth: &LocalizedPhrasebook<'_>,
    ) -> Option<OfflineAnswer> {
        let talk = |name: &str| OfflineAnswer::text(mouth.render_plain(name), OfflineVerdict::Talk, 0.95);
        if reading.is_only(SmallWordClass::Stop) {
            return Some(self.answer_cancel(reading, mouth));
        }
        let is_answer = reading.is_refusal() || reading.is_only(SmallWordClass::Yes);
        // A no to what was just written corrects that.
        if is_answer && !(reading.refuses() && self.has_written()) {
            return Some(OfflineAnswer::text(
                mouth.render_plain("offline-none-open"),
                OfflineVerdict::Talk,
                GUESS,
            ));
        }
        if reading.is_small_talk(SmallWordClass::Help) {
            return Some(OfflineAnswer::text(mouth.render_help(&self.palette), OfflineVerdict::Talk, 0.9));
        }
        if reading.is_small_talk(SmallWordClass::Thanks) {
            return Some(talk("welcome"));
        }
        reading.is_small_talk(SmallWordClass::Hello).then(|| talk("hello"))
    }

    /// "Cancel it" with nothing open: what was written last is meant, where a tool takes that back; it is asked about. Else
    /// another model may know what is to be stopped.
    fn answer_cancel(&self, reading: &OfflineReading<'_>, mouth: &LocalizedPhrasebook<'_>) -> OfflineAnswer {
        let writes =
            |plan: &OfflineIntent| plan.tool(&self.palette).is_some_and(|tool| tool.spec.effect.writes());
        let (plan, _) = find_intent(reading.clone(), &self.palette, self.required_tools().as_deref());
        match plan.filter(|plan| writes(plan) && plan.confidence >= LIKELY && !plan.is_half) {
            Some(plan) => self.answer_intent(
                OfflineIntent { confidence: LIKELY, is_unreal: false, ..plan },
                reading,
                mouth,
            ),
            None => OfflineAnswer::text(mouth.render_plain("offline-none-open"), OfflineVerdict::Talk, GUESS),
        }
    }

    /// Nothing was understood well enough: says what can be done here.
    pub(crate) fn answer_unknown(&self, mouth: &LocalizedPhrasebook<'_>) -> OfflineAnswer {
        OfflineAnswer::text(mouth.render_not_understood(&self.palette), OfflineVerdict::Unknown, 0.0)
    }

    /// Two things at once: both, or a question; never half of it.
    fn answer_several(
        &self,
        parts: &[&str],
        reading: &OfflineReading<'_>,
        before: &OfflineReadingContext,
    ) -> Option<OfflineAnswer> {
        let mouth = self.phrasebook(reading.voice);
        let voiced = OfflineReadingContext { language: Some(reading.voice.language), ..before.clone() };
        let mut calls = Vec::new();
        let mut least = 1.0f32;
        for part in parts {
            let (plan, known) = find_intent(
                OfflineReading::new(part, &voiced),
                &self.palette,
                self.required_tools().as_deref(),
            );
            let Some(plan) = plan.filter(|_| known > 0) else { return Some(self.answer_one_by_one(&mouth)) };
            let tool = plan.tool(&self.palette)?;
            let is_whole = plan.filled.first_missing(tool).is_none() && plan.filled.doubts.is_empty();
            if !is_whole || plan.confidence < SURE || plan.is_unreal {
                return Some(self.answer_one_by_one(&mouth));
            }
            least = least.min(plan.confidence);
            calls.push(OfflineToolCall { tool: tool.name().to_owned(), arguments: plan.filled.arguments });
        }
        Some(OfflineAnswer::calls(calls, least))
    }

    fn answer_one_by_one(&self, mouth: &LocalizedPhrasebook<'_>) -> OfflineAnswer {
        OfflineAnswer::text(mouth.render_plain("offline-one-by-one"), OfflineVerdict::Ask, LIKELY)
    }

    /// Acts on a plan, asks about it, or lets it be.
    pub(crate) fn answer_intent(
        &self,
        plan: OfflineIntent,
        reading: &OfflineReading<'_>,
        mouth: &LocalizedPhrasebook<'_>,
    ) -> OfflineAnswer {
        let Some(tool) = plan.tool(&self.palette) else { return self.answer_unknown(mouth) };
        if plan.is_half {
            return self.answer_one_by_one(mouth);
        }
        let must = !matches!(self.request.tool_choice, ToolChoice::Auto);
        let writes = tool.spec.effect.writes();
        // "Nahi wo 600 tha": a no is to what came before, and that was only told.
        let is_to_before =
            writes && tool.find_field(&ToolArgumentKind::Person).is_none() && reading.refuses();
        if is_to_before && !must && self.has_only_read() {
            return OfflineAnswer::text(mouth.render_plain("offline-only-told"), OfflineVerdict::Ask, LIKELY);
        }
        if plan.is_unreal && writes {
            return OfflineAnswer::text(
                mouth.render_plain("offline-not-written"),
                OfflineVerdict::Unknown,
                plan.confidence.min(LIKELY),
            );
        }
        let least = if writes { LIKELY } else { LOOK };
        if plan.confidence < least && !must {
            let rival = plan.rival.filter(|_| plan.confidence >= GUESS);
            return match rival.and_then(|rival| self.palette.tools.get(rival)) {
                Some(rival) => self.which_tool(tool, rival, plan, reading, mouth),
                None => self.answer_unknown(mouth),
            };
        }
        if let Some(answer) = self.ask_incomplete(tool, &plan, mouth) {
            return answer;
        }
        if writes && plan.confidence < SURE && !must && !tool.takes_sentence() {
            let open =
                self.build_question(OfflineQuestionKind::GoAhead, tool, &plan.filled.arguments, mouth.voice);
            let text = mouth.ask_go_ahead(tool, &plan.filled.arguments);
            return OfflineAnswer::question(text, plan.confidence, open);
        }
        OfflineAnswer::calls(
            vec![OfflineToolCall { tool: tool.name().to_owned(), arguments: plan.filled.arguments }],
            plan.confidence,
        )
    }

    /// Whether the turn before only told something: it called for tools, and none of them writes.
    fn has_only_read(&self) -> bool {
        let calls = self.list_previous_calls();
        !calls.is_empty() && calls.iter().all(|writes| !writes)
    }

    /// Whether the turn before wrote something.
    fn has_written(&self) -> bool {
        self.list_previous_calls().contains(&true)
    }

    /// The tools the turn before called for: whether each writes.
    fn list_previous_calls(&self) -> Vec<bool> {
        let speaks = |message: &ChatMessage| {
            message.role == ModelRole::User && !message.parts.iter().any(|part| result(part).is_some())
        };
        let before = self.request.messages.iter().rev().skip(1);
        let turn = before.take_while(|message| !speaks(message));
        let calls = turn.flat_map(|message| &message.parts).filter_map(as_tool_call);
        let is_read = |name: &str| self.palette.find(name).is_some_and(|tool| !tool.spec.effect.writes());
        calls.map(|call| !is_read(&call.name)).collect()
    }

    /// The question for what is doubtful or missing, if anything is.
    pub(crate) fn ask_incomplete(
        &self,
        tool: &PreparedTool,
        plan: &OfflineIntent,
        mouth: &LocalizedPhrasebook<'_>,
    ) -> Option<OfflineAnswer> {
        let doubt = plan.filled.doubts.first().and_then(|(name, choices)| Some((tool.field(name)?, choices)));
        let (field, choices) = match doubt {
            Some((field, choices)) => (field, choices.clone()),
            None => (plan.filled.first_missing(tool)?, Vec::new()),
        };
        let text = if choices.len() > 1 { mouth.ask_which(field, &choices) } else { mouth.ask_for(field) };
        let wants = OfflineQuestionKind::Field { name: field.name.clone(), choices };
        let open = self.build_question(wants, tool, &plan.filled.arguments, mouth.voice);
        Some(OfflineAnswer::question(text, plan.confidence, open))
    }

    fn which_tool(
        &self,
        tool: &PreparedTool,
        rival: &PreparedTool,
        plan: OfflineIntent,
        reading: &OfflineReading<'_>,
        mouth: &LocalizedPhrasebook<'_>,
    ) -> OfflineAnswer {
        let text = mouth.ask_which_tool(tool, rival, &plan.filled.arguments);
        let tools = vec![tool.name().to_owned(), rival.name().to_owned()];
        let wants = OfflineQuestionKind::Tool { said: reading.message.to_owned() };
        OfflineAnswer::question(
            text,
            plan.confidence,
            OfflineQuestion::new(wants, tools, plan.filled.arguments, mouth.voice),
        )
    }

    pub(crate) fn build_question(
        &self,
        wants: OfflineQuestionKind,
        tool: &PreparedTool,
        arguments: &Map<String, Value>,
        voice: Locale,
    ) -> OfflineQuestion {
        OfflineQuestion::new(wants, vec![tool.name().to_owned()], arguments.clone(), voice)
    }

    pub(crate) fn call_tool(
        &self,
        tool: &PreparedTool,
        arguments: Map<String, Value>,
        confidence: f32,
    ) -> OfflineAnswer {
        OfflineAnswer::calls(vec![OfflineToolCall { tool: tool.name().to_owned(), arguments }], confidence)
    }

    pub(crate) fn ask(&self, text: String, confidence: f32, open: OfflineQuestion) -> OfflineAnswer {
        OfflineAnswer::question(text, confidence, open)
    }
}

fn as_tool_call(part: &ModelMessagePart) -> Option<&ToolCall> {
    match part {
        ModelMessagePart::ToolCall(call) => Some(call),
        _ => None,
    }
}

fn result(part: &ModelMessagePart) -> Option<&ToolResult> {
    match part {
        ModelMessagePart::ToolResult(result) => Some(result),
        _ => None,
    }
}

/// Whether a text ends with a question, in any script.
fn asks(text: &str) -> bool {
    let end = text
        .trim_end_matches(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '”' | ')' | '*'));
    end.ends_with(['?', '？', '؟'])
}
