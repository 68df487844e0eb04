//! Which target is tried when, after what went wrong before. Nothing is handed out until one has begun to answer.

use std::sync::Arc;
use std::time::Duration;

use munshi_types::{Random, Timestamp};

use super::Shared;
use super::attempt::Attempt;
use super::breaker::Permission;
use super::call::Call;
use super::form::Form;
use super::live::Live;
use super::meter::Purpose;
use super::veil::Asked;
use crate::fault::Fault;
use crate::target::Target;

/// The first choice and at most two others.
const MOST_TARGETS: usize = 3;
/// The pause before the first target is tried once more, in milliseconds.
const PAUSE: std::ops::Range<u64> = 300..801;
/// A provider that wants a longer pause is passed over: the person is waiting.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// One call's way through its targets.
pub(crate) struct Search {
    shared: Arc<Shared>,
    call: Arc<Asked>,
    attempts: u32,
    /// How many targets were asked, this machine's own not counted.
    tried: usize,
    last_tried: Option<String>,
    /// The first target that is tried is tried twice; the others once.
    has_retried: bool,
    last: Option<Fault>,
    /// The budget has refused: nobody who costs something is asked any more.
    is_spent: bool,
    /// The earliest moment at which a target that was passed over may be asked.
    soonest: Option<Timestamp>,
}

impl Search {
    pub(crate) fn new(shared: &Arc<Shared>, call: Call) -> Self {
        let (shared, call) = (shared.clone(), Arc::new(Asked::new(call)));
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

    pub(crate) async fn run(mut self) -> Result<Live, Fault> {
        Form::of(&self.call.request)?;
        let targets = self.shared.candidates(&self.call)?;
        if let Some(live) = self.pass(&targets).await? {
            return Ok(live);
        }
        // All are resting. A short rest is waited for; a long one is not.
        if let (0, Some(soonest)) = (self.attempts, self.soonest) {
            let wait = soonest.since(self.shared.clock.now());
            if wait <= LONGEST_PAUSE {
                tokio::time::sleep(wait).await;
                if let Some(live) = self.pass(&targets).await? {
                    return Ok(live);
                }
            }
        }
        Err(self.last.unwrap_or_else(|| resting(self.soonest)))
    }

    async fn pass(&mut self, targets: &[Arc<Target>]) -> Result<Option<Live>, Fault> {
        for target in targets {
            // The model of this machine costs nothing and is always there, so it may come after any number of others, and
            // where the money is used up.
            if (self.tried >= MOST_TARGETS || self.is_spent) && !target.stays_here() {
                continue;
            }
            if let Some(live) = self.try_target(target).await? {
                return Ok(Some(live));
            }
        }
        Ok(None)
    }

    /// None when it failed in a way that lets another be tried.
    async fn try_target(&mut self, target: &Arc<Target>) -> Result<Option<Live>, Fault> {
        loop {
            let permission = self.shared.health.ask(&target.name);
            if let Permission::No { until } = permission {
                self.soonest = Some(self.soonest.map_or(until, |soonest| soonest.min(until)));
                return Ok(None);
            }
            let fault = match self.attempt(target, permission).await {
                Ok(live) => return Ok(Some(live)),
                Err(fault) if ends_the_call(&fault) => return Err(fault),
                Err(fault @ Fault::OverBudget(_)) => {
                    (self.is_spent, self.last) = (true, Some(fault));
                    return Ok(None);
                }
                Err(fault) => fault,
            };
            let pause = pause_after(&fault, &*self.shared.random);
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

    async fn attempt(&mut self, target: &Arc<Target>, permission: Permission) -> Result<Live, Fault> {
        self.attempts += 1;
        if self.last_tried.as_ref() != Some(&target.name) {
            self.last_tried = Some(target.name.clone());
            self.tried += usize::from(!target.stays_here());
        }
        let form = Form::of(&self.call.request)?;
        let purpose = Purpose::of(&self.call, self.attempts, permission);
        let attempt = Attempt::open(&self.shared, target, self.call.fit(target), purpose).await?;
        let mut live = Live::new(&self.shared, &self.call, attempt, form, self.attempts);
        let primed = live.prime().await;
        self.attempts = live.number();
        primed.map(|()| live)
    }
}

/// How long to wait before the same target is tried again; none where that is of no use, or would be too late.
pub(crate) fn pause_after(fault: &Fault, random: &dyn Random) -> Option<Duration> {
    if !fault.is_passing() {
        return None;
    }
    let jitter = PAUSE.start + random.below(PAUSE.end - PAUSE.start);
    let pause = Duration::from_millis(jitter).max(fault.retry_after().unwrap_or_default());
    (pause <= LONGEST_PAUSE).then_some(pause)
}

/// No other target would change these.
const fn ends_the_call(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Cancelled
            | Fault::MalformedArguments { .. }
            | Fault::UnknownCodes { .. }
            | Fault::WrongForm(_)
    )
}

fn resting(until: Option<Timestamp>) -> Fault {
    let when = until.map(|until| format!(", the first until {until}")).unwrap_or_default();
    Fault::NoTarget(format!("every model permitted here is resting after failures{when}"))
}
