//! What came of a turn.

use munshi_agent::{RunOutcome, ToolCallRecord};
use munshi_conversations::TurnTimings;
use munshi_conversations::decisions::TierTokens;
use munshi_identity::Role;
use munshi_operations::runs::{RunHaltView, RunStateView};
use munshi_types::tier::LanguageCode;
use munshi_types::{ApprovalId, MessageId, RunId, SessionId};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The outcome of a turn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Outcome)]
pub(crate) struct TurnOutcomeView {
    #[schema(value_type = uuid::Uuid)]
    pub(crate) run: RunId,
    #[schema(value_type = uuid::Uuid)]
    pub(crate) session: SessionId,
    /// The reply; null if there is none.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub(crate) message: Option<MessageId>,
    #[schema(example = "Namaste! The shop opens at nine.")]
    pub(crate) text: String,
    /// The language of the reply.
    #[schema(value_type = Option<String>, example = "hi-latn")]
    pub(crate) language: Option<LanguageCode>,
    pub(crate) state: RunStateView,
    /// Why the turn was halted, if it was.
    pub(crate) halt: Option<RunHaltView>,
    /// The reply is a fallback without an answer; it is not billed.
    pub(crate) degraded: bool,
    /// Suggested replies.
    pub(crate) suggestions: Vec<String>,
    pub(crate) calls: Vec<ToolCallView>,
    /// The approval it waits for: POST /v1/approvals/{id}/grant or …/refuse.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub(crate) approval: Option<ApprovalId>,
    pub(crate) usage: TurnUsageView,
    pub(crate) timings: TurnTimingsView,
    /// The rules the reply violated.
    pub(crate) violations: Vec<String>,
}

/// Whether somebody may see what a turn was made of: what tools were given and gave, rules, cost. That is for those who work
/// here; others get the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DetailLevel {
    Shown,
    Kept,
}

impl DetailLevel {
    pub(crate) const fn for_role(role: Option<Role>) -> Self {
        match role {
            Some(_) => Self::Shown,
            None => Self::Kept,
        }
    }
}

impl TurnOutcomeView {
    pub(crate) fn redact_for(self, insides: DetailLevel) -> Self {
        match insides {
            DetailLevel::Shown => self,
            DetailLevel::Kept => {
                let usage = TurnUsageView { cost_micros: None, ..self.usage };
                Self { calls: Vec::new(), violations: Vec::new(), usage, ..self }
            }
        }
    }
}

/// A tool call.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Call)]
pub(crate) struct ToolCallView {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) ok: bool,
    pub(crate) result: Value,
    /// Duration in microseconds.
    pub(crate) micros: i64,
}

/// Usage of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Usage)]
pub(crate) struct TurnUsageView {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// In millionths of a dollar; null if the price is unknown.
    pub(crate) cost_micros: Option<i64>,
    pub(crate) model_calls: u32,
    pub(crate) tool_calls: u32,
}

/// Duration of each stage, in microseconds.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Timings)]
pub(crate) struct TurnTimingsView {
    pub(crate) ingest: i64,
    pub(crate) prepare: i64,
    pub(crate) think: i64,
    pub(crate) act: i64,
    pub(crate) check: i64,
    pub(crate) respond: i64,
    /// From the arrival of the message.
    pub(crate) first_word: Option<i64>,
    pub(crate) total: i64,
}

/// Tokens of the prompt, by source.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
#[schema(as = Prompt)]
pub(crate) struct PromptTokensView {
    pub(crate) human: u32,
    pub(crate) team: u32,
    pub(crate) agent: u32,
    /// The conversation, retrieved context and the message.
    pub(crate) dynamic: u32,
    pub(crate) total: u32,
}

impl From<RunOutcome> for TurnOutcomeView {
    fn from(told: RunOutcome) -> Self {
        Self {
            run: told.run,
            session: told.session,
            message: told.message,
            text: told.text,
            language: told.language,
            state: told.state.into(),
            halt: told.halt.as_ref().map(RunHaltView::of),
            degraded: told.degraded,
            suggestions: told.suggestions,
            calls: told.calls.into_iter().map(Into::into).collect(),
            approval: told.approval,
            usage: told.usage.into(),
            timings: told.timings.into(),
            violations: told.violations,
        }
    }
}

impl From<ToolCallRecord> for ToolCallView {
    fn from(call: ToolCallRecord) -> Self {
        let ToolCallRecord { tool, arguments, ok, result, micros } = call;
        Self { tool, arguments, ok, result, micros }
    }
}

impl From<munshi_conversations::TurnUsage> for TurnUsageView {
    fn from(used: munshi_conversations::TurnUsage) -> Self {
        let munshi_conversations::TurnUsage {
            input_tokens,
            output_tokens,
            cost_micros,
            model_calls,
            tool_calls,
        } = used;
        Self { input_tokens, output_tokens, cost_micros, model_calls, tool_calls }
    }
}

impl From<TurnTimings> for TurnTimingsView {
    fn from(took: TurnTimings) -> Self {
        let TurnTimings { ingest, prepare, think, act, check, respond, first_word, total } = took;
        Self { ingest, prepare, think, act, check, respond, first_word, total }
    }
}

impl From<TierTokens> for PromptTokensView {
    fn from(tokens: TierTokens) -> Self {
        let TierTokens { human, team, agent, dynamic } = tokens;
        let total = [human, team, agent, dynamic].into_iter().fold(0, u32::saturating_add);
        Self { human, team, agent, dynamic, total }
    }
}
