//! Runs and their steps as they are shown.

use munshi_conversations::runs::{RunCause, RunView};
use munshi_conversations::steps::RunStep;
use munshi_conversations::{HaltReason, RunState};
use munshi_llm::calls::ModelCallView;
use munshi_llm::pricing::Cost;
use munshi_types::{BindingId, CallId, MessageId, PersonId, RunId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// The state of a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        #[schema(as = State)]
        pub enum RunStateView {
            $($(#[$doc])* $name,)+
        }

        impl From<RunState> for RunStateView {
            fn from(state: RunState) -> Self {
                match state { $(RunState::$name => Self::$name,)+ }
            }
        }

        impl From<RunStateView> for RunState {
            fn from(state: RunStateView) -> Self {
                match state { $(RunStateView::$name => Self::$name,)+ }
            }
        }
    };
}

states! {
    /// Stored; it begins, or waits for the turn before it.
    Created,
    Preparing,
    Thinking,
    CheckingSafety,
    /// A person is asked; nobody works on it.
    WaitingApproval,
    /// Waits for the runs it began.
    WaitingChild,
    /// Waits for a time.
    WaitingTimer,
    Acting,
    Observing,
    Responding,
    Done,
    /// Ended otherwise; `halt` says how, and the person was told.
    Halted,
}

/// What began a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RunCause)]
pub enum RunCauseView {
    /// A person's message.
    Message,
    /// A schedule.
    Clock,
    /// Something that happened outside.
    Event,
    /// Somebody's command.
    Operation,
    /// Another run.
    Run,
    /// Somebody else's agent.
    Agent,
}

impl From<RunCause> for RunCauseView {
    fn from(cause: RunCause) -> Self {
        match cause {
            RunCause::Message => Self::Message,
            RunCause::Clock => Self::Clock,
            RunCause::Event => Self::Event,
            RunCause::Operation => Self::Operation,
            RunCause::Run => Self::Run,
            RunCause::Agent => Self::Agent,
        }
    }
}

/// Why a run was halted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Ended)]
pub struct RunHaltView {
    /// Machine-readable reason.
    #[schema(example = "over_budget")]
    pub code: String,
    /// Details, if they may be shown.
    pub detail: Option<String>,
}

impl RunHaltView {
    pub fn of(halt: &HaltReason) -> Self {
        let detail = match halt {
            HaltReason::OverBudget(what)
            | HaltReason::RunSpent(what)
            | HaltReason::Stuck(what)
            | HaltReason::RefusedAtDoor(what) => Some(what.clone()),
            HaltReason::Joined(run) => Some(run.to_string()),
            // What broke of ours is for the log.
            HaltReason::ToolCap
            | HaltReason::NoModel(_)
            | HaltReason::Cancelled
            | HaltReason::Held
            | HaltReason::PersonGone
            | HaltReason::OptedOut
            | HaltReason::OptedIn
            | HaltReason::Broken(_) => None,
        };
        Self { code: halt.code().to_owned(), detail }
    }
}

/// A run: the work of a turn, from the message to its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Run)]
pub struct RunSummaryView {
    #[schema(value_type = uuid::Uuid)]
    pub id: RunId,
    /// The conversation it takes part in; null for work that nobody typed.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub session: Option<SessionId>,
    #[schema(value_type = Option<uuid::Uuid>)]
    pub binding: Option<BindingId>,
    /// Whose message it answers, or on whose behalf it acts; null for work that nobody asked for.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub person: Option<PersonId>,
    /// The message to answer.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub message: Option<MessageId>,
    /// `message`, `rehearsal` for a dry run, `late` for a result that came after its turn, or a pack's kind of work.
    #[schema(example = "message")]
    pub kind: String,
    pub cause: RunCauseView,
    /// The run that began it.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub parent: Option<RunId>,
    #[schema(example = "api")]
    pub channel: Option<String>,
    pub state: RunStateView,
    pub halt: Option<RunHaltView>,
    /// How often a node started work on it: more than once after a crash or an approval.
    pub epoch: i64,
    /// The reply.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub reply: Option<MessageId>,
    /// Cancellation was requested.
    pub cancel_asked: bool,
    #[schema(value_type = String, format = DateTime)]
    pub began_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
}

impl From<RunView> for RunSummaryView {
    fn from(run: RunView) -> Self {
        Self {
            id: run.id,
            session: run.session,
            binding: run.binding,
            person: run.person,
            message: run.message,
            kind: run.kind,
            cause: run.cause.into(),
            parent: run.parent,
            channel: run.channel.map(|channel| channel.as_str().to_owned()),
            state: run.state.into(),
            halt: run.halt.as_ref().map(RunHaltView::of),
            epoch: run.epoch,
            reply: run.reply,
            cancel_asked: run.cancel_asked,
            began_at: run.began_at,
            ended_at: run.ended_at,
        }
    }
}

/// A run with its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = RunWithSteps)]
pub struct RunWithStepsView {
    #[serde(flatten)]
    pub run: RunSummaryView,
    /// In order.
    pub steps: Vec<RunStepView>,
    /// The attempts at models, in order.
    #[serde(default)]
    pub calls: Vec<RunModelCallView>,
}

/// An attempt at a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = RunModelCall)]
pub struct RunModelCallView {
    #[schema(value_type = uuid::Uuid)]
    pub id: CallId,
    /// The model's name in the settings.
    pub target: String,
    pub model: String,
    /// What it was asked for.
    pub purpose: String,
    /// From 1, over all models that were tried.
    pub attempt: i64,
    pub outcome: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar; null where the price is unknown.
    pub cost_microdollars: Option<i64>,
    pub total_micros: i64,
    /// What the prompt was made of: the tokens of each section, what was cut and why.
    pub sections: Option<Value>,
    /// SHA-256 of the prompt's text, in hex: the same prompt has the same.
    pub prompt_hash: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
}

impl From<ModelCallView> for RunModelCallView {
    fn from(call: ModelCallView) -> Self {
        Self {
            id: call.id,
            target: call.target,
            model: call.model,
            purpose: call.purpose,
            attempt: call.attempt,
            outcome: call.outcome,
            input_tokens: call.usage.input,
            output_tokens: call.usage.output,
            cost_microdollars: call.cost.map(Cost::as_micros),
            total_micros: call.total_micros,
            sections: call.sections,
            prompt_hash: call.prompt_hash,
            started_at: call.started_at,
        }
    }
}

/// One transition of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Step)]
pub struct RunStepView {
    pub number: i64,
    pub epoch: i64,
    pub state: RunStateView,
    /// Details; for a tool call its tool, arguments and result.
    pub body: Value,
    /// Duration in microseconds.
    pub micros: i64,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

impl From<RunStep> for RunStepView {
    fn from(step: RunStep) -> Self {
        let RunStep { number, epoch, state, body, micros, at } = step;
        Self { number, epoch, state: state.into(), body, micros, at }
    }
}
