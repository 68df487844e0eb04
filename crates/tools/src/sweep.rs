//! What is taken up later: acts whose process died, questions without an answer, refusals that were only counted.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use munshi_safety::acts::{self, ACTS, ActRecovery, CountedRefusals, LapsedAct, TakeoverReason};
use munshi_safety::approvals::{self, ApprovalExpiry, ApprovalExpiryOutcome, ExpiredApproval};
use munshi_types::{ActId, TenantId, Timestamp};

use crate::answer::{ToolAnswer, load_past_answer};
use crate::attempts;
use crate::dispatcher::ToolDispatcher;
use crate::error::Result;
use crate::handler::ToolHandler;
use crate::journal::{ActJournal, NoActJournal};

/// So many are looked at in one go.
const MOST: u32 = 100;
/// More are not left by one process; the rest is found by the sweeps that follow.
const MOST_LEFT: u32 = 10_000;
/// How long what was left waits for the connectors of its tenant, and how often it looks.
const SETTLING: Duration = Duration::from_secs(60);
/// How long an act that was begun or agreed to waits for its own tool: a connector may take a minute to start, fail, and
/// start again.
const TOOL_WAIT: Duration = Duration::from_secs(300);
const SETTLING_PAUSE: Duration = Duration::from_millis(50);

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActSweepReport {
    /// Called again, or found to have happened.
    pub ended: u32,
    /// Marked unknown; a person is asked.
    pub unknown: u32,
    /// Questions nobody answered in time that went to somebody above.
    pub escalated: u32,
    /// Questions whose time was over for good.
    pub expired: u32,
    /// Refused proposals that had only been counted, told to the audit together.
    pub refused: u64,
}

impl ToolDispatcher {
    /// Takes up what lapsed, of all tenants. Safe to run on every node at once: each act is taken by one. One thing that
    /// fails keeps no other waiting; the first failure is told at the end.
    pub async fn sweep(&self, journal: Arc<dyn ActJournal>) -> Result<ActSweepReport> {
        let (mut swept, now, platform) =
            (ActSweepReport::default(), self.clock.now(), self.db.platform(ACTS));
        let mut failed = None;
        for act in platform.read(move |tx| acts::list_lapsed(tx, MOST, now)).await? {
            match self.take_over(act, TakeoverReason::Lapsed, journal.clone()).await {
                Ok(Some(true)) => swept.ended += 1,
                Ok(Some(false)) => swept.unknown += 1,
                Ok(None) => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        for question in platform.read(move |tx| approvals::list_due(tx, MOST, now)).await? {
            match self.expire(question, journal.clone(), now).await {
                Ok(Some(ApprovalExpiryOutcome::Escalated(_))) => swept.escalated += 1,
                Ok(Some(ApprovalExpiryOutcome::Dropped)) => swept.expired += 1,
                Ok(None) => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        for count in platform.read(move |tx| acts::list_counted_refusals(tx, MOST, now)).await? {
            match self.record_refusals(count, now).await {
                Ok(refused) => swept.refused += refused,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(swept), Err)
    }

    /// Takes up all that a dead process left, whatever the leases say: for the one process there is, when it starts.
    /// What it has begun itself is left alone.
    pub async fn sweep_orphaned(&self, journal: Arc<dyn ActJournal>) -> Result<u32> {
        let (mut taken, mut failed) = (0, None);
        let mut waited = HashSet::new();
        for act in self.db.platform(ACTS).read(|tx| acts::list_leased(tx, MOST_LEFT)).await? {
            if waited.insert(act.tenant) {
                self.wait_for_connectors(act.tenant).await;
            }
            match self.take_over(act, TakeoverReason::SoleProcess, journal.clone()).await {
                Ok(ended) => taken += u32::from(ended.is_some()),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(taken), Err)
    }

    /// Takes over an act of a run whose former holder is dead or has stopped, without waiting for the act's own lease. On
    /// SQLite always; on Postgres only the act's first attempt, since a later one may belong to another node's sweep. False
    /// if the act is still held.
    pub async fn take_over_orphaned(&self, tenant: TenantId, act: ActId) -> Result<bool> {
        let left = if self.db.engine() == "sqlite" {
            TakeoverReason::SoleProcess
        } else {
            TakeoverReason::RunResumed
        };
        let ended = self.take_over(LapsedAct { tenant, act }, left, Arc::new(NoActJournal)).await?;
        Ok(ended.is_some())
    }

    async fn expire(
        &self,
        question: ExpiredApproval,
        journal: Arc<dyn ActJournal>,
        now: Timestamp,
    ) -> Result<Option<ApprovalExpiryOutcome>> {
        let services = self.act_services.clone();
        let expiry = self.db.write(question.tenant, move |tx| -> Result<_> {
            let Some(approval) = approvals::find(tx, question.approval)? else { return Ok(None) };
            let above = approvals::resolve_approvers(tx, &services, &approval)?.above;
            journal.prepare_expiry(tx, &approval, &above)?;
            let Some((expiry, untold)) = approvals::expire(tx, &services, question, now)? else {
                return Ok(None);
            };
            journal.record_expiry(tx, &expiry)?;
            untold.record(tx, &services, now)?;
            Ok(Some(expiry))
        });
        let Some(ApprovalExpiry { approval, outcome, .. }) = expiry.await? else { return Ok(None) };
        // The job that sweeps is the installation's, so the tenant is named here.
        let ExpiredApproval { tenant, act, .. } = question;
        match &outcome {
            ApprovalExpiryOutcome::Escalated(to) => {
                tracing::warn!(%tenant, approval = %approval.id, %act, to = to.len(), until = %approval.expires_at,
                    "approval expired; escalating");
            }
            ApprovalExpiryOutcome::Dropped => {
                tracing::warn!(%tenant, approval = %approval.id, %act, "approval expired; dropping act");
            }
        }
        Ok(Some(outcome))
    }

    async fn record_refusals(&self, count: CountedRefusals, now: Timestamp) -> Result<u64> {
        let services = self.act_services.clone();
        let told = self.db.write(count.tenant, move |tx| -> Result<u64> {
            let (refused, untold) = acts::flush_counted_refusals(tx, &count.source, now)?;
            untold.record(tx, &services, now)?;
            Ok(refused)
        });
        told.await
    }

    /// Waits until each connector of the tenant has started or failed to, for a minute at most. An act that was begun before
    /// this process would be taken for another one while its tool is missing.
    pub async fn wait_for_connectors(&self, tenant: TenantId) {
        let is_settled = || !self.is_unsettled(tenant);
        if !wait_until(SETTLING, is_settled).await {
            tracing::warn!(%tenant, "connectors are still starting; resuming without them");
        }
    }

    /// Waits until the tool of an act is there, or can't come any more because each connector has started or was given up.
    pub async fn wait_for_tool(&self, tenant: TenantId, act: ActId) -> Result<()> {
        if !self.is_unsettled(tenant) {
            return Ok(());
        }
        let Some(act) = self.db.read(tenant, move |tx| acts::find(tx, act)).await? else { return Ok(()) };
        let is_decided = || self.find_tool_of_act(tenant, &act).is_some() || !self.is_unsettled(tenant);
        if !wait_until(TOOL_WAIT, is_decided).await {
            tracing::warn!(%tenant, tool = act.tool, "connector is still starting; its act can't go on");
        }
        Ok(())
    }

    fn is_unsettled(&self, tenant: TenantId) -> bool {
        self.tool_source.as_ref().is_some_and(|source| !source.is_settled(tenant))
    }

    /// Some(true) when it came to an end, Some(false) when nobody can tell, none when it was not ours.
    async fn take_over(
        &self,
        lapsed: LapsedAct,
        left: TakeoverReason,
        journal: Arc<dyn ActJournal>,
    ) -> Result<Option<bool>> {
        if left != TakeoverReason::Lapsed && self.active_acts.has(lapsed.act) {
            return Ok(None);
        }
        let _working = self.active_acts.begin(lapsed.act);
        let (services, clock) = (self.act_services.clone(), self.clock.clone());
        let (dispatcher, notes) = (self.clone(), journal.clone());
        let recovery = self.db.write(lapsed.tenant, move |tx| -> Result<_> {
            // A tool that has another effect by now is another tool.
            let act = acts::find(tx, lapsed.act)?;
            let tool = act.and_then(|act| {
                let tool = dispatcher.find_tool_of_act(lapsed.tenant, &act);
                tool.filter(|tool| tool.known.spec.effect == act.effect)
            });
            // Its connector may be about to start: the next round sees.
            if tool.is_none() && dispatcher.is_unsettled(lapsed.tenant) {
                return Ok((ActRecovery::NotOurs, None));
            }
            let known = tool.as_ref().map(|tool| tool.known.as_ref());
            let recovery = acts::recover(tx, &services, (lapsed.act, left), known, clock.now())?;
            if matches!(recovery, ActRecovery::MarkedUnknown) {
                let detail = "the process died while it was done".to_owned();
                notes.record_answer(tx, &ToolAnswer::Unknown { act: lapsed.act, detail })?;
            }
            if let (ActRecovery::MarkedFailed, Some(act)) = (&recovery, acts::find(tx, lapsed.act)?) {
                let answer = load_past_answer(tx, act, tool.as_ref())?;
                notes.record_answer(tx, &answer)?;
            }
            Ok((recovery, tool))
        });
        match recovery.await? {
            (ActRecovery::NotOurs, _) => Ok(None),
            (ActRecovery::MarkedUnknown, _) => Ok(Some(false)),
            (ActRecovery::MarkedFailed, _) => Ok(Some(true)),
            (ActRecovery::Retry(permit), Some(tool)) => {
                self.perform_permitted(permit, tool, journal).await?;
                Ok(Some(true))
            }
            (ActRecovery::LookUp(permit), Some(tool)) => {
                let ToolHandler::Remote(far) = &tool.body else { return Ok(None) };
                let writing = self.begin_write(&permit, &tool);
                let (consent, limit) = (self.check_consent(&permit), tool.known.spec.timeout);
                let called = attempts::look_then_call(far.as_ref(), &permit, limit, &consent).await;
                drop(writing);
                self.finish(permit, Some(tool), called, journal).await?;
                Ok(Some(true))
            }
            (ActRecovery::Retry(permit) | ActRecovery::LookUp(permit), None) => {
                // What only looked has surely done nothing.
                let is_read = !permit.effect().writes();
                let gone = match is_read {
                    true => attempts::unknown_tool_result(),
                    false => attempts::missing_tool_result(),
                };
                self.finish(permit, None, gone, journal).await?;
                Ok(Some(is_read))
            }
        }
    }
}

/// Whether it came to be in this time.
async fn wait_until(limit: Duration, is_so: impl Fn() -> bool) -> bool {
    let looking = async {
        while !is_so() {
            tokio::time::sleep(SETTLING_PAUSE).await;
        }
    };
    tokio::time::timeout(limit, looking).await.is_ok()
}
