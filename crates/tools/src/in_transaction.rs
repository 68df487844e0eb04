//! Calling what works on our own tables: in the act's transaction, where everything can be undone.

use std::panic::{AssertUnwindSafe, catch_unwind};

use munshi_privacy::Scrubber;
use munshi_safety::acts::{ActOutcome, Permit, PermitMode};
use munshi_store::Tx;
use serde_json::Value;

use crate::handler::{ReadToolHandler, ToolFailure, ToolOutput, WriteToolHandler};
use crate::result::{sanitize_output, to_failed_outcome};

/// Why an attempt at our own tables is undone.
enum Stopped {
    Failed(ToolFailure),
    /// It was only tried out.
    Tried(Box<ToolOutput>),
}

impl From<munshi_store::Error> for Stopped {
    fn from(error: munshi_store::Error) -> Self {
        Self::Failed(error.into())
    }
}

pub(crate) fn read(
    tx: &mut Tx<'_>,
    look: &dyn ReadToolHandler,
    prepared: &Value,
    permit: &Permit,
) -> (ActOutcome, Option<ToolOutput>) {
    to_outcome(tx.attempt(|tx| catch_panic(|| look.read_prepared(permit, prepared, tx))))
}

/// Writes, reads back, and undoes what failed, broke, did not agree, or was only tried out.
pub(crate) fn write(
    tx: &mut Tx<'_>,
    write: &dyn WriteToolHandler,
    permit: &Permit,
) -> (ActOutcome, Option<ToolOutput>) {
    to_outcome(tx.attempt(|tx| {
        let done = catch_panic(|| write.write(permit, tx))?;
        if let Some(what) = catch_panic(|| write.read_back(permit, &done, tx))? {
            let detail = format!("what was written does not read back: {what}. Nothing was changed");
            return Err(Stopped::Failed(ToolFailure::permanent("read_back", detail)));
        }
        match permit.mode() {
            PermitMode::Apply => Ok(done),
            PermitMode::Rehearse => Err(Stopped::Tried(Box::new(done))),
        }
    }))
}

/// A tool that breaks has failed, and its act stands in the books all the same.
fn catch_panic<T>(call: impl FnOnce() -> Result<T, ToolFailure>) -> Result<T, Stopped> {
    let broke = || ToolFailure::permanent("broke", "the tool broke; somebody has to look at it");
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err(broke())).map_err(Stopped::Failed)
}

fn to_outcome(done: Result<ToolOutput, Stopped>) -> (ActOutcome, Option<ToolOutput>) {
    let done = match done {
        Ok(done) => done,
        Err(Stopped::Tried(done)) => *done,
        Err(Stopped::Failed(failure)) => return (to_failed_outcome(failure, &Scrubber::default()), None),
    };
    let done = sanitize_output(done, &Scrubber::default());
    (ActOutcome::Applied(done.value.clone()), Some(done))
}
