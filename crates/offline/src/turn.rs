//! One turn: what the last message of a conversation is answered with.

use std::sync::Arc;

use jiff::civil::Date;
use munshi_lang::{Form, Phrasebook, Voice, detect};
use munshi_llm::chat::{Output, ToolResult};
use munshi_llm::{ChatRequest, Message, Part, Role, ToolCall, ToolChoice};
use munshi_types::Language;
use serde_json::{Map, Value};

use crate::clauses::clauses;
use crate::judgement::{Judgement, Verdict};
use crate::offline::OWN;
use crate::palette::{Kind, Palette, Tool};
use crate::plan::{LIKELY, LOOK, Plan, SURE, plan};
use crate::reading::{Before, Reading};
use crate::say::Mouth;
use crate::state::{Open, Want};
use crate::tell::tell;
use crate::words::Class;

/// Below this not even two guesses are offered.
const GUESS: f32 = 0.3;

/// What is answered, and how sure that is.
#[derive(Debug)]
pub(crate) struct Answer {
    pub judgement: Judgement,
    pub text: String,
    pub calls: Vec<Call>,
    pub open: Option<Open>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

/// One turn at work.
pub(crate) struct Turn<'t> {
    pub request: &'t ChatRequest,
    pub palette: Arc<Palette>,
    pub book: &'t Phrasebook,
    pub today: Option<Date>,
}

impl Answer {
    pub(crate) fn text(text: String, verdict: Verdict, confidence: f32) -> Self {
        let judgement = Judgement { confidence, verdict };
        Self { judgement, text, calls: Vec::new(), open: None }
    }

    fn calls(calls: Vec<Call>, confidence: f32) -> Self {
        let judgement = Judgement { confidence, verdict: Verdict::Act };
        Self { judgement, text: String::new(), calls, open: None }
    }

    fn question(text: String, confidence: f32, open: Open) -> Self {
        Self { open: Some(open), ..Self::text(text, Verdict::Ask, confidence) }
    }
}

impl Turn<'_> {
    pub(crate) fn answer(&self) -> Answer {
        let open = Open::find(self.request)
            .filter(|open| open.tools.iter().all(|name| self.palette.find(name).is_some()));
        let before = self.before(open.as_ref().and_then(Open::voice));
        let last = self.request.messages.last();
        let results: Vec<&ToolResult> =
            last.into_iter().flat_map(|message| &message.parts).filter_map(result).collect();
        if !results.is_empty() {
            return self.told(&results, &before);
        }
        let text = last.filter(|message| message.role == Role::User).map(Message::text).unwrap_or_default();
        let reading = Reading::new(&text, &before);
        if let Some(answer) = open.and_then(|open| self.continued(&reading, &before, &open)) {
            return answer;
        }
        self.fresh(&reading, &before)
    }

    pub(crate) fn mouth(&self, voice: Voice) -> Mouth<'_> {
        Mouth { book: self.book, voice }
    }

    /// What the conversation so far says about how to read its last message.
    fn before(&self, open: Option<Voice>) -> Before {
        let messages = self.request.messages.iter().rev().filter(|message| message.role == Role::User);
        let texts = messages.map(Message::text).filter(|text| text.chars().any(char::is_alphabetic));
        let found: Vec<_> =
            texts.skip(usize::from(self.is_spoken())).take(5).filter_map(|text| detect(&text)).collect();
        let last_languages: Vec<Language> =
            found.iter().rev().filter(|found| found.is_sure()).map(|found| found.language).collect();
        let last = found.first().map(|found| Voice::new(found.language, found.form()));
        Before { last_languages, voice: open.or(last), today: self.today, language: None }
    }

    /// The voice the person is answered in, where the caller knows it.
    fn known_voice(&self) -> Option<Voice> {
        let code = self.request.language.as_ref()?;
        Voice::all().find(|voice| voice.code() == code.as_str())
    }

    /// Whether the last message has words of the person.
    fn is_spoken(&self) -> bool {
        let last = self.request.messages.last().map(Message::text).unwrap_or_default();
        last.chars().any(char::is_alphabetic)
    }

    fn told(&self, results: &[&ToolResult], before: &Before) -> Answer {
        let english = Voice::new(Language::English, Form::Latin);
        let mouth = self.mouth(self.known_voice().or(before.voice).unwrap_or(english));
        let told: Vec<_> = results.iter().map(|result| tell(&mouth, &self.palette, result)).collect();
        // What another model has called for, it may want to look at before it speaks.
        let is_own = results.iter().all(|result| result.call_id.starts_with(OWN));
        let confidence = match told.iter().all(|told| told.is_phrased) {
            _ if !is_own => GUESS,
            true => 1.0,
            false => LIKELY,
        };
        let texts: Vec<String> = told.into_iter().map(|told| told.text).collect();
        Answer::text(texts.join("\n"), Verdict::Tell, confidence)
    }

    /// A message that answers no open question.
    pub(crate) fn fresh(&self, reading: &Reading<'_>, before: &Before) -> Answer {
        let mouth = self.mouth(reading.voice);
        if self.request.output != Output::Text {
            return Answer::text(String::new(), Verdict::Unknown, 0.0);
        }
        // A word of thanks is the same in several languages; the conversation has one.
        let talking = self.mouth(self.known_voice().unwrap_or(reading.voice));
        if let Some(answer) = self.small_talk(reading, &talking) {
            return answer;
        }
        if self.request.tool_choice == ToolChoice::None {
            return Answer::text(mouth.plain("not-understood"), Verdict::Unknown, 0.0);
        }
        let parts = clauses(reading);
        if parts.len() > 1
            && let Some(answer) = self.several(&parts, reading, before)
        {
            return answer;
        }
        let (plan, _) = plan(reading.clone(), &self.palette, self.only().as_deref());
        match plan {
            Some(plan) => self.planned(plan, reading, &mouth),
            None => self.lost(&mouth),
        }
    }

    /// The tool a caller has named, if it did.
    fn only(&self) -> Option<Vec<String>> {
        match &self.request.tool_choice {
            ToolChoice::Named(name) => Some(vec![name.clone()]),
            _ => None,
        }
    }

    pub(crate) fn small_talk(&self, reading: &Reading<'_>, mouth: &Mouth<'_>) -> Option<Answer> {
        let talk = |name: &str| Answer::text(mouth.plain(name), Verdict::Talk, 0.95);
        if reading.is_only(Class::Stop) {
            return Some(self.stopped(reading, mouth));
        }
        let is_answer = reading.is_refusal() || reading.is_only(Class::Yes);
        // A no to what was just written corrects that.
        if is_answer && !(reading.refuses() && self.has_written()) {
            return Some(Answer::text(mouth.plain("offline-none-open"), Verdict::Talk, GUESS));
        }
        if reading.is_talk(Class::Help) {
            return Some(Answer::text(mouth.help(&self.palette), Verdict::Talk, 0.9));
        }
        if reading.is_talk(Class::Thanks) {
            return Some(talk("welcome"));
        }
        reading.is_talk(Class::Hello).then(|| talk("hello"))
    }

    /// "Cancel it" with nothing open: what was written last is meant, where a tool takes that back; it is asked about. Else
    /// another model may know what is to be stopped.
    fn stopped(&self, reading: &Reading<'_>, mouth: &Mouth<'_>) -> Answer {
        let writes = |plan: &Plan| plan.tool(&self.palette).is_some_and(|tool| tool.spec.effect.writes());
        let (plan, _) = plan(reading.clone(), &self.palette, self.only().as_deref());
        match plan.filter(|plan| writes(plan) && plan.confidence >= LIKELY && !plan.is_half) {
            Some(plan) => self.planned(Plan { confidence: LIKELY, is_unreal: false, ..plan }, reading, mouth),
            None => Answer::text(mouth.plain("offline-none-open"), Verdict::Talk, GUESS),
        }
    }

    /// Nothing was understood well enough: says what can be done here.
    pub(crate) fn lost(&self, mouth: &Mouth<'_>) -> Answer {
        Answer::text(mouth.lost(&self.palette), Verdict::Unknown, 0.0)
    }

    /// Two things at once: both, or a question; never half of it.
    fn several(&self, parts: &[&str], reading: &Reading<'_>, before: &Before) -> Option<Answer> {
        let mouth = self.mouth(reading.voice);
        let voiced = Before { language: Some(reading.voice.language), ..before.clone() };
        let mut calls = Vec::new();
        let mut least = 1.0f32;
        for part in parts {
            let (plan, known) = plan(Reading::new(part, &voiced), &self.palette, self.only().as_deref());
            let Some(plan) = plan.filter(|_| known > 0) else { return Some(self.one_by_one(&mouth)) };
            let tool = plan.tool(&self.palette)?;
            let is_whole = plan.filled.missing(tool).is_none() && plan.filled.doubts.is_empty();
            if !is_whole || plan.confidence < SURE || plan.is_unreal {
                return Some(self.one_by_one(&mouth));
            }
            least = least.min(plan.confidence);
            calls.push(Call { tool: tool.name().to_owned(), arguments: plan.filled.arguments });
        }
        Some(Answer::calls(calls, least))
    }

    fn one_by_one(&self, mouth: &Mouth<'_>) -> Answer {
        Answer::text(mouth.plain("offline-one-by-one"), Verdict::Ask, LIKELY)
    }

    /// Acts on a plan, asks about it, or lets it be.
    pub(crate) fn planned(&self, plan: Plan, reading: &Reading<'_>, mouth: &Mouth<'_>) -> Answer {
        let Some(tool) = plan.tool(&self.palette) else { return self.lost(mouth) };
        if plan.is_half {
            return self.one_by_one(mouth);
        }
        let must = !matches!(self.request.tool_choice, ToolChoice::Auto);
        let writes = tool.spec.effect.writes();
        // "Nahi wo 600 tha": a no is to what came before, and that was only told.
        let is_to_before = writes && tool.wants(&Kind::Person).is_none() && reading.refuses();
        if is_to_before && !must && self.only_told() {
            return Answer::text(mouth.plain("offline-only-told"), Verdict::Ask, LIKELY);
        }
        if plan.is_unreal && writes {
            return Answer::text(
                mouth.plain("offline-not-written"),
                Verdict::Unknown,
                plan.confidence.min(LIKELY),
            );
        }
        let least = if writes { LIKELY } else { LOOK };
        if plan.confidence < least && !must {
            let rival = plan.rival.filter(|_| plan.confidence >= GUESS);
            return match rival.and_then(|rival| self.palette.tools.get(rival)) {
                Some(rival) => self.which_tool(tool, rival, plan, reading, mouth),
                None => self.lost(mouth),
            };
        }
        if let Some(answer) = self.incomplete(tool, &plan, mouth) {
            return answer;
        }
        if writes && plan.confidence < SURE && !must && !tool.reads_itself() {
            let open = self.open(Want::GoAhead, tool, &plan.filled.arguments, mouth.voice);
            let text = mouth.ask_go_ahead(tool, &plan.filled.arguments);
            return Answer::question(text, plan.confidence, open);
        }
        Answer::calls(
            vec![Call { tool: tool.name().to_owned(), arguments: plan.filled.arguments }],
            plan.confidence,
        )
    }

    /// Whether the turn before only told something: it called for tools, and none of them writes.
    fn only_told(&self) -> bool {
        let calls = self.calls_before();
        !calls.is_empty() && calls.iter().all(|writes| !writes)
    }

    /// Whether the turn before wrote something.
    fn has_written(&self) -> bool {
        self.calls_before().contains(&true)
    }

    /// The tools the turn before called for: whether each writes.
    fn calls_before(&self) -> Vec<bool> {
        let speaks = |message: &Message| {
            message.role == Role::User && !message.parts.iter().any(|part| result(part).is_some())
        };
        let before = self.request.messages.iter().rev().skip(1);
        let turn = before.take_while(|message| !speaks(message));
        let calls = turn.flat_map(|message| &message.parts).filter_map(called);
        let is_read = |name: &str| self.palette.find(name).is_some_and(|tool| !tool.spec.effect.writes());
        calls.map(|call| !is_read(&call.name)).collect()
    }

    /// The question for what is doubtful or missing, if anything is.
    pub(crate) fn incomplete(&self, tool: &Tool, plan: &Plan, mouth: &Mouth<'_>) -> Option<Answer> {
        let doubt = plan.filled.doubts.first().and_then(|(name, choices)| Some((tool.field(name)?, choices)));
        let (field, choices) = match doubt {
            Some((field, choices)) => (field, choices.clone()),
            None => (plan.filled.missing(tool)?, Vec::new()),
        };
        let text = if choices.len() > 1 { mouth.ask_which(field, &choices) } else { mouth.ask(field) };
        let wants = Want::Field { name: field.name.clone(), choices };
        let open = self.open(wants, tool, &plan.filled.arguments, mouth.voice);
        Some(Answer::question(text, plan.confidence, open))
    }

    fn which_tool(
        &self,
        tool: &Tool,
        rival: &Tool,
        plan: Plan,
        reading: &Reading<'_>,
        mouth: &Mouth<'_>,
    ) -> Answer {
        let text = mouth.ask_which_tool(tool, rival, &plan.filled.arguments);
        let tools = vec![tool.name().to_owned(), rival.name().to_owned()];
        let wants = Want::Tool { said: reading.message.to_owned() };
        Answer::question(text, plan.confidence, Open::new(wants, tools, plan.filled.arguments, mouth.voice))
    }

    pub(crate) fn open(
        &self,
        wants: Want,
        tool: &Tool,
        arguments: &Map<String, Value>,
        voice: Voice,
    ) -> Open {
        Open::new(wants, vec![tool.name().to_owned()], arguments.clone(), voice)
    }

    pub(crate) fn call(&self, tool: &Tool, arguments: Map<String, Value>, confidence: f32) -> Answer {
        Answer::calls(vec![Call { tool: tool.name().to_owned(), arguments }], confidence)
    }

    pub(crate) fn asked(&self, text: String, confidence: f32, open: Open) -> Answer {
        Answer::question(text, confidence, open)
    }
}

fn called(part: &Part) -> Option<&ToolCall> {
    match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    }
}

fn result(part: &Part) -> Option<&ToolResult> {
    match part {
        Part::ToolResult(result) => Some(result),
        _ => None,
    }
}
