//! Taking up what dead processes left, and what people have answered meanwhile.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use munshi_conversations::background::store::{enqueue_run, list_stranded};
use munshi_conversations::chat_places::ChatPlace;
use munshi_conversations::runs::{self, LEASE, Run, RunLane, RunLease};
use munshi_conversations::sessions;
use munshi_conversations::snapshot::ExchangeCallOutcome;
use munshi_conversations::{Error, RUNS, Result, RunRecoveryScope, RunState};
use munshi_safety::acts;
use munshi_safety::approvals::{self, ApprovalStatus};
use munshi_store::{PlatformTx, Tx};
use munshi_types::{ActId, RunId, SessionId, TenantId, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::engine::{RecoveryCursor, TurnEngine, TurnEngineInner};
use crate::expired_approvals::ConversationJournal;

/// So many are taken up in one go.
pub(crate) const MOST: usize = 64;
/// How often it is asked whether the processes that hold runs live.
const HOLDER_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How often a process says again that it is there: one that said so a week ago and holds nothing is forgotten.
const REGISTER: Duration = Duration::from_secs(3600);
/// So many that wait for a person are looked at in one reading, and so many readings are made in one go. Where more
/// wait, the next go begins where this one ended.
const PAGE: u32 = 500;
const PAGES: usize = 4;

/// What came of going on with a run that waited for a person.
enum Resumption {
    Nothing,
    /// No place is free.
    NoPlace,
    /// A job goes on with it.
    Queued,
    Claimed(Box<Run>),
}

impl TurnEngine {
    /// Takes up what a dead process left and sweeps until `stop` is cancelled; then [finishes](Self::finish).
    pub async fn serve(&self, stop: CancellationToken) {
        // On SQLite there is one process: whatever was held, nobody holds any more.
        let first = match self.inner.db.engine() {
            "sqlite" => RunRecoveryScope::All { since: self.inner.holding_since },
            _ => RunRecoveryScope::Lapsed,
        };
        let mut registers = tokio::time::interval(REGISTER);
        registers.tick().await;
        self.report(self.register().await.map(|()| 0));
        let mut scope = self.sweep_within(first).await;
        if first != RunRecoveryScope::Lapsed {
            self.spawn_act_recovery();
        }
        let mut ticks = tokio::time::interval(self.inner.settings.sweep);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut looks = tokio::time::interval(HOLDER_CHECK_INTERVAL);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                _ = ticks.tick() => scope = self.sweep_within(scope).await,
                _ = looks.tick() => {
                    self.report(self.sweep_dead_holders().await);
                    self.report(self.sweep_waiting().await);
                    self.report(self.measure_load().await.map(|()| 0));
                }
                () = self.inner.places.wait_for_free() => scope = self.fill_places(scope).await,
                _ = registers.tick() => self.report(self.register().await.map(|()| 0)),
            }
        }
        self.finish().await;
    }

    /// Lets turns under way come to their end, within the grace. What does not is left to another: its lease passes.
    pub async fn finish(&self) {
        self.inner.tasks.close();
        if tokio::time::timeout(self.inner.settings.grace, self.inner.tasks.wait()).await.is_err() {
            tracing::warn!(
                turns = self.inner.run_channels.count_live(),
                "turns in progress left for another process to resume"
            );
        }
        self.abandon();
    }

    /// Takes up what nobody works on in one conversation, and nothing else: for a process that answers one question and is
    /// no node for others.
    pub async fn sweep_session(&self, tenant: TenantId, session: SessionId) -> Result<usize> {
        let (now, born) = (self.inner.clock.now(), self.inner.holding_since);
        let (is_alone, terms) = (self.inner.db.engine() == "sqlite", self.inner.ingest_services.terms(now));
        let places = self.inner.places.take_free(MOST);
        let most = places.len();
        let unit = move |tx: &mut Tx<'_>| -> Result<Vec<Run>> {
            let open = runs::list_open(tx, session)?;
            // What this process holds it has held since it was born.
            let latest =
                if is_alone { now.max(born.plus(LEASE).minus(Duration::from_micros(1))) } else { now };
            let mut taken = Vec::new();
            let lapsed = open.iter().filter(|run| run.lease_until.is_some_and(|until| until <= latest));
            for run in lapsed.take(most) {
                taken.extend(runs::claim_from_dead(tx, run.lease(tenant), terms)?);
            }
            let is_forgotten = open.iter().all(|run| run.lease_until.is_none());
            let first = open.iter().find(|run| run.state == RunState::Created);
            let first = first.filter(|_| is_forgotten && most > 0);
            if let Some(first) = first {
                taken.extend(runs::claim(tx, first.id, terms)?);
            }
            Ok(taken)
        };
        let taken = self.inner.db.write(tenant, unit).await?;
        let count = taken.len();
        // What found no place comes with the next that is free.
        if most == 0 {
            self.inner.places.request_for_left();
        }
        self.start_all(taken.iter().map(|run| run.lease(tenant)).collect(), places);
        Ok(count)
    }

    /// Takes up at once what nobody has begun on in a conversation; where that fails, the next sweep does.
    pub(crate) async fn try_sweep_session(&self, tenant: TenantId, session: SessionId) {
        if let Err(error) = self.sweep_session(tenant, session).await {
            tracing::warn!(%error, "deferred result not delivered; the next sweep retries");
        }
    }

    /// Acts that a dead process left, also those that no run asks for. What takes long is in nobody's way.
    fn spawn_act_recovery(&self) {
        let dispatcher = self.inner.dispatcher.clone();
        let abandon = self.inner.abandon.clone();
        let journal = Arc::new(ConversationJournal(self.inner.clone()));
        self.inner.tasks.spawn(async move {
            let swept = tokio::select! {
                biased;
                () = abandon.cancelled() => return,
                swept = dispatcher.sweep_orphaned(journal) => swept,
            };
            match swept {
                Ok(0) => {}
                Ok(acts) => tracing::info!(acts, "orphaned acts recovered"),
                Err(error) => {
                    tracing::warn!(%error, "orphaned act recovery failed; the sweep retries");
                }
            }
        });
    }

    /// Goes on with a run that waited for a person, after somebody answered elsewhere. One that somebody works on, that has
    /// ended, or of which nothing was answered is left alone: it would only ask again.
    pub async fn resume(&self, tenant: TenantId, run: RunId) -> Result<()> {
        let engine = self.clone();
        self.run_detached(async move { engine.resume_if_answered(tenant, run).await }).await.map(drop)
    }

    /// Goes on with every run that somebody's login at a connector's service lets go on.
    pub async fn resume_after_login(&self) -> Result<()> {
        let engine = self.clone();
        self.run_detached(async move { engine.sweep_answered().await.map(drop) }).await
    }

    /// Whether it was taken up, or put into the queue.
    async fn resume_if_answered(&self, tenant: TenantId, run: RunId) -> Result<bool> {
        let (now, inner) = (self.inner.clock.now(), self.inner.clone());
        // Without a place no turn is taken up: the sweep comes back to it.
        let place = self.inner.places.try_take();
        let has_place = place.is_some();
        let unit = move |tx: &mut Tx<'_>| -> Result<_> {
            let known = runs::find(tx, run)?.ok_or(Error::NoRun)?;
            if known.state != RunState::WaitingApproval || !can_resume(tx, &inner, &known, now)? {
                return Ok(Resumption::Nothing);
            }
            if known.lane == RunLane::Background {
                let queue = &inner.ingest_services.queue;
                enqueue_run(tx, queue, run, &format!("answer/{}", known.epoch), None)?;
                return Ok(Resumption::Queued);
            }
            if !has_place {
                return Ok(Resumption::NoPlace);
            }
            // It is under way again, which nobody would hear of before its reply.
            if let Some(session) = known.session() {
                sessions::touch(tx, session, now)?;
            }
            let claimed = runs::claim(tx, run, inner.ingest_services.terms(now))?;
            Ok(claimed.map_or(Resumption::Nothing, |run| Resumption::Claimed(Box::new(run))))
        };
        match (self.inner.db.write(tenant, unit).await?, place) {
            (Resumption::Claimed(run), Some(place)) => {
                self.start(run.lease(tenant), None, place);
                Ok(true)
            }
            (Resumption::NoPlace, _) => {
                self.inner.places.request_for_left();
                Ok(false)
            }
            (resumed, _) => Ok(matches!(resumed, Resumption::Queued)),
        }
    }

    /// Stops every turn of this process where it is, as a crash would. Another takes them up.
    pub fn abandon(&self) {
        self.inner.abandon.cancel();
    }

    /// Gives out places that are free: first to what was left or answered and found none, then to those who wait.
    async fn fill_places(&self, mut scope: RunRecoveryScope) -> RunRecoveryScope {
        if self.inner.places.take_left() {
            self.report(self.sweep_dead_holders().await);
            scope = self.sweep_within(scope).await;
        }
        self.report(self.sweep_waiting().await);
        scope
    }

    /// Sweeps, and says what is to be swept next: what a dead process left is looked for until there was a place for all.
    async fn sweep_within(&self, scope: RunRecoveryScope) -> RunRecoveryScope {
        match self.sweep_left(scope).await {
            Ok((taken, is_all)) => {
                self.report(self.sweep_rest().await.map(|more| taken + more));
                if is_all { RunRecoveryScope::Lapsed } else { scope }
            }
            Err(error) => {
                self.report(Err(error));
                scope
            }
        }
    }

    fn report(&self, swept: Result<usize>) {
        match swept {
            Ok(0) => {}
            Ok(runs) => tracing::info!(runs, "orphaned runs resumed"),
            Err(error) => tracing::warn!(%error, "orphaned run scan failed; retrying"),
        }
    }

    /// Takes up every run that nobody works on and somebody should. Safe on every node at once: each goes to one.
    pub async fn sweep(&self, due: RunRecoveryScope) -> Result<usize> {
        let (taken, _) = self.sweep_left(due).await?;
        Ok(taken + self.sweep_rest().await?)
    }

    async fn sweep_rest(&self) -> Result<usize> {
        let now = self.inner.clock.now();
        let begun = self.sweep_waiting().await?;
        Ok(begun + self.requeue_stranded(now).await? + self.sweep_answered().await?)
    }

    /// Takes up what was left, as far as there are places, and says whether that was all.
    async fn sweep_left(&self, due: RunRecoveryScope) -> Result<(usize, bool)> {
        let (terms, mut taken) = (self.inner.ingest_services.terms(self.inner.clock.now()), 0);
        loop {
            let places = self.inner.places.take_free(MOST);
            let limit = places.len();
            if limit == 0 {
                let now = self.inner.clock.now();
                let is_left = move |tx: &mut PlatformTx<'_>| runs::is_any_due(tx, due, now);
                if self.inner.db.platform(RUNS).read(is_left).await? {
                    self.inner.places.request_for_left();
                }
                return Ok((taken, false));
            }
            let unit = move |tx: &mut PlatformTx<'_>| runs::claim_due(tx, due, terms, limit);
            let leases = self.inner.db.platform(RUNS).write(unit).await?;
            let count = leases.len();
            self.start_all(leases, places);
            taken += count;
            if count < limit {
                return Ok((taken, true));
            }
        }
    }

    pub(crate) fn start_all(&self, leases: Vec<RunLease>, places: Vec<ChatPlace>) {
        let mut places = places.into_iter();
        for lease in leases {
            let place = places.next().unwrap_or_else(|| self.inner.places.take_beyond());
            self.start(lease, None, place);
        }
    }

    /// Runs of the background that nobody goes on with any more go back into the queue.
    async fn requeue_stranded(&self, now: Timestamp) -> Result<usize> {
        let read = move |tx: &mut PlatformTx<'_>| list_stranded(tx, now, MOST);
        let stranded = self.inner.db.platform(RUNS).read(read).await?;
        let count = stranded.len();
        for run in stranded {
            if let Err(error) = self.wake(run.tenant, run.run, run.reason).await {
                tracing::warn!(run = %run.run, %error, "requeueing a background run failed; the next sweep retries");
            }
        }
        Ok(count)
    }

    /// Runs whose question was answered, or ran out of time, while nobody was there to go on. However many wait unanswered,
    /// everyone's turn comes.
    pub(crate) async fn sweep_answered(&self) -> Result<usize> {
        let mut taken = 0;
        for _ in 0..PAGES {
            let from = *self.lock_cursor();
            let page = self
                .inner
                .db
                .platform(RUNS)
                .read(move |tx| runs::list_waiting_for_person(tx, from, PAGE))
                .await?;
            let last = page.last().map(|(_, run, began_at)| (*began_at, *run));
            let is_whole = page.len() < PAGE as usize;
            taken += self.resume_answered(page).await?;
            *self.lock_cursor() = last.filter(|_| !is_whole);
            if is_whole {
                break;
            }
        }
        Ok(taken)
    }

    fn lock_cursor(&self) -> MutexGuard<'_, RecoveryCursor> {
        self.inner.waiting_cursor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn resume_answered(&self, waiting: Vec<(TenantId, RunId, Timestamp)>) -> Result<usize> {
        let mut by_tenant: BTreeMap<TenantId, Vec<RunId>> = BTreeMap::new();
        for (tenant, run, _) in waiting {
            by_tenant.entry(tenant).or_default().push(run);
        }
        let mut taken = 0;
        for (tenant, ids) in by_tenant {
            let now = self.inner.clock.now();
            let inner = self.inner.clone();
            let answered =
                self.inner.db.read(tenant, move |tx| filter_resumable(tx, &inner, ids, now)).await?;
            for run in answered {
                let engine = self.clone();
                let resumed = self.run_detached(async move { engine.resume_if_answered(tenant, run).await });
                taken += usize::from(resumed.await?);
            }
        }
        Ok(taken)
    }
}

/// Those that can go on.
fn filter_resumable(
    tx: &mut Tx<'_>,
    inner: &TurnEngineInner,
    runs: Vec<RunId>,
    now: Timestamp,
) -> Result<Vec<RunId>> {
    let mut answered = Vec::new();
    for id in runs {
        let run = match runs::find(tx, id) {
            // One that can't be read stands in nobody else's way.
            Err(error) if error.is_unreadable() => continue,
            found => found?,
        };
        let Some(run) = run else { continue };
        if can_resume(tx, inner, &run, now)? {
            answered.push(id);
        }
    }
    Ok(answered)
}

/// Whether there is anything to go on with: a question that is no longer open, a limit that may have freed, a tool that is
/// back, or a service that somebody has logged in at.
pub(crate) fn can_resume(
    tx: &mut Tx<'_>,
    inner: &TurnEngineInner,
    run: &Run,
    now: Timestamp,
) -> Result<bool> {
    for called in run.snapshot.iter_calls() {
        if let ExchangeCallOutcome::Login { connector, since, until } = &called.outcome {
            let last = inner.dispatcher.find_login_time(tx, connector)?;
            if *until <= now || last.is_some_and(|last| last >= *since) {
                return Ok(true);
            }
        }
        if let ExchangeCallOutcome::Waiting { approval, again_at, is_away } = called.outcome {
            let due = match approvals::find(tx, approval)? {
                Some(known) => match known.state {
                    ApprovalStatus::Pending => false,
                    // One that has run out of time is ended by the sweep of questions.
                    ApprovalStatus::Granted => {
                        let is_due = again_at.is_none_or(|at| at <= now);
                        known.expires_at > now
                            && (is_due || (is_away && is_tool_back(tx, inner, called.act)?))
                    }
                    ApprovalStatus::Refused | ApprovalStatus::Expired => true,
                },
                None => true,
            };
            if due {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn is_tool_back(tx: &mut Tx<'_>, inner: &TurnEngineInner, act: ActId) -> Result<bool> {
    let act = acts::find(tx, act)?;
    Ok(act.is_some_and(|act| inner.dispatcher.find_tool_of_act(tx.tenant(), &act).is_some()))
}
