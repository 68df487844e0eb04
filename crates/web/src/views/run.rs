//! Runs and their steps.

use munshi_agent::runs::RunView;
use munshi_agent::steps::RunStep;
use munshi_agent::{HaltReason, RunState};
use munshi_types::{BindingId, MessageId, PersonId, RunId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// The state of a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        #[schema(as = State)]
        pub(crate) enum RunStateView {
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
    Acting,
    Observing,
    Responding,
    Done,
    /// Ended otherwise; `halt` says how, and the person was told.
    Halted,
}

/// Why a run was halted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Ended)]
pub(crate) struct RunHaltView {
    /// Machine-readable reason.
    #[schema(example = "over_budget")]
    code: &'static str,
    /// Details, if they may be shown.
    detail: Option<String>,
}

impl RunHaltView {
    pub(crate) fn of(halt: &HaltReason) -> Self {
        let detail = match halt {
            HaltReason::OverBudget(what)
            | HaltReason::RunSpent(what)
            | HaltReason::Stuck(what)
            | HaltReason::RefusedAtDoor(what) => Some(what.clone()),
            // What broke of ours is for the log.
            HaltReason::ToolCap | HaltReason::NoModel(_) | HaltReason::Cancelled | HaltReason::Broken(_) => {
                None
            }
        };
        Self { code: halt.code(), detail }
    }
}

/// A run: the work of a turn, from the message to its answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Run)]
pub(crate) struct RunSummaryView {
    #[schema(value_type = uuid::Uuid)]
    id: RunId,
    #[schema(value_type = uuid::Uuid)]
    session: SessionId,
    #[schema(value_type = uuid::Uuid)]
    binding: BindingId,
    #[schema(value_type = uuid::Uuid)]
    person: PersonId,
    /// The message to answer.
    #[schema(value_type = uuid::Uuid)]
    message: MessageId,
    /// `message`, or `rehearsal` for a dry run.
    #[schema(example = "message")]
    kind: String,
    #[schema(example = "api")]
    channel: &'static str,
    state: RunStateView,
    halt: Option<RunHaltView>,
    /// How often a node started work on it: more than once after a crash or an approval.
    epoch: i64,
    /// The reply.
    #[schema(value_type = Option<uuid::Uuid>)]
    reply: Option<MessageId>,
    /// Cancellation was requested.
    cancel_asked: bool,
    #[schema(value_type = String, format = DateTime)]
    began_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
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
            channel: run.channel.as_str(),
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
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunWithSteps {
    #[serde(flatten)]
    pub(crate) run: RunSummaryView,
    /// In order.
    pub(crate) steps: Vec<RunStepView>,
}

/// One transition of a run.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Step)]
pub(crate) struct RunStepView {
    number: i64,
    epoch: i64,
    state: RunStateView,
    /// Details; for a tool call its tool, arguments and result.
    body: Value,
    /// Duration in microseconds.
    micros: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
}

impl From<RunStep> for RunStepView {
    fn from(step: RunStep) -> Self {
        let RunStep { number, epoch, state, body, micros, at } = step;
        Self { number, epoch, state: state.into(), body, micros, at }
    }
}
