//! The gateway's budget, in the database.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_llm::ModelError;
use munshi_llm::gateway::{CallBudget, CallSpend};
use munshi_store::Db;
use munshi_types::{Clock, ReservationId, RunId, TenantId};

use super::account::BudgetAccount;
use super::amount::BudgetAmount;
use super::reserve::BudgetGovernor;
use super::settle::SettleOutcome;
use crate::error::Error;

/// For the calls of one account. Every attempt at a model reserves its tokens and money here and settles them after; the
/// interaction itself is reserved with the message, by whoever stores it.
#[derive(Clone)]
pub struct DurableBudget {
    pub db: Db,
    pub governor: Arc<BudgetGovernor>,
    pub tenant: TenantId,
    pub account: BudgetAccount,
    /// Whose calls these are, where whoever takes that up is to let go of what a dead process held.
    pub run: Option<RunId>,
    pub clock: Arc<dyn Clock>,
}

/// How often settling is tried while the database can't be reached, and the first pause between; it doubles.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(200);

#[async_trait]
impl CallBudget for DurableBudget {
    async fn reserve(&self, most: CallSpend) -> Result<ReservationId, ModelError> {
        let (governor, account, now) = (self.governor.clone(), self.account.clone(), self.clock.now());
        let (most, run) = (BudgetAmount::from(most), self.run);
        let unit = move |tx: &mut munshi_store::Tx<'_>| governor.reserve_for(tx, (&account, run), &most, now);
        match self.db.write(self.tenant, unit).await {
            Ok(reserved) => Ok(reserved.id),
            Err(Error::OverBudget(refused)) => Err(ModelError::OverBudget(refused.to_string())),
            Err(error) => {
                tracing::error!(%error, "budget check failed");
                Err(ModelError::OverBudget("the budget check failed".to_owned()))
            }
        }
    }

    async fn settle(&self, reservation: ReservationId, spent: CallSpend) {
        let spent = BudgetAmount::from(spent);
        let mut pause = PAUSE;
        for number in 1..=TRIES {
            let governor = self.governor.clone();
            let unit = move |tx: &mut munshi_store::Tx<'_>| governor.settle(tx, reservation, &spent);
            match self.db.write(self.tenant, unit).await {
                Ok(SettleOutcome::Now) => return,
                Ok(SettleOutcome::Late) => {
                    tracing::warn!(%reservation, "call settled after its reservation expired");
                    return;
                }
                // After a commit whose outcome was unknown, the try before has done it.
                Ok(SettleOutcome::NotHeld) => {
                    tracing::debug!(%reservation, "no reservation to settle");
                    return;
                }
                Err(error) if number == TRIES => {
                    tracing::error!(%reservation, %error, ?spent, "failed to record the spending of a call");
                }
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause *= 2;
        }
    }
}
