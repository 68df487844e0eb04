//! Carrying runs to their end: one after another in a session, each held by this process while it lasts.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use munshi_conversations::chat_places::ChatPlace;
use munshi_conversations::runs::{self, LEASE, RunLease, RunLeaseRenewal};
use munshi_conversations::{Error, HaltReason, Result};
use munshi_tiers::BindingResolution;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::engine::{TurnEngine, TurnEngineInner};
use crate::isolation::TurnPass;
use crate::pending_turns::PendingTurn;
use crate::run_channels::RunChannel;
use crate::turn::{RespondOutcome, StagesOutcome, Turn, TurnOutcome, TurnPreparation};

/// How often a turn goes on after the database could not be reached, and the pause that doubles between.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(100);
/// A holder that could not renew for so long stops: before the lease passes, by its own clock.
const STOP: Duration = LEASE.saturating_sub(Duration::from_secs(5));

/// What a turn begins with.
struct TurnBeginning {
    lease: RunLease,
    /// None where it is looked up.
    waiting: Option<PendingTurn>,
    /// Why it can't be done, where all that is left is to say so.
    broken: Option<HaltReason>,
}

impl TurnEngine {
    pub(crate) async fn run_queue(
        &self,
        mut lease: RunLease,
        mut waiting: Option<PendingTurn>,
        place: ChatPlace,
    ) {
        loop {
            let next = self.inner.clone().run_one(lease, waiting.take(), &place).await;
            let Some(next) = next else { return };
            lease = next;
            waiting = self.inner.take_pending_turn(lease).await;
            self.inner.run_channels.open(lease, self.inner.clock.now());
        }
    }
}

impl TurnEngineInner {
    /// One run to its end. What breaks ends it with an excuse; what can't even be said is left for another to take up.
    async fn run_one(
        self: Arc<Self>,
        lease: RunLease,
        waiting: Option<PendingTurn>,
        place: &ChatPlace,
    ) -> Option<RunLease> {
        let run_channel = self.run_channels.open(lease, self.clock.now());
        let stop = run_channel.stop_token();
        let (mut tries, mut waiting) = (1, waiting);
        let failed = loop {
            let begin = TurnBeginning { lease, waiting: waiting.take(), broken: None };
            let work = self.clone().run_turn(begin, run_channel.clone(), stop.clone(), place);
            match self.run_under_lease(lease, &stop, AssertUnwindSafe(work).catch_unwind()).await {
                Some(Ok(Ok(next))) => return next,
                None | Some(Ok(Err(Error::LostRun(_)))) => {
                    self.run_channels.forget(lease);
                    return None;
                }
                Some(Ok(Err(error))) if error.is_transient() && tries < TRIES => {
                    tracing::warn!(run = %lease.run, %error, "turn interrupted; resuming from stored state");
                    tokio::time::sleep(PAUSE * 2_u32.pow(tries)).await;
                    tries += 1;
                }
                Some(Ok(Err(error))) => break error.to_string(),
                Some(Err(_)) => break "the turn panicked".to_owned(),
            }
        };
        tracing::error!(run = %lease.run, error = %failed, "turn failed");
        let halt = HaltReason::Broken(failed);
        let begin = TurnBeginning { lease, waiting: None, broken: Some(halt.clone()) };
        let excuse = self.clone().run_turn(begin, run_channel, stop.clone(), place);
        match self.run_under_lease(lease, &stop, AssertUnwindSafe(excuse).catch_unwind()).await {
            Some(Ok(Ok(next))) => return next,
            Some(Ok(Err(Error::LostRun(_)))) | None => {}
            // Not even that could be prepared: the bare row is ended, or another tries again when the lease passes.
            Some(_) => match self.close_run(lease, halt).await {
                Ok(next) => {
                    self.run_channels.forget(lease);
                    return next;
                }
                Err(error) => tracing::error!(run = %lease.run, %error, "failed to end run"),
            },
        }
        self.run_channels.forget(lease);
        None
    }

    /// Since when the lease is known to hold. One that is old when work begins, since its claim waited for the database or
    /// the turn is tried again, is renewed first: whoever counted from here would believe it longer than it lasts. None
    /// where the run was lost.
    async fn confirm_lease(&self, lease: RunLease, stop: &CancellationToken) -> Option<Instant> {
        let (asked, now) = (Instant::now(), self.clock.now());
        let age = now.since(lease.until.minus(LEASE));
        if age < self.settings.renew {
            return Some(asked.checked_sub(age).unwrap_or(asked));
        }
        let renewing = self.db.write(lease.tenant, move |tx| runs::renew(tx, lease, now));
        match tokio::time::timeout_at(asked + STOP, renewing).await {
            Ok(Ok(renewed)) if asked.elapsed() < STOP => {
                if renewed.cancel_asked {
                    stop.cancel();
                }
                Some(asked)
            }
            Ok(Err(Error::LostRun(_))) => None,
            Ok(Err(error)) => {
                tracing::warn!(run = %lease.run, %error, "lease renewal failed before the run resumed");
                None
            }
            Ok(Ok(_)) | Err(_) => {
                tracing::warn!(run = %lease.run, "lease renewal timed out before the run resumed");
                None
            }
        }
    }

    /// Does the work and keeps the run meanwhile. None where it was lost.
    pub(crate) async fn run_under_lease<T>(
        &self,
        lease: RunLease,
        stop: &CancellationToken,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let held_since = self.confirm_lease(lease, stop).await?;
        let renew = || {
            let now = self.clock.now();
            self.db.write(lease.tenant, move |tx| runs::renew(tx, lease, now))
        };
        let keep = keep_lease(lease, held_since, self.settings.renew, renew, stop);
        tokio::select! {
            done = work => Some(done),
            () = keep => None,
        }
    }

    /// A run that was left, or that waited, may be in the middle of a connector's act. A process that has just started
    /// waits for the connector first: without its tools the act could be neither recognised nor offered.
    async fn wait_for_connectors(
        &self,
        lease: RunLease,
        binding: &BindingResolution,
        stop: &CancellationToken,
    ) {
        if binding.agent.body.connectors.is_empty() {
            return;
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.dispatcher.wait_for_connectors(lease.tenant) => {}
        }
    }

    async fn run_turn(
        self: Arc<Self>,
        TurnBeginning { lease, waiting, broken }: TurnBeginning,
        run_channel: Arc<RunChannel>,
        stop: CancellationToken,
        place: &ChatPlace,
    ) -> Result<Option<RunLease>> {
        let (binding, ingest) = match waiting {
            Some(waiting) => (waiting.binding, waiting.ingest),
            None => match self.resolve_when_active(lease, &stop, place).await? {
                Some(binding) => {
                    self.wait_for_connectors(lease, &binding, &stop).await;
                    (binding, Duration::ZERO)
                }
                None => {
                    let next = self.close_run(lease, HaltReason::Cancelled).await;
                    self.run_channels.forget(lease);
                    return next;
                }
            },
        };
        let pass = self.admit(lease).await?;
        if matches!(pass, TurnPass::SetAside) {
            // Its bare row is ended: what broke the others may stand in anything that is read of it.
            let next = self.close_run(lease, crash_loop_halt()).await;
            self.run_channels.forget(lease);
            return next;
        }
        let inner = self.clone();
        let work = async {
            let front = binding;
            // Once, however often the turn is prepared; what broke needs none.
            let mut ahead = match broken {
                Some(_) => Arc::default(),
                None => Arc::new(self.embed_message(lease, &front).await?),
            };
            let (mut binding, mut is_looked_up, mut before) = (front.clone(), false, None);
            loop {
                let follows = (run_channel.clone(), stop.clone());
                let begun = Turn::prepare(
                    self.clone(),
                    lease,
                    binding.clone(),
                    follows,
                    (is_looked_up, ahead.clone()),
                )
                .await?;
                let mut turn = match begun {
                    TurnPreparation::Ready(turn) => *turn,
                    TurnPreparation::Elsewhere(place) => {
                        (binding, is_looked_up) =
                            (self.resolve_place(lease, place, front.clone()).await?, true);
                        continue;
                    }
                };
                turn.set_ingest_time(ingest);
                if let Some(before) = before.take() {
                    turn.continue_from(before);
                }
                let mut notes = turn.begin_notes();
                let end = match broken.clone() {
                    Some(halt) => TurnOutcome::Halted(halt).into(),
                    None => turn.run_stages(&mut notes).await?,
                };
                let (turn, has_joined) = match end {
                    StagesOutcome::Ended(end) => match turn.respond(end, notes).await? {
                        RespondOutcome::Stored(next) => return Ok(next),
                        RespondOutcome::Joined(turn) => (*turn, true),
                    },
                    StagesOutcome::Joined => (turn, true),
                    StagesOutcome::Moved => (turn, false),
                };
                if has_joined {
                    ahead = Arc::new(self.embed_message(lease, &front).await?);
                }
                (binding, is_looked_up, before) = (front.clone(), false, Some(turn));
            }
        };
        pass.run_guarded(&inner, Box::pin(work)).await
    }
}

/// Renews again and again. Returns when the run was lost, or could not be renewed for so long that it may be: whoever takes
/// it up may rely on it that nobody is at its acts any more.
async fn keep_lease<F>(
    lease: RunLease,
    mut held_since: Instant,
    every: Duration,
    mut renew: impl FnMut() -> F,
    stop: &CancellationToken,
) where
    F: Future<Output = Result<RunLeaseRenewal>>,
{
    loop {
        let asked = (Instant::now() + every).min(held_since + STOP);
        tokio::time::sleep_until(asked).await;
        if held_since.elapsed() >= STOP {
            return;
        }
        match tokio::time::timeout_at(held_since + STOP, renew()).await {
            Ok(Ok(renewed)) => {
                // From when it was asked for: the answer may have been long on its way.
                held_since = asked;
                if renewed.cancel_asked {
                    stop.cancel();
                }
            }
            Ok(Err(Error::LostRun(_))) => return,
            Ok(Err(error)) => tracing::warn!(run = %lease.run, %error, "lease renewal failed"),
            Err(_) => tracing::warn!(run = %lease.run, "lease renewal timed out"),
        }
    }
}

pub(crate) fn crash_loop_halt() -> HaltReason {
    HaltReason::Broken("aborted after repeated crashes".to_owned())
}

#[cfg(test)]
mod tests {
    use munshi_types::{RunId, TenantId, Timestamp};
    use uuid::Uuid;

    use super::*;

    const EVERY: Duration = Duration::from_secs(10);

    fn lease() -> RunLease {
        RunLease {
            tenant: TenantId::from_uuid(Uuid::from_u128(1)),
            run: RunId::from_uuid(Uuid::from_u128(2)),
            epoch: 1,
            until: Timestamp::MAX,
        }
    }

    /// How long a lease is kept by somebody whose renewals take so long and end so.
    async fn kept(takes: Duration, answer: impl Fn(u32) -> Result<RunLeaseRenewal>) -> Duration {
        let (begun, stop, mut asked) = (Instant::now(), CancellationToken::new(), 0);
        let renew = || {
            asked += 1;
            let answer = answer(asked);
            async move {
                tokio::time::sleep(takes).await;
                answer
            }
        };
        let keep = keep_lease(lease(), begun, EVERY, renew, &stop);
        let _ = tokio::time::timeout(Duration::from_secs(3_600), keep).await;
        begun.elapsed()
    }

    fn renewed() -> Result<RunLeaseRenewal> {
        Ok(RunLeaseRenewal { cancel_asked: false, lease_until: Timestamp::MAX })
    }

    fn failed() -> Result<RunLeaseRenewal> {
        Err(Error::Store(munshi_store::Error::Busy("nobody answers".to_owned())))
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_can_not_be_renewed_is_given_up_before_it_passes() {
        let second = Duration::from_secs(1);
        assert_eq!(kept(second * 600, |_| renewed()).await, STOP, "an answer that never comes");
        assert_eq!(kept(second, |_| failed()).await, STOP, "refusals between which it waits");
        // The last that succeeded was asked for ten seconds in.
        assert_eq!(kept(second, |asked| if asked == 1 { renewed() } else { failed() }).await, EVERY + STOP);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_renewal_counts_from_when_it_was_asked_for() {
        // Asked for at 10 s, answered at 24 s; asked for again at 34 s, which no longer comes in time.
        assert_eq!(kept(Duration::from_secs(14), |_| renewed()).await, EVERY + STOP);
        assert_eq!(kept(Duration::from_secs(1), |_| renewed()).await, Duration::from_secs(3_600), "kept on");
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_run_is_left_at_once() {
        let lost = |_| Err(Error::LostRun(lease().run));
        assert_eq!(kept(Duration::ZERO, lost).await, EVERY);
    }
}
