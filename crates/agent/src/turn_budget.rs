//! What a turn's model calls may cost: out of what was set aside with the message, and more only where that ends.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use munshi_conversations::RunSnapshot;
use munshi_conversations::snapshot::{ReservationUse, sum};
use munshi_llm::ModelError;
use munshi_llm::gateway::{CallBudget, CallSpend};
use munshi_safety::budget::{
    DurableBudget, OpenReservation, PriceConversion, RunBudget, RunExhaustion, RunUse,
};
use munshi_types::{ReservationId, Timestamp};
use uuid::Uuid;

/// How often, and how long, a call that was broken off is waited for.
const QUIET: u32 = 50;
const MOMENT: Duration = Duration::from_millis(5);

/// Drawn on in memory, so that a plain turn's call needs no transaction of its own. What came out of the message's
/// reservation is settled with the reply, once; what had to be set aside beyond it is settled call by call.
pub(crate) struct TurnBudget {
    more: DurableBudget,
    limit: RunBudget,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// None where nothing was set aside: after a wait, everything is asked for anew.
    allowed: Option<OpenReservation>,
    /// For what has no price.
    rates: PriceConversion,
    drawn: ReservationUse,
    used: RunUse,
    /// What runs before this one had used of the same limit.
    before: RunUse,
    output: u64,
    is_unpriced: bool,
    reservations: HashMap<ReservationId, CallSpend>,
    next: u128,
    spent_out: Option<RunExhaustion>,
}

impl TurnBudget {
    /// `allowed` is what is set aside with the message; the snapshot has what a run taken up again has spent already.
    pub(crate) fn new(
        more: DurableBudget,
        limit: RunBudget,
        allowed: Option<OpenReservation>,
        spent: &RunSnapshot,
    ) -> Self {
        let (drawn, used, before) = (spent.drawn, spent.used, spent.before);
        let (output, is_unpriced, reservations) = (spent.output, spent.is_unpriced, HashMap::new());
        let rates = more.governor.settings().rates.clone();
        let state = State {
            allowed,
            rates,
            drawn,
            used,
            before,
            output,
            is_unpriced,
            reservations,
            next: 0,
            spent_out: None,
        };
        Self { more, limit, state: Mutex::new(state) }
    }

    pub(crate) fn drawn(&self) -> ReservationUse {
        self.lock().drawn
    }

    /// Tokens and money of all calls.
    pub(crate) fn used(&self) -> RunUse {
        self.lock().used
    }

    /// From now on the limit holds for this together with what the run uses itself.
    pub(crate) fn set_previous_use(&self, before: RunUse) {
        self.lock().before = before;
    }

    /// Of the tokens, those that a model wrote.
    pub(crate) fn output(&self) -> u64 {
        self.lock().output
    }

    pub(crate) fn is_priced(&self) -> bool {
        !self.lock().is_unpriced
    }

    /// Waits a moment for calls that were broken off to say what they cost.
    pub(crate) async fn wait_for_settlement(&self) {
        for _ in 0..QUIET {
            if self.lock().reservations.is_empty() {
                return;
            }
            tokio::time::sleep(MOMENT).await;
        }
        tracing::warn!("model call did not report its cost");
    }

    /// Why the last refusal was this run's own limit, where it was.
    pub(crate) fn exhaustion(&self) -> Option<RunExhaustion> {
        self.lock().spent_out
    }

    /// Whether the run's own limit lets one more call take so much. Nothing is set aside.
    pub(crate) fn allows(&self, most: CallSpend) -> bool {
        let so_far = self.lock().so_far();
        self.limit.check_next(&so_far, most.tokens, most.cost.unwrap_or_default()).is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Some where it is settled here: out of the reservation, or refused by the run's own limit.
    fn try_reserve(&self, most: CallSpend) -> Option<Result<ReservationId, ModelError>> {
        let mut state = self.lock();
        let so_far = state.so_far();
        if let Err(spent) = self.limit.check_next(&so_far, most.tokens, most.cost.unwrap_or_default()) {
            state.spent_out = Some(spent);
            return Some(Err(ModelError::OverBudget(spent.to_string())));
        }
        if most.tokens > 0 && !state.has_room(most, self.more.clock.now()) {
            return None;
        }
        state.next += 1;
        let id = ReservationId::from_uuid(Uuid::from_u128(state.next));
        state.reservations.insert(id, most);
        Some(Ok(id))
    }
}

impl State {
    /// What was used, and what calls under way may use. Steps and seconds are for the loop to count.
    fn so_far(&self) -> RunUse {
        let reserved = self.reservations.values().fold(sum(self.used, self.before), |used, call| {
            used.with_call(call.tokens, call.cost.unwrap_or_default())
        });
        RunUse { iterations: 0, seconds: 0, ..reserved }
    }

    /// Whether what is set aside is still ours and covers one more call. Calls without a price count at the worst one, all
    /// of them, as they will when they are booked.
    fn has_room(&self, most: CallSpend, now: Timestamp) -> bool {
        let Some(allowed) = self.allowed.filter(|allowed| allowed.expires_at > now) else { return false };
        let after = self.reservations.values().fold(self.drawn, |drawn, call| drawn.plus(*call)).plus(most);
        let money = if after.is_unpriced { self.rates.worst_case_cost(after.tokens) } else { after.money };
        after.tokens <= allowed.most.tokens && allowed.most.money.is_none_or(|limit| money <= limit)
    }
}

#[async_trait]
impl CallBudget for TurnBudget {
    async fn reserve(&self, most: CallSpend) -> Result<ReservationId, ModelError> {
        match self.try_reserve(most) {
            Some(drawn) => drawn,
            None => self.more.reserve(most).await,
        }
    }

    async fn settle(&self, reservation: ReservationId, spent: CallSpend) {
        let is_ours = {
            let mut state = self.lock();
            state.used = state.used.with_call(spent.tokens, spent.cost.unwrap_or_default());
            state.output = state.output.saturating_add(spent.output);
            state.is_unpriced |= spent.cost.is_none() && spent.tokens > 0;
            let is_ours = state.reservations.remove(&reservation).is_some();
            if is_ours {
                state.drawn = state.drawn.plus(spent);
            }
            is_ours
        };
        if !is_ours {
            self.more.settle(reservation, spent).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_llm::pricing::Cost;
    use munshi_safety::budget::BudgetAmount;

    fn spend(tokens: u64, micros: Option<i64>) -> CallSpend {
        CallSpend { tokens, output: tokens / 2, cost: micros.map(Cost::from_micros) }
    }

    const NOW: Timestamp = Timestamp::from_micros(1_000_000);
    const UNTIL: Timestamp = Timestamp::from_micros(2_000_000);

    fn state(tokens: u64, money: i64) -> State {
        let money = Some(Cost::from_micros(money));
        let most = BudgetAmount { tokens, money, ..BudgetAmount::interaction() };
        State {
            allowed: Some(OpenReservation { most, expires_at: UNTIL }),
            rates: PriceConversion {
                unknown_price: Cost::from_micros(1_000_000),
                ..PriceConversion::default()
            },
            drawn: ReservationUse::default(),
            used: RunUse::default(),
            before: RunUse::default(),
            output: 0,
            is_unpriced: false,
            reservations: HashMap::new(),
            next: 0,
            spent_out: None,
        }
    }

    #[test]
    fn there_is_room_for_what_was_set_aside_and_no_more() {
        let mut state = state(1_000, 500);
        let has = |state: &State, tokens, micros| state.has_room(spend(tokens, micros), NOW);
        assert!(has(&state, 1_000, Some(500)));
        assert!(!has(&state, 1_001, Some(1)) && !has(&state, 1, Some(501)));
        assert!(has(&state, 500, None) && !has(&state, 501, None), "what has no price costs the worst one");
        state.reservations.insert(ReservationId::from_uuid(Uuid::nil()), spend(600, Some(100)));
        assert!(!has(&state, 401, Some(1)), "what is held counts");
        state.reservations.clear();
        state.drawn = ReservationUse::default().plus(spend(900, Some(499)));
        assert!(has(&state, 100, Some(1)) && !has(&state, 100, Some(2)));
        assert!(!has(&state, 1, None), "and so does all that was drawn before it");
        state.allowed = None;
        assert!(!has(&state, 1, Some(0)));
    }

    #[test]
    fn what_has_expired_is_not_drawn_on() {
        let state = state(1_000, 500);
        assert!(state.has_room(spend(1, Some(1)), NOW) && !state.has_room(spend(1, Some(1)), UNTIL));
    }

    #[test]
    fn one_call_without_a_price_makes_the_sum_one_without() {
        let drawn = ReservationUse::default().plus(spend(10, Some(3))).plus(spend(4, None));
        let amount = drawn.amount();
        assert_eq!((amount.interactions, amount.tokens, amount.money), (1, 14, None));
        let nothing = ReservationUse::default().plus(CallSpend::default());
        assert_eq!(nothing.amount().money, Some(Cost::ZERO));
    }
}
