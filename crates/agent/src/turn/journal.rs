//! The run's own record, in the transactions of its acts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use munshi_conversations::commit::{self, RunProgress};
use munshi_conversations::runs::RunLease;
use munshi_conversations::snapshot::{CallIndex, EpochStamp, ExchangeCall, ExchangeCallOutcome};
use munshi_conversations::steps::NewRunStep;
use munshi_conversations::{Error, RunSnapshot, RunState};
use munshi_llm::gateway::CallRecord;
use munshi_safety::acts::ActDecision;
use munshi_safety::pipeline::RefusalCode;
use munshi_store::Tx;
use munshi_tools::{ActJournal, LOGIN_NEEDED, ToolAnswer};
use munshi_types::{Clock, PersonId};
use serde_json::{Value, json};

/// For one call of a tool. What was said to lead to it is stored with its intent, what came of it with its result.
pub(crate) struct CallJournal {
    pub(crate) lease: RunLease,
    pub(crate) person: Option<PersonId>,
    /// With the call in it, not ended yet.
    pub(crate) snapshot: RunSnapshot,
    pub(crate) call_index: CallIndex,
    /// What was not written down yet.
    pub(crate) steps: Vec<NewRunStep>,
    pub(crate) calls: Vec<CallRecord>,
    /// Everything happens in one transaction: then once is enough.
    pub(crate) is_inside: bool,
    pub(crate) lost: AtomicBool,
    /// Whether steps and calls are stored.
    pub(crate) written: Arc<AtomicBool>,
    /// Whether what came of it is stored, with its step.
    pub(crate) observed: Arc<AtomicBool>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) since: Instant,
}

impl CallJournal {
    fn epoch_stamp(&self) -> EpochStamp {
        EpochStamp { epoch: self.lease.epoch, now: self.clock.now() }
    }

    fn write(
        &self,
        tx: &mut Tx<'_>,
        progress: &RunProgress<'_>,
        stored: &Arc<AtomicBool>,
    ) -> munshi_store::Result<()> {
        match commit::save_progress(tx, progress) {
            Ok(()) => {
                let stored = stored.clone();
                tx.after_commit(move || stored.store(true, Ordering::SeqCst));
                Ok(())
            }
            Err(error) => {
                // The act's transaction is undone: it is the other's to do.
                if !matches!(error, Error::Store(_)) {
                    self.lost.store(true, Ordering::SeqCst);
                }
                Err(error.into_store())
            }
        }
    }
}

impl ActJournal for CallJournal {
    fn record_decision(&self, tx: &mut Tx<'_>, begun: &ActDecision) -> munshi_store::Result<()> {
        if self.is_inside {
            return Ok(());
        }
        let mut snapshot = self.snapshot.clone();
        let state = match begun {
            ActDecision::Wait(approval, _) => {
                snapshot.record_answer(
                    self.call_index,
                    &ToolAnswer::Waiting(approval.clone()),
                    self.epoch_stamp(),
                );
                RunState::Acting
            }
            ActDecision::Go(_) => {
                // The wish is stored with it: no model is asked for it again.
                snapshot.note_progress(self.lease.epoch);
                RunState::Acting
            }
            ActDecision::Refused(_) | ActDecision::Past(_) => RunState::CheckingSafety,
        };
        let Self { lease, person, steps, calls, .. } = self;
        let progress =
            RunProgress { lease: *lease, person: *person, state, snapshot: &snapshot, steps, calls };
        self.write(tx, &progress, &self.written)
    }

    fn record_answer(&self, tx: &mut Tx<'_>, answer: &ToolAnswer) -> munshi_store::Result<()> {
        let mut snapshot = self.snapshot.clone();
        snapshot.record_answer(self.call_index, answer, self.epoch_stamp());
        let observed = snapshot.find_call(self.call_index).map(|called| NewRunStep {
            state: RunState::Observing,
            body: body(called),
            micros: i64::try_from(self.since.elapsed().as_micros()).unwrap_or(i64::MAX),
            at: self.clock.now(),
        });
        let (unwritten, calls): (&[NewRunStep], &[CallRecord]) =
            if self.is_inside { (&self.steps, &self.calls) } else { (&[], &[]) };
        let steps: Vec<NewRunStep> = unwritten.iter().cloned().chain(observed).collect();
        let state = RunState::Observing;
        let Self { lease, person, .. } = *self;
        let progress = RunProgress { lease, person, state, snapshot: &snapshot, steps: &steps, calls };
        self.write(tx, &progress, &self.observed)?;
        if !self.is_inside {
            return Ok(());
        }
        let written = self.written.clone();
        tx.after_commit(move || written.store(true, Ordering::SeqCst));
        Ok(())
    }
}

/// What a step says of a call.
pub(crate) fn body(called: &ExchangeCall) -> Value {
    let (ok, result) = match &called.outcome {
        ExchangeCallOutcome::Ended { ok, result } => (*ok, result.clone()),
        ExchangeCallOutcome::Waiting { approval, again_at: None, .. } => {
            (false, json!({ "ok": false, "code": "waiting_approval", "approval": approval }))
        }
        ExchangeCallOutcome::Waiting { approval, again_at, is_away } => {
            let code = if *is_away { RefusalCode::UnknownTool.as_str() } else { "waiting_limit" };
            (false, json!({ "ok": false, "code": code, "approval": approval, "again_at": again_at }))
        }
        ExchangeCallOutcome::Login { connector, until, .. } => {
            (false, json!({ "ok": false, "code": LOGIN_NEEDED, "connector": connector, "until": until }))
        }
        ExchangeCallOutcome::Open | ExchangeCallOutcome::Handed { .. } => (false, Value::Null),
    };
    json!({ "tool": called.tool, "arguments": called.arguments, "act": called.act, "ok": ok, "result": result })
}
