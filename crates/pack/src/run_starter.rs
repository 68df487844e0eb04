//! How a pack begins work that goes on by itself.

use munshi_store::{Result, Tx};
use munshi_types::RunId;
use serde_json::Value;

/// What makes a pack begin a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackRunCause {
    /// A schedule.
    Clock,
    /// Something that happened outside: nobody's own words stand in it, and what it brings is written after a yes.
    Event,
    /// Somebody's command.
    Operation,
}

/// A run to be begun.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPackRun {
    /// As it is stored: `shop.restock`.
    pub kind: String,
    pub cause: PackRunCause,
    /// What the cause is known by, `restock/2026-11-18`. Told again it makes no second run of the kind.
    pub cause_key: Option<String>,
    pub input: Value,
}

pub trait RunStarter: Send + Sync {
    /// Begins it in the caller's transaction: it is there when that commits, and only then. Gives the run that the cause made
    /// before, where it did.
    fn begin(&self, tx: &mut Tx<'_>, new: &NewPackRun) -> Result<RunId>;
}
