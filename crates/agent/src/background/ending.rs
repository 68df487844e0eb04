//! The end of a run of the background, and of everything that waits for it or that it waits for.

use std::sync::Arc;

use munshi_conversations::background::record::WorkStep;
use munshi_conversations::background::store::{self, RunResult, enqueue_run};
use munshi_conversations::runs::{self, RunLease};
use munshi_conversations::sealing::seal_by;
use munshi_conversations::snapshot::sum;
use munshi_conversations::steps::{self, NewRunStep};
use munshi_conversations::{Error, HaltReason, Result, commit};
use munshi_llm::calls;
use munshi_store::Tx;
use munshi_types::{ApprovalId, Id, PersonId, RunId};
use serde_json::json;

use super::billing::RunBill;
use crate::engine::TurnEngineInner;

pub(super) struct RunEnding {
    pub lease: RunLease,
    /// On whose behalf it was done.
    pub person: Option<PersonId>,
    pub parent: Option<RunId>,
    /// What it is settled with.
    pub bill: Option<RunBill>,
    pub halt: Option<HaltReason>,
    pub result: RunResult,
    /// What was not written down yet.
    pub steps: Vec<NewRunStep>,
    /// What it asked people.
    pub questions: Vec<ApprovalId>,
}

impl TurnEngineInner {
    /// Ends a run of which nothing is known but that it broke.
    pub(super) async fn end_broken(self: &Arc<Self>, lease: RunLease, halt: HaltReason) -> Result<()> {
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            let found = match runs::find(tx, lease.run) {
                Err(error) if error.is_unreadable() => runs::find_without_snapshot(tx, lease.run),
                found => found,
            };
            let run = found?.ok_or(Error::NoRun)?;
            // Its own snapshot may say less than it used, or nothing.
            let own = run.snapshot.use_with_calls(calls::sum_spend_of_run(tx, lease.run.as_uuid())?);
            let used = sum(own, store::sum_use_of_children(tx, lease.run)?);
            Ok((run, used))
        };
        let (run, used) = self.db.read(lease.tenant, read).await?;
        let result = RunResult {
            ok: false,
            result: json!({ "code": halt.code() }),
            taint: run.snapshot.whole_taint(),
            used,
        };
        let ending = RunEnding {
            lease,
            person: run.person(),
            parent: run.parent,
            bill: RunBill::find(&run),
            halt: Some(halt),
            result,
            steps: Vec::new(),
            questions: run.snapshot.pending_approvals(),
        };
        self.store_ending(ending).await
    }

    /// The end, what it asked people, those it began, and whoever waits for it: all or nothing. Rows of runs come before records, as
    /// a child that ends writes into its parent's record.
    pub(super) async fn store_ending(self: &Arc<Self>, ending: RunEnding) -> Result<()> {
        let (inner, tenant) = (self.clone(), ending.lease.tenant);
        let unit = move |tx: &mut Tx<'_>| -> Result<()> {
            let now = inner.clock.now();
            let (lease, queue) = (ending.lease, &inner.ingest_services.queue);
            if let Some(bill) = &ending.bill {
                bill.settle(tx, &inner.act_services.governor, ending.halt.as_ref(), now)?;
            }
            let held = (lease, seal_by(tx, ending.person)?);
            store::end(tx, held, ending.halt.as_ref(), &ending.result, now)?;
            if ending.halt.is_some() {
                for child in store::list_open_children(tx, lease.run)? {
                    runs::request_cancel(tx, child, now)?;
                    enqueue_run(tx, queue, child, "cancel", None)?;
                }
            }
            steps::add_shared(tx, held, &ending.steps)?;
            if let Some(parent) = ending.parent {
                enqueue_run(tx, queue, parent, &format!("child/{}", lease.run), None)?;
                let ended = WorkStep::ChildEnded { run: lease.run, ok: ending.result.ok };
                steps::add_beside(tx, parent, &ended.build(now)?)?;
            }
            let Some(halt) = &ending.halt else { return Ok(()) };
            let untold = commit::withdraw(tx, &ending.questions, halt.code(), now)?;
            untold.record_with_ids(tx, &inner.ids, now)?;
            Ok(())
        };
        self.db.write(tenant, unit).await
    }
}
