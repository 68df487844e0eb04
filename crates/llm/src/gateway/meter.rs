//! The meter of one attempt: money set aside before it starts, settled and written down however it ends.

use std::sync::Arc;
use std::time::Duration;

use munshi_types::{CallId, Timestamp};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Shared;
use super::bill::Estimate;
use super::budget::{Reservation, Spend};
use super::call::{Account, Call};
use super::route::Use;
use super::tab::{CallRecord, Ending};
use crate::chat::Usage;
use crate::fault::Fault;
use crate::money::Cost;
use crate::target::Target;

/// Dropped while it runs, the attempt was cancelled after its input was sent.
pub(crate) struct Meter {
    pub(crate) shared: Arc<Shared>,
    pub(crate) target: Arc<Target>,
    pub(crate) estimate: Estimate,
    account: Account,
    purpose: Use,
    number: u32,
    id: CallId,
    started_at: Timestamp,
    begun: Instant,
    first_token: Option<Duration>,
    /// Gone once the attempt is settled.
    reservation: Option<Reservation>,
}

/// What an attempt is for.
#[derive(Clone, Copy)]
pub(crate) struct Purpose<'a> {
    pub(crate) account: &'a Account,
    pub(crate) wanted: Use,
    /// From 1, over all targets of the call.
    pub(crate) number: u32,
}

impl<'a> Purpose<'a> {
    pub(crate) fn of(call: &'a Call, number: u32) -> Self {
        Self { account: &call.account, wanted: call.wanted, number }
    }
}

impl Meter {
    /// Sets the money aside, or refuses.
    pub(crate) async fn start(
        shared: &Arc<Shared>,
        target: &Arc<Target>,
        purpose: Purpose<'_>,
        estimate: Estimate,
    ) -> Result<Self, Fault> {
        let account = purpose.account.clone();
        let reservation = account.budget.reserve(estimate.most).await?;
        Ok(Self {
            shared: shared.clone(),
            target: target.clone(),
            estimate,
            account,
            purpose: purpose.wanted,
            number: purpose.number,
            id: shared.ids.next(),
            started_at: shared.clock.now(),
            begun: Instant::now(),
            first_token: None,
            reservation: Some(reservation),
        })
    }

    pub(crate) fn is_running(&self) -> bool {
        self.reservation.is_some()
    }

    /// The model has said something.
    pub(crate) fn heard(&mut self) {
        if self.first_token.is_none() {
            self.first_token = Some(self.begun.elapsed());
        }
    }

    /// Settled by a task of its own, so that a caller who goes away in the middle leaves nothing set aside.
    pub(crate) async fn stop(&mut self, ending: Ending, usage: Usage, request_id: Option<String>) {
        if let Some(settling) = self.settle(ending, usage, request_id)
            && settling.await.is_err()
        {
            tracing::error!(call = %self.id, "settling a call's budget panicked");
        }
    }

    /// None when it is settled already, or can't be.
    pub(crate) fn settle(
        &mut self,
        ending: Ending,
        usage: Usage,
        request_id: Option<String>,
    ) -> Option<JoinHandle<()>> {
        let reservation = self.reservation.take()?;
        match ending.fault() {
            None => self.shared.health.succeeded(&self.target.name),
            Some(fault) => self.shared.health.failed(&self.target.name, fault),
        }
        let cost = self.shared.prices_for(&self.account).cost(&self.target, &usage, self.started_at);
        self.account.tab.add(self.record(ending, usage, cost, request_id));
        let Ok(runtime) = Handle::try_current() else {
            tracing::error!(call = %self.id, "a call was dropped where its budget can't be settled");
            return None;
        };
        let (budget, spent) = (self.account.budget.clone(), Spend { tokens: usage.total(), cost });
        let settling = async move { budget.settle(reservation, spent).await };
        Some(self.shared.tasks.spawn_on(settling, &runtime))
    }

    fn record(
        &self,
        ending: Ending,
        usage: Usage,
        cost: Option<Cost>,
        request_id: Option<String>,
    ) -> CallRecord {
        CallRecord {
            id: self.id,
            tenant: self.account.tenant,
            about: self.account.about,
            purpose: self.purpose,
            target: self.target.name.clone(),
            provider: self.target.provider_name().to_owned(),
            model: self.target.model.clone(),
            attempt: self.number,
            started_at: self.started_at,
            usage,
            cost,
            first_token: self.first_token,
            total: self.begun.elapsed(),
            ending,
            request_id,
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if self.is_running() {
            let sent = Usage { input: self.estimate.input, estimated: true, ..Usage::default() };
            self.settle(Ending::Failed(Fault::Cancelled), sent, None);
        }
    }
}
