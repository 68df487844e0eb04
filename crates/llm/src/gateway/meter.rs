//! The meter of one attempt: money set aside before it starts, settled and written down however it ends.

use std::sync::Arc;
use std::time::Duration;

use munshi_types::{CallId, Timestamp};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::GatewayState;
use super::breaker::BreakerDecision;
use super::budget::CallSpend;
use super::call::{CallBilling, ModelCall};
use super::call_log::{CallRecord, ModelCallOutcome};
use super::estimate::CallEstimate;
use super::reservation::ReservationGuard;
use super::route::Capability;
use crate::chat::TokenUsage;
use crate::error::ModelError;
use crate::pricing::Cost;
use crate::target::ModelTarget;

/// Dropped while it runs, the attempt was cancelled after its input was sent.
pub(crate) struct AttemptMeter {
    pub(crate) shared: Arc<GatewayState>,
    pub(crate) target: Arc<ModelTarget>,
    pub(crate) estimate: CallEstimate,
    account: CallBilling,
    purpose: Capability,
    number: u32,
    id: CallId,
    started_at: Timestamp,
    begun: Instant,
    first_token: Option<Duration>,
    permission: BreakerDecision,
    /// Gone once the attempt is settled.
    reservation: Option<ReservationGuard>,
}

/// What an attempt is for.
#[derive(Clone, Copy)]
pub(crate) struct AttemptContext<'a> {
    pub(crate) account: &'a CallBilling,
    pub(crate) wanted: Capability,
    /// From 1, over all targets of the call.
    pub(crate) number: u32,
    /// What the target's breaker said; its trial ends with the attempt.
    pub(crate) permission: BreakerDecision,
}

impl<'a> AttemptContext<'a> {
    pub(crate) fn new(call: &'a ModelCall, number: u32, permission: BreakerDecision) -> Self {
        Self { account: &call.account, wanted: call.wanted, number, permission }
    }
}

impl AttemptMeter {
    /// Sets the money aside, or refuses.
    pub(crate) async fn start(
        shared: &Arc<GatewayState>,
        target: &Arc<ModelTarget>,
        purpose: AttemptContext<'_>,
        estimate: CallEstimate,
    ) -> Result<Self, ModelError> {
        let account = purpose.account.clone();
        let reservation = match ReservationGuard::reserve(shared, &account.budget, estimate.most).await {
            Ok(reservation) => reservation,
            Err(fault) => {
                // Nothing was asked, so nothing was found out: another may have the trial.
                shared.health.record_outcome(&target.name, purpose.permission, Some(&fault));
                return Err(fault);
            }
        };
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
            permission: purpose.permission,
            reservation: Some(reservation),
        })
    }

    pub(crate) fn is_running(&self) -> bool {
        self.reservation.is_some()
    }

    /// The model has said something.
    pub(crate) fn mark_first_token(&mut self) {
        if self.first_token.is_none() {
            self.first_token = Some(self.begun.elapsed());
        }
    }

    /// Settled by a task of its own, so that a caller who goes away in the middle leaves nothing set aside.
    pub(crate) async fn stop(
        &mut self,
        ending: ModelCallOutcome,
        usage: TokenUsage,
        request_id: Option<String>,
    ) {
        if let Some(settling) = self.settle(ending, usage, request_id)
            && settling.await.is_err()
        {
            tracing::error!(call = %self.id, "call budget settlement panicked");
        }
    }

    /// None when it is settled already, or can't be.
    pub(crate) fn settle(
        &mut self,
        ending: ModelCallOutcome,
        usage: TokenUsage,
        request_id: Option<String>,
    ) -> Option<JoinHandle<()>> {
        let reservation = self.reservation.take()?;
        self.shared.health.record_outcome(&self.target.name, self.permission, ending.fault());
        let cost = self.shared.prices_for(&self.account).cost(&self.target, &usage, self.started_at);
        self.account.tab.add(self.build_record(ending, usage, cost, request_id));
        reservation.settle(CallSpend { tokens: usage.total(), output: usage.output, cost })
    }

    fn build_record(
        &self,
        ending: ModelCallOutcome,
        usage: TokenUsage,
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
            prompt: self.account.prompt.clone(),
        }
    }
}

impl Drop for AttemptMeter {
    fn drop(&mut self) {
        if self.is_running() {
            let sent = TokenUsage { input: self.estimate.input, estimated: true, ..TokenUsage::default() };
            self.settle(ModelCallOutcome::Failed(ModelError::Cancelled), sent, None);
        }
    }
}
