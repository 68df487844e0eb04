//! Which target is tried when, after what went wrong before. Nothing is handed out until one has begun to answer.

use std::sync::Arc;
use std::time::Duration;

use munshi_types::{Random, Timestamp};

use super::GatewayState;
use super::attempt::CallAttempt;
use super::breaker::BreakerDecision;
use super::call::ModelCall;
use super::meter::AttemptContext;
use super::redaction::PendingModelCall;
use super::reply_stream::ModelReplyStream;
use super::reply_validation::ReplyValidator;
use crate::error::ModelError;
use crate::target::ModelTarget;

/// The first choice and at most two others.
const MOST_TARGETS: usize = 3;
/// The pause before the first target is tried once more, in milliseconds.
const PAUSE: std::ops::Range<u64> = 300..801;
/// A provider that wants a longer pause is passed over: the person is waiting.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// One call's way through its targets.
pub(crate) struct TargetSearch {
    shared: Arc<GatewayState>,
    call: Arc<PendingModelCall>,
    attempts: u32,
    /// How many targets were asked, this machine's own not counted.
    tried: usize,
    last_tried: Option<String>,
    /// The first target that is tried is tried twice; the others once.
    has_retried: bool,
    last: Option<ModelError>,
    /// The budget has refused: nobody who costs something is asked any more.
    is_spent: bool,
    /// The earliest moment at which a target that was passed over may be asked.
    soonest: Option<Timestamp>,
}

impl TargetSearch {
    pub(crate) fn new(shared: &Arc<GatewayState>, call: ModelCall) -> Self {
        let (shared, call) = (shared.clone(), Arc::new(PendingModelCall::new(call)));
        Self {
            shared,
            call,
            attempts: 0,
            tried: 0,
            last_tried: None,
            has_retried: false,
            last: None,
            is_spent: false,
            soonest: None,
        }
    }

    pub(crate) async fn run(mut self) -> Result<ModelReplyStream, ModelError> {
        ReplyValidator::for_request(&self.call.request)?;
        let targets = self.shared.candidates(&self.call)?;
        if let Some(live) = self.try_targets(&targets).await? {
            return Ok(live);
        }
        // All are resting. A short rest is waited for; a long one is not.
        if let (0, Some(soonest)) = (self.attempts, self.soonest) {
            let wait = soonest.since(self.shared.clock.now());
            if wait <= LONGEST_PAUSE {
                tokio::time::sleep(wait).await;
                if let Some(live) = self.try_targets(&targets).await? {
                    return Ok(live);
                }
            }
        }
        Err(self.last.unwrap_or_else(|| all_unavailable_error(self.soonest)))
    }

    async fn try_targets(
        &mut self,
        targets: &[Arc<ModelTarget>],
    ) -> Result<Option<ModelReplyStream>, ModelError> {
        for target in targets {
            // The model of this machine costs nothing and is always there, so it may come after any number of others, and
            // where the money is used up.
            if (self.tried >= MOST_TARGETS || self.is_spent) && !target.is_local() {
                continue;
            }
            if let Some(live) = self.try_target(target).await? {
                return Ok(Some(live));
            }
        }
        Ok(None)
    }

    /// None when it failed in a way that lets another be tried.
    async fn try_target(
        &mut self,
        target: &Arc<ModelTarget>,
    ) -> Result<Option<ModelReplyStream>, ModelError> {
        loop {
            let permission = self.shared.health.try_acquire(&target.name);
            if let BreakerDecision::Skip { until } = permission {
                self.soonest = Some(self.soonest.map_or(until, |soonest| soonest.min(until)));
                return Ok(None);
            }
            let fault = match self.start_attempt(target, permission).await {
                Ok(live) => return Ok(Some(live)),
                Err(fault) if ends_the_call(&fault) => return Err(fault),
                Err(fault @ ModelError::OverBudget(_)) => {
                    (self.is_spent, self.last) = (true, Some(fault));
                    return Ok(None);
                }
                Err(fault) => fault,
            };
            let pause = retry_delay(&fault, &*self.shared.random);
            // That the money is used up says more than why the model of this machine could not help.
            if !self.is_spent {
                self.last = Some(fault);
            }
            let is_first_time = !std::mem::replace(&mut self.has_retried, true);
            match pause {
                Some(pause) if is_first_time => tokio::time::sleep(pause).await,
                _ => return Ok(None),
            }
        }
    }

    async fn start_attempt(
        &mut self,
        target: &Arc<ModelTarget>,
        permission: BreakerDecision,
    ) -> Result<ModelReplyStream, ModelError> {
        self.attempts += 1;
        if self.last_tried.as_ref() != Some(&target.name) {
            self.last_tried = Some(target.name.clone());
            self.tried += usize::from(!target.is_local());
        }
        let form = ReplyValidator::for_request(&self.call.request)?;
        let purpose = AttemptContext::new(&self.call, self.attempts, permission);
        let attempt =
            CallAttempt::open(&self.shared, target, self.call.prepare_request(target), purpose).await?;
        let mut live = ModelReplyStream::new(&self.shared, &self.call, attempt, form, self.attempts);
        let primed = live.prime().await;
        self.attempts = live.attempt_count();
        primed.map(|()| live)
    }
}

/// How long to wait before the same target is tried again; none where that is of no use, or would be too late.
pub(crate) fn retry_delay(fault: &ModelError, random: &dyn Random) -> Option<Duration> {
    if !fault.is_transient() {
        return None;
    }
    let jitter = PAUSE.start + random.next_below(PAUSE.end - PAUSE.start);
    let pause = Duration::from_millis(jitter).max(fault.retry_after().unwrap_or_default());
    (pause <= LONGEST_PAUSE).then_some(pause)
}

/// No other target would change these.
const fn ends_the_call(fault: &ModelError) -> bool {
    matches!(
        fault,
        ModelError::Cancelled
            | ModelError::MalformedArguments { .. }
            | ModelError::UnknownCodes { .. }
            | ModelError::WrongForm(_)
    )
}

fn all_unavailable_error(until: Option<Timestamp>) -> ModelError {
    let when = until.map(|until| format!("; the first closes at {until}")).unwrap_or_default();
    ModelError::NoTarget(format!("the circuit breaker of every permitted model is open{when}"))
}
