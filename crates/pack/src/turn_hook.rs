//! What a pack does when a turn has ended: in its transaction, so quickly. What takes longer is a job.

use munshi_jobs::JobQueue;
use munshi_store::{Result, Tx};
use munshi_types::RunId;
use serde_json::Value;

use crate::job::PackJob;
use crate::registry::PackRegistry;
use crate::turn_context::PackTurnContext;

pub trait TurnHook: Send + Sync {
    /// Asked once, in the transaction that ends a turn with an answer. It may write the pack's tables and enqueue the pack's jobs. An error
    /// undoes what this hook wrote and nothing else: the person has their answer.
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

/// The queue, for jobs of one pack.
pub struct PackJobQueue {
    pack: &'static str,
    queue: JobQueue,
}

impl PackJobQueue {
    /// Enqueues a job of the pack's own; under a key there is one at a time.
    pub fn enqueue<J: PackJob>(
        &self,
        tx: &mut Tx<'_>,
        payload: &J::Payload,
        unique: Option<&str>,
    ) -> Result<()> {
        let kind = J::KIND.name();
        if kind.split('.').next() != Some(self.pack) {
            return Err(munshi_store::Error::Refused(format!("{kind} is not a job of {}", self.pack)));
        }
        let job = J::request(payload)?;
        let job = match unique {
            Some(key) => job.unique(key),
            None => job,
        };
        match self.queue.enqueue(tx, &job) {
            Ok(_) => Ok(()),
            Err(munshi_jobs::Error::Store(error)) => Err(error),
            Err(other) => Err(munshi_store::Error::Refused(other.to_string())),
        }
    }
}

impl PackRegistry {
    /// Tells every pack that a turn has ended, in the transaction that ends it. What a hook can't do is logged; only a store that is
    /// ailing ends the transaction, which is tried again then.
    pub fn run_turn_hooks(&self, tx: &mut Tx<'_>, turn: &FinishedTurn, queue: &JobQueue) -> Result<()> {
        for hook in &self.turn_hooks {
            let jobs = PackJobQueue { pack: hook.pack, queue: queue.clone() };
            match tx.attempt(|tx| hook.what.after_turn(tx, turn, &jobs)) {
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
