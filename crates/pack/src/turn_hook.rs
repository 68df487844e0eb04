//! What a pack does when a turn has ended: in its transaction, so quickly. What takes longer is a job.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use munshi_jobs::JobQueue;
use munshi_store::{Result, Tx};
use munshi_types::RunId;
use serde_json::Value;

use crate::job_queue::PackJobQueue;
use crate::registry::PackRegistry;
use crate::turn_context::PackTurnContext;

pub trait TurnHook: Send + Sync {
    /// Asked once, in the transaction that ends a turn with an answer. It may write the pack's tables and enqueue the pack's jobs. An error
    /// or a panic undoes what this hook wrote and nothing else: the person has their answer.
    fn after_turn(&self, tx: &mut Tx<'_>, turn: &FinishedTurn, jobs: &PackJobQueue) -> Result<()>;
}

/// A turn that has been answered.
#[derive(Clone, Debug)]
pub struct FinishedTurn {
    pub run: RunId,
    pub context: PackTurnContext,
    /// As it was sent.
    pub reply: String,
    /// In their order.
    pub calls: Vec<FinishedCall>,
}

/// A tool that was called in a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedCall {
    pub tool: String,
    pub ok: bool,
    /// What the model was told of it.
    pub result: Value,
}

impl PackRegistry {
    /// Tells every pack that a turn has ended, in the transaction that ends it. What a hook can't do is logged; only a store that is
    /// ailing ends the transaction, which is tried again then.
    pub fn run_turn_hooks(&self, tx: &mut Tx<'_>, turn: &FinishedTurn, queue: &JobQueue) -> Result<()> {
        for hook in self.turn_hooks.iter().filter(|hook| turn.context.packs.has(hook.pack)) {
            let jobs = PackJobQueue::new(hook.pack, queue.clone());
            let ask = |tx: &mut Tx<'_>| {
                let done = catch_unwind(AssertUnwindSafe(|| hook.what.after_turn(tx, turn, &jobs)));
                done.unwrap_or_else(|panic| Err(munshi_store::Error::Refused(describe_panic(panic.as_ref()))))
            };
            match tx.attempt(ask) {
                Ok(()) => {}
                Err(error) if error.is_retryable() => return Err(error),
                Err(error) => {
                    tracing::error!(pack = hook.pack, run = %turn.run, %error, "a pack's turn hook failed");
                }
            }
        }
        Ok(())
    }
}

fn describe_panic(panic: &(dyn Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("no message"))
}
