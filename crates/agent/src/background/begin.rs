//! How work begins that nobody typed.

use std::sync::Arc;

use munshi_jobs::JobQueue;
use munshi_pack::{FromPack, NewPackRun, PackRegistry, PackRunCause, RunKind, RunStarter};
use munshi_safety::pipeline::{Taint, TaintSource};
use munshi_store::{JsonText, Tx, params};
use munshi_types::{Clock, IdGenerator, RunId, Timestamp};
use serde_json::Value;

use super::store::enqueue_run;
use crate::engine::{TurnEngine, TurnEngineInner};
use crate::error::{Error, Result};
use crate::runs::{RunCause, RunLane, ServicePrincipal};
use crate::snapshot::{RunSnapshot, WorkProgress};

/// Work to be begun.
#[derive(Clone, Debug)]
pub struct NewBackgroundRun {
    /// `PACK.NAME`.
    pub kind: String,
    pub cause: RunCause,
    /// What the cause is known by. Told again it makes no second run of the kind.
    pub cause_key: Option<String>,
    pub input: Value,
}

/// What came of beginning it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackgroundRunBegun {
    pub run: RunId,
    /// False where the cause had made it before.
    pub is_new: bool,
}

/// Where work is begun, with an engine at hand or without: somebody works on it when a node is there. Clones share everything.
#[derive(Clone)]
pub struct RunQueue {
    pub packs: Arc<PackRegistry>,
    pub queue: JobQueue,
    pub ids: IdGenerator,
    pub clock: Arc<dyn Clock>,
}

impl TurnEngine {
    pub fn run_starter(&self) -> RunQueue {
        self.inner.run_starter()
    }
}

impl TurnEngineInner {
    pub(super) fn run_starter(&self) -> RunQueue {
        RunQueue {
            packs: self.packs.clone(),
            queue: self.ingest_services.queue.clone(),
            ids: self.ids.clone(),
            clock: self.clock.clone(),
        }
    }
}

impl RunQueue {
    /// Begins work in the caller's transaction: it is there when that commits, and only then.
    pub fn begin(&self, tx: &mut Tx<'_>, new: &NewBackgroundRun) -> Result<BackgroundRunBegun> {
        if new.cause == RunCause::Message {
            return Err(Error::Unfit("a message begins a turn, and no work in the background".to_owned()));
        }
        let foreign = matches!(new.cause, RunCause::Event | RunCause::Agent);
        let sources = foreign.then_some(TaintSource::Connector).into_iter().collect();
        // What it is begun with may be anything of the tenant's.
        self.begin_for(tx, new, None, Taint { sources, holds_private: true, ..Taint::default() })
    }

    pub(super) fn begin_for(
        &self,
        tx: &mut Tx<'_>,
        new: &NewBackgroundRun,
        parent: Option<RunId>,
        taint: Taint,
    ) -> Result<BackgroundRunBegun> {
        let kind = self.packs.find_run_kind(&new.kind);
        let kind = kind.ok_or_else(|| Error::Unfit(format!("no pack has a run kind `{}`", new.kind)))?;
        let work = WorkProgress { input: new.input.clone(), ..WorkProgress::default() };
        let snapshot = RunSnapshot { taint, work: Some(work), ..RunSnapshot::default() };
        let (principal, now) = (build_principal(kind)?, self.clock.now());
        let row = NewRow { new, parent, principal: &principal, snapshot: &snapshot, now };
        let id: RunId = self.ids.next();
        if !add(tx, id, &row)? {
            let key = new.cause_key.as_deref().unwrap_or_default();
            let run = find_by_cause(tx, &new.kind, key)?.ok_or(Error::NoRun)?;
            return Ok(BackgroundRunBegun { run, is_new: false });
        }
        enqueue_run(tx, &self.queue, id, "begin", None)?;
        Ok(BackgroundRunBegun { run: id, is_new: true })
    }
}

impl RunStarter for RunQueue {
    fn begin(&self, tx: &mut Tx<'_>, new: &NewPackRun) -> munshi_store::Result<RunId> {
        let cause = match new.cause {
            PackRunCause::Clock => RunCause::Clock,
            PackRunCause::Event => RunCause::Event,
            PackRunCause::Operation => RunCause::Operation,
        };
        let new = NewBackgroundRun {
            kind: new.kind.clone(),
            cause,
            cause_key: new.cause_key.clone(),
            input: new.input.clone(),
        };
        Self::begin(self, tx, &new).map(|begun| begun.run).map_err(Error::into_store)
    }
}

/// As whom a kind of work acts: what its pack declares, as it is when the run begins.
fn build_principal(kind: &FromPack<dyn RunKind>) -> Result<ServicePrincipal> {
    let scopes = kind.what.scopes().iter().map(|scope| scope.parse());
    let scopes = scopes.collect::<std::result::Result<Vec<_>, _>>();
    let scopes = scopes.map_err(|error| Error::Unfit(format!("{}: {error}", kind.what.name())))?;
    Ok(ServicePrincipal { pack: kind.pack.to_owned(), scopes, autonomy: kind.what.autonomy() })
}

struct NewRow<'a> {
    new: &'a NewBackgroundRun,
    parent: Option<RunId>,
    principal: &'a ServicePrincipal,
    snapshot: &'a RunSnapshot,
    now: Timestamp,
}

/// False where the cause has made one already.
fn add(tx: &mut Tx<'_>, id: RunId, row: &NewRow<'_>) -> Result<bool> {
    let added = tx.execute(
        "INSERT INTO runs (tenant_id, id, kind, cause, cause_key, parent_id, principal, lane, state, epoch, snapshot,
           cancel_asked, began_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'created', 0, $9, FALSE, $10)
         ON CONFLICT (tenant_id, kind, cause_key) WHERE cause_key IS NOT NULL DO NOTHING",
        params![
            id,
            row.new.kind,
            row.new.cause.as_str(),
            row.new.cause_key,
            row.parent,
            JsonText::of(row.principal)?,
            RunLane::Background.as_str(),
            JsonText::of(row.snapshot)?,
            row.now
        ],
    )?;
    Ok(added == 1)
}

fn find_by_cause(tx: &mut Tx<'_>, kind: &str, key: &str) -> Result<Option<RunId>> {
    Ok(tx.optional(
        "SELECT id FROM runs WHERE tenant_id = $1 AND kind = $2 AND cause_key = $3",
        params![kind, key],
        |row| row.get(0),
    )?)
}
