//! How work begins that nobody typed.

use std::sync::{Arc, Weak};

use munshi_conversations::background::store::{self, NewBackgroundRow, enqueue_run, sum_use_of_children};
use munshi_conversations::runs::{self, Run, RunCause, RunLane, ServicePrincipal};
use munshi_conversations::snapshot::{WorkProgress, sum};
use munshi_conversations::{Error, Result, RunSnapshot};
use munshi_jobs::JobQueue;
use munshi_llm::calls;
use munshi_pack::{
    FromPack, NewPackRun, PackRegistry, PackRunCause, RunDelegator, RunKind, RunStarter, load_tenant_packs,
};
use munshi_safety::acts;
use munshi_safety::budget::{BudgetGovernor, RunBudget};
use munshi_safety::pipeline::{Taint, TaintSource};
use munshi_store::Tx;
use munshi_types::{ActId, Clock, Id, IdGenerator, RunId, SessionId};
use serde_json::Value;

use super::billing;
use crate::engine::{TurnEngine, TurnEngineInner};

/// So many runs stand above one that a tool begins, at most.
const MOST_DEPTH: usize = 5;

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
    pub governor: BudgetGovernor,
    pub ids: IdGenerator,
    pub clock: Arc<dyn Clock>,
}

/// Where a run comes from, beside its cause.
#[derive(Default)]
pub(super) struct RunOrigin {
    pub parent: Option<RunId>,
    pub taint: Taint,
    /// On whose behalf it is begun.
    pub delegator: Option<RunDelegator>,
    /// Whether another run of theirs began it: both count as one conversation.
    pub is_part: bool,
    /// Its share of what the run had left that began it.
    pub share: Option<RunBudget>,
}

impl TurnEngine {
    pub fn run_starter(&self) -> RunQueue {
        self.inner.run_starter()
    }
}

impl TurnEngineInner {
    /// Lets the tools of packs begin runs.
    pub(crate) fn connect_tool_runs(&self) {
        let RunQueue { packs, queue, governor, ids, clock } = self.run_starter();
        let starter = ToolRunQueue { packs: Arc::downgrade(&packs), queue, governor, ids, clock };
        self.packs.tool_runs.connect(Arc::new(starter));
    }

    pub(super) fn run_starter(&self) -> RunQueue {
        RunQueue {
            packs: self.packs.clone(),
            queue: self.ingest_services.queue.clone(),
            governor: self.act_services.governor.clone(),
            ids: self.ids.clone(),
            clock: self.clock.clone(),
        }
    }
}

impl RunQueue {
    /// Begins work in the caller's transaction: it is there when that commits, and only then.
    pub fn begin(&self, tx: &mut Tx<'_>, new: &NewBackgroundRun) -> Result<BackgroundRunBegun> {
        self.begin_for(tx, new, RunOrigin { taint: build_taint(new.cause), ..RunOrigin::default() })
    }

    /// The same on a person's behalf: it counts as one conversation of theirs, and is refused where they may have no more.
    pub fn delegate(
        &self,
        tx: &mut Tx<'_>,
        new: &NewBackgroundRun,
        by: &RunDelegator,
    ) -> Result<BackgroundRunBegun> {
        let origin =
            RunOrigin { taint: build_taint(new.cause), delegator: Some(by.clone()), ..RunOrigin::default() };
        self.begin_for(tx, new, origin)
    }

    /// The same for a tool: on behalf of whoever its act is for, with what the act rests on. What a tool of a background run begins is a
    /// part of that run: it has a share of its budget, and is stopped with it.
    pub fn begin_from_act(
        &self,
        tx: &mut Tx<'_>,
        new: &NewBackgroundRun,
        act: ActId,
    ) -> Result<BackgroundRunBegun> {
        let act = acts::find(tx, act)?.ok_or_else(|| Error::Unfit(format!("there is no act {act}")))?;
        let caller = act.rests_on.caller;
        let began_in = caller.run.map(|run| runs::find(tx, run)).transpose()?.flatten();
        let work = began_in.filter(|run| run.lane == RunLane::Background);
        let delegator = match (&work, caller.principal.person) {
            (Some(run), _) => run.delegator().cloned(),
            (None, Some(person)) => Some(RunDelegator {
                person,
                door: caller.door,
                binding: caller.binding,
                session: caller.session.map(SessionId::from_uuid),
                key: caller.key,
                ceiling: caller.ceiling,
            }),
            // A role has no person whose rights it could go by: a service would have more than that role.
            (None, None) => return Err(Error::Unfit("no person asks for this run".to_owned())),
        };
        let cause = if caller.run.is_some() { RunCause::Run } else { new.cause };
        let mut taint = Taint { own_words: Vec::new(), holds_private: true, ..act.rests_on.taint };
        taint.sources.extend(build_taint(new.cause).sources);
        let share = work.as_ref().map(|run| self.share_of_origin(tx, run)).transpose()?;
        let parent = work.as_ref().map(|run| run.id);
        self.begin_for(
            tx,
            &NewBackgroundRun { cause, ..new.clone() },
            RunOrigin { parent, taint, delegator, is_part: parent.is_some(), share },
        )
    }

    /// What a run gets that a tool of another begins: half of what that one has left, as it goes on beside it.
    fn share_of_origin(&self, tx: &mut Tx<'_>, origin: &Run) -> Result<RunBudget> {
        if origin.ended_at.is_some() {
            return Err(Error::Unfit(format!("run {} has ended and begins no other", origin.id)));
        }
        if store::count_ancestors(tx, origin, MOST_DEPTH)? + 1 > MOST_DEPTH {
            let what = format!("runs begin each other more than {MOST_DEPTH} deep");
            return Err(Error::Unfit(what));
        }
        let called = calls::sum_spend_of_run(tx, origin.id.as_uuid())?;
        let own = origin.snapshot.use_with_calls(called);
        let used = sum(own, sum_use_of_children(tx, origin.id)?);
        Ok(find_limit(&origin.snapshot, &self.governor).share(&used, 2))
    }

    pub(super) fn begin_for(
        &self,
        tx: &mut Tx<'_>,
        new: &NewBackgroundRun,
        origin: RunOrigin,
    ) -> Result<BackgroundRunBegun> {
        if new.cause == RunCause::Message {
            return Err(Error::Unfit("a message begins a turn, and no work in the background".to_owned()));
        }
        let kind = self.packs.find_run_kind(&new.kind);
        let kind = kind.ok_or_else(|| Error::Unfit(format!("no pack has a run kind `{}`", new.kind)))?;
        if !load_tenant_packs(tx)?.has(kind.pack) {
            return Err(Error::Unfit(format!("the tenant does not have the pack {}", kind.pack)));
        }
        let work = WorkProgress { input: new.input.clone(), share: origin.share, ..WorkProgress::default() };
        let snapshot = RunSnapshot { taint: origin.taint, work: Some(work), ..RunSnapshot::default() };
        let known = |tx: &mut Tx<'_>| match &new.cause_key {
            Some(key) => store::find_by_cause(tx, &new.kind, key),
            None => Ok(None),
        };
        if let Some(run) = known(tx)? {
            return Ok(BackgroundRunBegun { run, is_new: false });
        }
        let (principal, now) = (build_principal(kind, origin.delegator)?, self.clock.now());
        // What a run begins is a part of it, whether it waits for that or a tool of its began it.
        let counts = principal.delegator.as_ref().filter(|_| !origin.is_part);
        let reservation = counts.map(|by| billing::reserve(tx, &self.governor, by, now)).transpose()?;
        let row = NewBackgroundRow {
            kind: &new.kind,
            cause: new.cause,
            cause_key: new.cause_key.as_deref(),
            parent: origin.parent,
            principal: &principal,
            snapshot: &snapshot,
            reservation,
            now,
        };
        let id: RunId = self.ids.next();
        if !store::add(tx, id, &row)? {
            // Another was quicker.
            if let Some(reservation) = reservation {
                self.governor.release(tx, reservation)?;
            }
            let run = known(tx)?.ok_or(Error::NoRun)?;
            return Ok(BackgroundRunBegun { run, is_new: false });
        }
        enqueue_run(tx, &self.queue, id, "begin", None)?;
        Ok(BackgroundRunBegun { run: id, is_new: true })
    }
}

impl From<&NewPackRun> for NewBackgroundRun {
    fn from(new: &NewPackRun) -> Self {
        let cause = match new.cause {
            PackRunCause::Clock => RunCause::Clock,
            PackRunCause::Event => RunCause::Event,
            PackRunCause::Operation => RunCause::Operation,
        };
        Self { kind: new.kind.clone(), cause, cause_key: new.cause_key.clone(), input: new.input.clone() }
    }
}

impl RunStarter for RunQueue {
    fn begin(&self, tx: &mut Tx<'_>, new: &NewPackRun) -> munshi_store::Result<RunId> {
        Self::begin(self, tx, &new.into()).map(|begun| begun.run).map_err(Error::into_store)
    }

    fn begin_delegated(
        &self,
        tx: &mut Tx<'_>,
        new: &NewPackRun,
        by: &RunDelegator,
    ) -> munshi_store::Result<RunId> {
        self.delegate(tx, &new.into(), by).map(|begun| begun.run).map_err(Error::into_store)
    }

    fn begin_from_act(&self, tx: &mut Tx<'_>, new: &NewPackRun, act: ActId) -> munshi_store::Result<RunId> {
        Self::begin_from_act(self, tx, &new.into(), act).map(|begun| begun.run).map_err(Error::into_store)
    }
}

/// The same for the tools of packs, which live in the registry that the queue holds.
struct ToolRunQueue {
    packs: Weak<PackRegistry>,
    queue: JobQueue,
    governor: BudgetGovernor,
    ids: IdGenerator,
    clock: Arc<dyn Clock>,
}

impl ToolRunQueue {
    fn open(&self) -> munshi_store::Result<RunQueue> {
        let gone = || munshi_store::Error::Refused("no run can be begun any more".to_owned());
        Ok(RunQueue {
            packs: self.packs.upgrade().ok_or_else(gone)?,
            queue: self.queue.clone(),
            governor: self.governor.clone(),
            ids: self.ids.clone(),
            clock: self.clock.clone(),
        })
    }
}

impl RunStarter for ToolRunQueue {
    fn begin(&self, tx: &mut Tx<'_>, new: &NewPackRun) -> munshi_store::Result<RunId> {
        RunStarter::begin(&self.open()?, tx, new)
    }

    fn begin_delegated(
        &self,
        tx: &mut Tx<'_>,
        new: &NewPackRun,
        by: &RunDelegator,
    ) -> munshi_store::Result<RunId> {
        self.open()?.begin_delegated(tx, new, by)
    }

    fn begin_from_act(&self, tx: &mut Tx<'_>, new: &NewPackRun, act: ActId) -> munshi_store::Result<RunId> {
        RunStarter::begin_from_act(&self.open()?, tx, new, act)
    }
}

/// What it is begun with may be anything of the tenant's; what came from outside is nobody's own words.
fn build_taint(cause: RunCause) -> Taint {
    let is_foreign = matches!(cause, RunCause::Event | RunCause::Agent);
    let sources = is_foreign.then_some(TaintSource::Connector).into_iter().collect();
    Taint { sources, holds_private: true, ..Taint::default() }
}

/// As whom a kind of work acts: what its pack declares, as it is when the run begins.
fn build_principal(
    kind: &FromPack<dyn RunKind>,
    delegator: Option<RunDelegator>,
) -> Result<ServicePrincipal> {
    let scopes = kind.what.scopes().iter().map(|scope| scope.parse());
    let scopes = scopes.collect::<std::result::Result<Vec<_>, _>>();
    let scopes = scopes.map_err(|error| Error::Unfit(format!("{}: {error}", kind.what.name())))?;
    let (pack, autonomy) = (kind.pack.to_owned(), kind.what.autonomy());
    Ok(ServicePrincipal { pack, scopes, autonomy, delegator })
}

/// What a run may use of models: its share, where another began it.
pub(super) fn find_limit(snapshot: &RunSnapshot, governor: &BudgetGovernor) -> RunBudget {
    let share = snapshot.work.as_ref().and_then(|work| work.share);
    share.unwrap_or(governor.settings().background_run)
}
