//! What the steps of a run spend on models, within the run's own limit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use munshi_llm::ModelError;
use munshi_llm::gateway::{CallBudget, CallSpend};
use munshi_safety::budget::{DurableBudget, RunBudget, RunExhaustion, RunUse};
use munshi_types::{BindingId, PersonId, ReservationId, RunId};

/// For which run models are asked, and who pays.
#[derive(Clone)]
pub struct RunAccount {
    pub run: RunId,
    /// On whose behalf it acts.
    pub person: Option<PersonId>,
    pub binding: Option<BindingId>,
    pub meter: Arc<RunMeter>,
}

/// Counts what a run uses, and refuses what would go beyond its limit.
#[derive(Debug)]
pub struct RunMeter {
    limit: RunBudget,
    state: Mutex<MeterState>,
}

#[derive(Debug)]
struct MeterState {
    used: RunUse,
    /// Calls under way, by what was set aside for them; those that wait for that have no id yet.
    open: HashMap<ReservationId, CallSpend>,
    asked: Vec<CallSpend>,
    exhaustion: Option<RunExhaustion>,
}

impl RunMeter {
    /// With what was used before.
    pub fn new(limit: RunBudget, used: RunUse) -> Self {
        let state = MeterState { used, open: HashMap::new(), asked: Vec::new(), exhaustion: None };
        Self { limit, state: Mutex::new(state) }
    }

    /// What all calls have used that are over; one that was broken off counts with the most it could use.
    pub fn used(&self) -> RunUse {
        let state = self.lock();
        state.open.values().fold(state.used, |used, call| add(used, *call))
    }

    /// Why a call was refused, where the run's own limit was the reason.
    pub fn exhaustion(&self) -> Option<RunExhaustion> {
        self.lock().exhaustion
    }

    fn lock(&self) -> MutexGuard<'_, MeterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self, most: CallSpend) -> Result<(), ModelError> {
        let mut state = self.lock();
        let so_far = state.open.values().chain(&state.asked).fold(state.used, |used, call| add(used, *call));
        if let Err(spent) = self.limit.check_next(&so_far, most.tokens, most.cost.unwrap_or_default()) {
            state.exhaustion = Some(spent);
            return Err(ModelError::OverBudget(spent.to_string()));
        }
        state.asked.push(most);
        Ok(())
    }

    fn open(&self, most: CallSpend, reserved: Option<ReservationId>) {
        let mut state = self.lock();
        if let Some(at) = state.asked.iter().position(|asked| *asked == most) {
            state.asked.swap_remove(at);
        }
        if let Some(id) = reserved {
            state.open.insert(id, most);
        }
    }

    fn close(&self, reservation: ReservationId, spent: CallSpend) {
        let mut state = self.lock();
        state.open.remove(&reservation);
        state.used = add(state.used, spent);
    }
}

fn add(used: RunUse, call: CallSpend) -> RunUse {
    used.with_call(call.tokens, call.cost.unwrap_or_default())
}

/// The tenant's budget, behind the run's own limit.
pub(crate) struct MeteredBudget {
    pub(crate) budget: DurableBudget,
    pub(crate) meter: Arc<RunMeter>,
}

#[async_trait]
impl CallBudget for MeteredBudget {
    async fn reserve(&self, most: CallSpend) -> Result<ReservationId, ModelError> {
        self.meter.request(most)?;
        let reserved = self.budget.reserve(most).await;
        self.meter.open(most, reserved.as_ref().ok().copied());
        reserved
    }

    async fn settle(&self, reservation: ReservationId, spent: CallSpend) {
        self.meter.close(reservation, spent);
        self.budget.settle(reservation, spent).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_llm::pricing::Cost;
    use munshi_types::IdGenerator;

    #[test]
    fn a_run_goes_to_its_limit_and_no_further() {
        let spend = |tokens| CallSpend { tokens, output: 0, cost: Some(Cost::ZERO) };
        let meter = RunMeter::new(RunBudget { tokens: 100, ..RunBudget::BACKGROUND }, RunUse::default());
        let id = IdGenerator::system().next();
        meter.request(spend(60)).unwrap();
        assert!(meter.request(spend(60)).is_err(), "what is asked for counts");
        meter.open(spend(60), Some(id));
        assert!(meter.request(spend(60)).is_err(), "what is set aside counts");
        meter.close(id, spend(20));
        assert_eq!(meter.used().tokens, 20);
        meter.request(spend(80)).unwrap();
        meter.open(spend(80), None);
        assert_eq!(meter.used().tokens, 20, "what the tenant's budget refuses is not used");
        assert_eq!(meter.exhaustion(), Some(RunExhaustion::Tokens { used: 60, of: 100 }));
    }
}
