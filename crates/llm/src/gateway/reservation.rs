//! Money set aside, which somebody always gives back or settles.

use std::sync::Arc;

use munshi_types::ReservationId;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::GatewayState;
use super::budget::{CallBudget, CallSpend};
use crate::error::ModelError;

/// Dropped unsettled, all of it is given back.
pub(crate) struct ReservationGuard {
    reservation: Option<ReservationId>,
    budget: Arc<dyn CallBudget>,
    tasks: TaskTracker,
}

impl ReservationGuard {
    /// Asked by a task of its own: a caller who goes away while the budget decides leaves nothing set aside.
    pub(crate) async fn reserve(
        shared: &GatewayState,
        budget: &Arc<dyn CallBudget>,
        most: CallSpend,
    ) -> Result<Self, ModelError> {
        let (give, take) = oneshot::channel();
        let (asked, tasks) = (budget.clone(), shared.tasks.clone());
        shared.tasks.spawn(async move {
            let reserved = asked.reserve(most).await.map(|reservation| Self {
                reservation: Some(reservation),
                budget: asked.clone(),
                tasks,
            });
            // Where nobody waits any more, dropping it gives it back.
            drop(give.send(reserved));
        });
        take.await.unwrap_or_else(|_| Err(ModelError::OverBudget("the budget check failed".to_owned())))
    }

    /// By a task of its own, so that it is done whoever waits for it. None where there is no runtime left to do it.
    pub(crate) fn settle(mut self, spent: CallSpend) -> Option<JoinHandle<()>> {
        self.finish(spent)
    }

    fn finish(&mut self, spent: CallSpend) -> Option<JoinHandle<()>> {
        let reservation = self.reservation.take()?;
        let Ok(runtime) = Handle::try_current() else {
            tracing::error!("call budget not settled: no async runtime");
            return None;
        };
        let budget = self.budget.clone();
        Some(self.tasks.spawn_on(async move { budget.settle(reservation, spent).await }, &runtime))
    }
}

impl Drop for ReservationGuard {
    fn drop(&mut self) {
        self.finish(CallSpend::default());
    }
}
