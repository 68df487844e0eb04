//! Work that goes on in steps without a conversation: what a schedule, an event or another run begins.
//!
//! A kind says what comes next, from what came of the steps before; it does nothing by itself. Calls of tools are acts like those
//! of a turn, with the same policy, journal and approvals. Whatever it waits for, nobody works on it meanwhile, and a
//! process that dies is followed by one that goes on.

use async_trait::async_trait;
use munshi_types::{Autonomy, RunId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::services::PackServices;

#[async_trait]
pub trait RunKind: Send + Sync {
    /// A plain word, the only one of its pack: `restock`. It is stored with the pack's name before it: `shop.restock`.
    fn name(&self) -> &'static str;

    /// The scopes that its calls may use: `shop.stock.*`. The tenant's policy stands above them.
    fn scopes(&self) -> &'static [&'static str];

    /// How far it goes without a person. What goes further is asked first.
    fn autonomy(&self) -> Autonomy {
        Autonomy::Investigate
    }

    /// What comes next. It may be asked again after a crash: from the same history it gives the same step.
    async fn next_step(&self, history: &RunHistory) -> Result<NextStep, String>;

    /// The same, for a kind that asks a model or another server what comes next. Once it has read something foreign, so has the run.
    async fn next_step_with(
        &self,
        history: &RunHistory,
        _services: &PackServices,
    ) -> Result<NextStep, String> {
        self.next_step(history).await
    }
}

/// What a run has behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHistory {
    pub tenant: TenantId,
    pub run: RunId,
    /// What it was begun with.
    pub input: Value,
    /// What came of each step, the oldest first.
    pub outcomes: Vec<StepOutcome>,
    pub now: Timestamp,
}

/// What a run does next.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    Call {
        tool: String,
        arguments: Value,
    },
    WaitUntil(Timestamp),
    /// Begins other runs, and waits until all of them have ended.
    Begin(Vec<ChildRun>),
    /// A step that the work can do without. While more than fifty runs wait it is left out, and the run's record says so.
    Optional {
        /// What is left out, in a few words.
        what: String,
        step: Box<NextStep>,
    },
    /// It is done, with this.
    End(Value),
    /// It can't be done, for this reason.
    Fail(String),
}

/// A run to be begun by another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildRun {
    /// As it is stored: `shop.restock`.
    pub kind: String,
    pub input: Value,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// A tool answered; `result` is what a model would be told.
    Called { ok: bool, result: Value },
    /// The time is there.
    Waited,
    /// It was optional, and too many others waited.
    Skipped { what: String },
    /// The runs it began have ended, in the order they were begun.
    Ended(Vec<ChildOutcome>),
}

/// How a run that another began has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildOutcome {
    pub run: RunId,
    pub ok: bool,
    /// What it ended with, or why it did not.
    pub result: Value,
}
