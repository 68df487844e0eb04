//! The prompt, put together.

use std::sync::Arc;

use munshi_llm::chat::{CacheBreakpoint, CacheLifetime, ToolResult};
use munshi_llm::{ChatMessage, ChatRequest, ModelMessagePart, ModelRole};
use munshi_types::ToolSpec;

use super::connector_tools;
use super::envelope;
use super::fence::{self, FenceLabel};
use super::fit::{FittedContext, PromptTooLarge, fit};
use super::report::{PromptReport, PromptSection};
use super::static_prompt::StaticPrompt;
use super::text::{UntrustedText, count_prompt_tokens};
use super::turn_context::TurnContext;
use super::whispers;

/// A prompt, ready for the gateway.
#[derive(Clone, Debug)]
pub struct AssembledPrompt {
    /// Human, team, agent, and then what this turn is about; the cache boundary stands before the last.
    pub system: Vec<String>,
    pub messages: Vec<ChatMessage>,
    pub tools: Vec<Arc<ToolSpec>>,
    pub breakpoints: Vec<CacheBreakpoint>,
    /// Strings that stand nowhere but here: a reply that has one has given the prompt away.
    pub marks: Vec<String>,
    /// The room kept free for the answer, where a budget says so.
    pub output: Option<u32>,
    pub report: PromptReport,
}

impl AssembledPrompt {
    /// The request, with everything that is not the prompt's business as it is by default.
    pub fn into_request(self) -> ChatRequest {
        let request = ChatRequest::default();
        ChatRequest {
            system: self.system,
            messages: self.messages,
            tools: self.tools,
            breakpoints: self.breakpoints,
            max_output_tokens: self.output.unwrap_or(request.max_output_tokens),
            ..request
        }
    }
}

/// The place of the agent's text, the last that is the same in every turn.
const LAST_STATIC: usize = 2;

/// Puts a static prompt and a turn together. The same values give the same bytes.
pub fn assemble(static_prompt: &StaticPrompt, turn: &TurnContext) -> Result<AssembledPrompt, PromptTooLarge> {
    let mut report = static_prompt.report().clone();
    let now = envelope::write(&turn.envelope, static_prompt.speech());
    let whispered = whispers::write(&turn.whispers);
    let (now_tokens, whispered_tokens) = (count_prompt_tokens(&now), whispered.tokens());
    let tools = connector_tools::collect_tools(static_prompt, turn, &mut report);
    let fitted = fit(static_prompt, turn, (now_tokens, whispered_tokens), &mut report)?;
    report.add(PromptSection::Envelope, now_tokens + whispered_tokens);
    report.shares.sort_by_key(|share| share.section);
    let mut marks = Vec::new();
    let mut system = static_prompt.system().to_vec();
    let now = now + whispered.as_str();
    system.push(render_turn_context(turn, &fitted, &now, &mut marks));
    let messages = messages(turn, &fitted, &mut marks);
    let mut breakpoints = vec![CacheBreakpoint::AfterSystem(LAST_STATIC, CacheLifetime::OneHour)];
    if !turn.exchanges.is_empty() {
        // The next step of this turn has all of this before it again.
        breakpoints.push(CacheBreakpoint::AfterMessage(messages.len() - 1, CacheLifetime::FiveMinutes));
    }
    let output = static_prompt.budgets().output;
    Ok(AssembledPrompt { system, messages, tools, breakpoints, marks, output, report })
}

/// What this turn is about.
fn render_turn_context(
    turn: &TurnContext,
    fitted: &FittedContext,
    now: &str,
    marks: &mut Vec<String>,
) -> String {
    let mut out = String::with_capacity(16 * 1024);
    if fitted.profile {
        marks.extend(fence::write(turn.key, FenceLabel::Profile, turn.profile.iter(), &mut out));
    }
    let facts = turn.facts.iter().map(|fact| &fact.text);
    marks.extend(fence::write(turn.key, FenceLabel::Facts, filter_included(facts, &fitted.facts), &mut out));
    let recall = turn.recall.iter().map(|recalled| &recalled.text);
    marks.extend(fence::write(
        turn.key,
        FenceLabel::Recall,
        filter_included(recall, &fitted.recall),
        &mut out,
    ));
    if fitted.summary {
        marks.extend(fence::write(turn.key, FenceLabel::Summary, turn.summary.iter(), &mut out));
    }
    out.push_str(now);
    turn.words.iter().take(fitted.words).for_each(|word| out.push_str(word.text().as_str()));
    out
}

fn filter_included<'a>(
    items: impl Iterator<Item = &'a UntrustedText> + Clone,
    flags: &[bool],
) -> impl Iterator<Item = &'a UntrustedText> + Clone {
    items.zip(flags).filter(|(_, told)| **told).map(|(item, _)| item)
}

/// The conversation: what was said before, the message, and what tools were asked about it.
fn messages(turn: &TurnContext, fitted: &FittedContext, marks: &mut Vec<String>) -> Vec<ChatMessage> {
    let history = turn.history.get(fitted.history_from..).unwrap_or_default();
    let said = history.iter().map(|earlier| text(earlier.speaker.into(), earlier.text.as_str()));
    let mut messages: Vec<ChatMessage> = said.collect();
    messages.push(text(ModelRole::User, fitted.message.as_ref().unwrap_or(&turn.message).as_str()));
    for (step, exchange) in turn.exchanges.iter().enumerate() {
        messages.push(exchange.model_message().clone());
        let parts = exchange.answers.iter().enumerate().map(|(at, answer)| {
            let short = fitted.answers.iter().find(|(of, place, _)| (*of, *place) == (step, at));
            let data = short.map_or(&answer.text, |(.., data)| data);
            let mut content = String::with_capacity(data.as_str().len() + 128);
            marks.extend(fence::write(turn.key, FenceLabel::ToolResult, std::iter::once(data), &mut content));
            ModelMessagePart::ToolResult(ToolResult {
                call_id: answer.call_id.clone(),
                name: answer.tool.clone(),
                content,
                is_error: answer.is_error,
            })
        });
        messages.push(ChatMessage { role: ModelRole::User, parts: parts.collect() });
    }
    messages
}

fn text(role: ModelRole, text: &str) -> ChatMessage {
    ChatMessage { role, parts: vec![ModelMessagePart::Text { text: text.to_owned() }] }
}
