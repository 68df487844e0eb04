//! What a tool implements.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_privacy::Scrubber;
use munshi_safety::acts::Permit;
use munshi_safety::pipeline::TaintSource;
use munshi_store::{Db, Tx};
use munshi_types::ToolName;
use serde_json::Value;

use crate::failure_hint::{ChoiceOption, FailureHint};

/// How a tool is called, by what it touches.
#[derive(Clone)]
pub enum ToolHandler {
    /// Looks at our own tables.
    Read(Arc<dyn ReadToolHandler>),
    /// Writes in our own transaction, together with the act's own record: it happens once or not at all.
    Write(Arc<dyn WriteToolHandler>),
    /// Goes elsewhere: another program, another service.
    Remote(Arc<dyn RemoteToolHandler>),
}

#[async_trait]
pub trait ReadToolHandler: Send + Sync {
    /// What takes a wait, such as the vector of what is searched for, or longer than others should wait for a transaction that
    /// writes: that reads by itself. It comes before the act's own transaction, within the tool's time.
    async fn prepare(&self, _permit: &Permit, _db: &Db) -> Result<Value, ToolFailure> {
        Ok(Value::Null)
    }

    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure>;

    /// The same with what was prepared.
    fn read_prepared(
        &self,
        permit: &Permit,
        _prepared: &Value,
        tx: &mut Tx<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        self.read(permit, tx)
    }
}

pub trait WriteToolHandler: Send + Sync {
    /// Writes. A failure undoes everything it wrote.
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure>;

    /// Reads back what was written, in the same transaction. What does not agree, in a few words, undoes it.
    fn read_back(
        &self,
        _permit: &Permit,
        _done: &ToolOutput,
        _tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        Ok(None)
    }
}

#[async_trait]
pub trait RemoteToolHandler: Send + Sync {
    /// Calls. Dropping it is giving up: the act counts as one that may have happened.
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure>;

    /// Takes the secrets it opened out of what it says; those that look like one are found without.
    fn scrubber(&self) -> Scrubber {
        Scrubber::default()
    }

    /// Tells the connection it goes over from others that were there under the same name: what was seen over one is not
    /// told of another.
    fn connection_id(&self) -> u64 {
        0
    }

    /// Whether an act happened, by its key or its arguments.
    async fn look_up(&self, _permit: &Permit) -> Result<LookupOutcome, ToolFailure> {
        Ok(LookupOutcome::CanNotTell)
    }

    /// Says what would happen, where the tool declares that it can.
    async fn rehearse(&self, _permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        Err(ToolFailure::permanent("no_rehearsal", "this tool can't be tried out"))
    }

    /// Reads back what was done, where that can be seen. What does not agree is told, in a few words.
    async fn read_back(&self, _permit: &Permit, _done: &ToolOutput) -> Result<Option<String>, ToolFailure> {
        Ok(None)
    }
}

/// What a look-up found.
#[derive(Clone, Debug, PartialEq)]
pub enum LookupOutcome {
    Happened(ToolOutput),
    DidNot,
    CanNotTell,
}

/// What a tool gives back.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    pub value: Value,
    /// How to take it back, where that can be.
    pub undo: Option<UndoCall>,
    /// Whose words a tool of our own repeats: the run has read them with it. What another's tool says is that one's anyway.
    pub sources: BTreeSet<TaintSource>,
}

impl ToolOutput {
    pub fn new(value: Value) -> Self {
        Self { value, undo: None, sources: BTreeSet::new() }
    }
}

/// The call that takes an act back: an act of its own, through the whole pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct UndoCall {
    pub tool: ToolName,
    pub arguments: Value,
    /// How long it can be taken back so.
    pub holds: Duration,
}

impl UndoCall {
    /// For a day, as people notice what they did wrong.
    pub fn new(tool: ToolName, arguments: Value) -> Self {
        Self { tool, arguments, holds: Duration::from_secs(24 * 3600) }
    }
}

/// Why a tool could not.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// A word for it, such as `not_found`.
    pub code: String,
    /// Whether the same call may pass in a while.
    pub retryable: bool,
    /// What happened and what to do, for the model; no secret in it.
    pub detail: String,
    pub happened: EffectCertainty,
    /// What helps.
    pub next: Option<Box<FailureHint>>,
}

/// Whether the world was changed all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectCertainty {
    No,
    Maybe,
}

impl ToolFailure {
    /// It did not happen, and trying again would not help.
    pub fn permanent(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            retryable: false,
            detail: detail.into(),
            happened: EffectCertainty::No,
            next: None,
        }
    }

    /// Nothing goes by these words. The search that the tool's specification names is tried with them.
    pub fn not_found(words: impl Into<String>) -> Self {
        let words = words.into();
        let next = Some(Box::new(FailureHint::Search { words: words.clone(), by: None }));
        Self { next, ..Self::permanent("not_found", format!("nothing was found for “{words}”")) }
    }

    /// Several things go by what an argument said: the person is shown them by number and picks one.
    pub fn ambiguous(argument: impl Into<String>, choices: Vec<ChoiceOption>) -> Self {
        let detail = format!("{} fit; which one is meant must be asked", choices.len());
        let next = Some(Box::new(FailureHint::Choose { argument: argument.into(), choices }));
        Self { next, ..Self::permanent("several", detail) }
    }

    /// It did not happen, and may pass in a while.
    pub fn transient(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::permanent(code, detail) }
    }

    /// It broke off: it may have happened.
    pub fn uncertain(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { happened: EffectCertainty::Maybe, ..Self::transient(code, detail) }
    }
}

impl From<munshi_store::Error> for ToolFailure {
    fn from(error: munshi_store::Error) -> Self {
        let retryable = error.is_retryable();
        Self { retryable, ..Self::permanent("store", error.to_string()) }
    }
}
