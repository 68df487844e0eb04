//! What is stored on a run's way and at its end, each in one transaction and under the epoch of whoever works on it.
//!
//! Locks are taken in one order everywhere: act, quota, session, run, and the audit last. A person is held before the quota or behind
//! it, beside others who hold them too; whoever wants one for themselves, to merge or to forget them, takes no quota.

use std::sync::Arc;

use munshi_guardrails::{GuardrailSeverity, GuardrailTier, GuardrailViolation};
use munshi_identity::persons::seal_by_person;
use munshi_llm::calls;
use munshi_llm::gateway::CallRecord;
use munshi_pack::FinishedTurn;
use munshi_safety::acts::DeferredAuditEntries;
use munshi_safety::approvals;
use munshi_safety::budget::{BudgetAmount, SettleOutcome};
use munshi_store::{SealedBy, Tx, params};
use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{
    ActId, ApprovalId, BindingId, MessageId, PersonId, ReplyAddress, ReservationId, SessionId, Timestamp,
    WhisperId,
};
use serde_json::Value;

use crate::decisions::{self, TurnDecision};
use crate::error::{Error, Result};
use crate::ingest::IngestServices;
use crate::joining::{self, JoinCheck};
use crate::late_acts::{self, DetachOutcome};
use crate::messages::{self, Message, MessageSpeaker, MessageStatus};
use crate::outbox::ReplyPlace;
use crate::runs::{self, EndedRun, LeftSnapshot, RunEndUpdate, RunLease};
use crate::sealing::seal_by_owner;
use crate::search::FillScope;
use crate::sessions::{self, ReplyPosition, SessionUpdate};
use crate::snapshot::RunSnapshot;
use crate::state::{HaltReason, RunState};
use crate::steps::{self, NewRunStep};
use crate::{client_context, outbox, retention, search, stored_prompts, whispers};

/// How often a session may be merged away under a reply before something else must be wrong.
const TRIES: u32 = 4;

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress<'a> {
    pub lease: RunLease,
    /// Whose run it is; none for work on nobody's behalf.
    pub person: Option<PersonId>,
    pub state: RunState,
    pub snapshot: &'a RunSnapshot,
    /// Since the last commit.
    pub steps: &'a [NewRunStep],
    /// Attempts at models since the last commit.
    pub calls: &'a [CallRecord],
}

/// Stores how far a run has come. [`Error::LostRun`] where somebody else has taken it up: nothing may be committed then.
pub fn save_progress(tx: &mut Tx<'_>, progress: &RunProgress<'_>) -> Result<()> {
    let held = (progress.lease, seal_by_owner(tx, progress.person)?);
    let last = runs::advance(tx, held, progress.state, progress.snapshot)?;
    match progress.snapshot.work.is_some() {
        true => steps::add_shared(tx, held, progress.steps)?,
        false => steps::add(tx, held, last, progress.steps)?,
    }
    for call in progress.calls {
        calls::record(tx, call)?;
    }
    stored_prompts::add(tx, (progress.lease.run, held.1), progress.calls)?;
    Ok(())
}

/// The end of a turn, or its pause, and everything that is stored with it.
#[derive(Clone, Debug)]
pub struct TurnCommit {
    pub lease: RunLease,
    /// As the run was read; if it was merged into another since, the reply goes there.
    pub session: SessionId,
    pub person: PersonId,
    pub binding: BindingId,
    pub channel: Channel,
    pub ending: TurnStatus,
    /// A pack read the message by itself. That stays with the run after its end, for what is told of its acts later.
    pub is_read: bool,
    /// None only where there is nothing to say.
    pub reply: Option<ReplyRecord>,
    /// Where the reply is sent; none where the person waits for it or comes and looks.
    pub deliver: Option<ReplyAddress>,
    /// What was set aside, and what was spent of it.
    pub settle: Option<(ReservationId, BudgetAmount)>,
    pub learned: SessionUpdate,
    pub steps: Vec<NewRunStep>,
    pub calls: Vec<CallRecord>,
    pub violations: Vec<ViolationRecord>,
    pub decision: Option<Box<TurnDecision>>,
    /// Questions of the run. Where it is halted nobody may do by a later yes what nobody waits for any more.
    pub questions: Vec<ApprovalId>,
    /// Acts that may still be happening while the run is halted: what comes of them is told in the conversation.
    pub unfinished: Vec<ActId>,
    /// Of a run that a program brought something for: what whoever comes back with its tools' answers goes on from, where
    /// it was asked for some.
    pub client_resume: Option<Option<Box<RunSnapshot>>>,
    /// Where messages may join the turn: what it knows of them. Those that came through another node are found as the reply is
    /// stored.
    pub join_check: Option<JoinCheck>,
    /// What colleagues had whispered that the turn was told: it is told to no other, unless this one goes on.
    pub whispers: Vec<WhisperId>,
    /// What packs hear of it, where any wants to.
    pub finished: Option<Arc<FinishedTurn>>,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TurnStatus {
    Done,
    Halted(HaltReason),
    /// A person is asked; what there is so far is kept.
    Waiting(Box<RunSnapshot>),
}

/// What is said at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyRecord {
    pub id: MessageId,
    pub text: String,
    pub language: Option<LanguageCode>,
    pub tokens: u32,
    pub standing: MessageStatus,
    pub generation: u32,
    pub marks: Value,
    pub suggestions: Vec<String>,
}

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolationRecord {
    pub rule: String,
    pub tier: String,
    pub severity: String,
    /// In a few words; never the text itself.
    pub what: String,
}

impl From<&GuardrailViolation> for ViolationRecord {
    fn from(violation: &GuardrailViolation) -> Self {
        let tier = match violation.tier {
            GuardrailTier::Human => "human",
            GuardrailTier::Team => "team",
            GuardrailTier::Agent => "agent",
        };
        let severity = match violation.severity {
            GuardrailSeverity::Block => "block",
            GuardrailSeverity::Rewrite => "rewrite",
            GuardrailSeverity::Log => "log",
        };
        Self {
            rule: violation.rule.clone(),
            tier: tier.to_owned(),
            severity: severity.to_owned(),
            what: violation.what.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedTurn {
    /// Where the reply stands; another than the run began in after a merge.
    pub session: SessionId,
    pub number: i64,
    /// The next run of the session, now held by this process.
    pub next: Option<RunLease>,
    /// Those of the unfinished acts that were not left to themselves, since they had ended or wait for a person.
    pub ended: Vec<ActId>,
}

/// Ends or pauses a run: reply, record, quota, session, delivery and the lease of the next run of the session, all or
/// nothing. [`Error::LostRun`] where somebody else has taken the run up, [`Error::Followed`] where a message came that may join.
pub fn save_turn(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    response: &TurnCommit,
) -> Result<CommittedTurn> {
    let (lease, now) = (response.lease, response.now);
    // Acts before budgets and sessions, as whoever ends an act holds them.
    let mut ended = Vec::new();
    for act in &response.unfinished {
        if late_acts::detach(tx, *act, lease.run, now)? == DetachOutcome::No {
            ended.push(*act);
        }
    }
    if let Some((reservation, spent)) = &response.settle {
        settle(tx, ingest_services, *reservation, spent)?;
    }
    let by = seal_by_person(tx, response.person)?;
    let position = number_reply(tx, by, response)?;
    if let Some(check) = &response.join_check
        && position.number > check.known_messages + 1
        && joining::is_followed(tx, position.session, check)?
    {
        return Err(Error::Followed(lease.run));
    }
    let terms = (ingest_services.terms(now), !ingest_services.places.is_contested());
    let EndedRun { last_step, next } =
        runs::end(tx, (lease, by), position.session, &build_run_end(response), terms)?;
    let reply = response.reply.as_ref().map(|reply| message(response, reply, position));
    if let Some(reply) = &reply {
        messages::add(tx, by, reply)?;
    }
    steps::add(tx, (lease, by), last_step, &response.steps)?;
    for call in &response.calls {
        calls::record(tx, call)?;
    }
    stored_prompts::add(tx, (lease.run, by), &response.calls)?;
    for broken in &response.violations {
        add_violation(tx, ingest_services, response, broken)?;
    }
    if let Some(decision) = &response.decision {
        let TurnCommit { binding, channel, .. } = *response;
        let about = decisions::TurnSubject { run: lease.run, session: position.session, binding, channel };
        decisions::add(tx, about, decision, now)?;
    }
    if let (Some(reply), Some(to)) = (&reply, &response.deliver) {
        let place = ReplyPlace::of(reply, by);
        outbox::enqueue(tx, &ingest_services.queue, place, &reply.to_outbound(to), now)?;
    }
    if retention::is_summary_due(position.number, position.summarised) {
        retention::enqueue_summary(tx, &ingest_services.queue, position.session)?;
    }
    if search::job::is_fill_due(position.number) {
        search::job::enqueue_fill(tx, &ingest_services.queue, FillScope::New)?;
    }
    if !response.whispers.is_empty() && !matches!(response.ending, TurnStatus::Waiting(_)) {
        whispers::mark_used(tx, position.session, &response.whispers, lease.run)?;
    }
    match &response.client_resume {
        Some(Some(carried)) => client_context::store_snapshot(tx, (lease.run, by), carried, now)?,
        // A run that waits for a person reads it again.
        Some(None) if !matches!(response.ending, TurnStatus::Waiting(_)) => {
            client_context::delete(tx, lease.run)?;
        }
        Some(None) | None => {}
    }
    if let TurnStatus::Halted(halt) = &response.ending {
        withdraw(tx, &response.questions, halt.code(), now)?.record_with_ids(
            tx,
            &ingest_services.ids,
            now,
        )?;
    }
    Ok(CommittedTurn { session: position.session, number: position.number, next, ended })
}

/// Takes back what a run has asked. What the audit is to be told comes last.
pub fn withdraw(
    tx: &mut Tx<'_>,
    questions: &[ApprovalId],
    reason: &str,
    now: Timestamp,
) -> Result<DeferredAuditEntries> {
    let mut untold = DeferredAuditEntries::default();
    for question in questions {
        if let Some(told) = approvals::withdraw(tx, *question, reason, now)? {
            untold = untold.merge(told);
        }
    }
    Ok(untold)
}

fn settle(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    reservation: ReservationId,
    spent: &BudgetAmount,
) -> Result<()> {
    match ingest_services.governor.settle(tx, reservation, spent)? {
        SettleOutcome::Now => {}
        SettleOutcome::Late => {
            tracing::warn!(%reservation, "turn settled after its reservation expired");
        }
        SettleOutcome::NotHeld => {
            tracing::warn!(%reservation, ?spent, "turn reservation not found; usage not recorded");
        }
    }
    Ok(())
}

/// Numbers the reply in the session the run is in by now, and holds that.
fn number_reply(tx: &mut Tx<'_>, by: SealedBy, response: &TurnCommit) -> Result<ReplyPosition> {
    let mut session = response.session;
    for _ in 0..TRIES {
        let entered = match response.reply {
            Some(_) => sessions::record_reply(tx, session, &response.learned, (by, response.now))?,
            None => sessions::record_without_reply(tx, session, &response.learned, (by, response.now))?,
        };
        match entered {
            Some(position) => return Ok(position),
            None => session = runs::find_session(tx, response.lease.run)?.ok_or(Error::NoRun)?,
        }
    }
    let busy = "the session is being merged repeatedly: try again later".to_owned();
    Err(munshi_store::Error::Busy(busy).into())
}

fn build_run_end(response: &TurnCommit) -> RunEndUpdate {
    let left = LeftSnapshot::Ended { is_read: response.is_read };
    let (state, reason, left) = match &response.ending {
        TurnStatus::Done => (RunState::Done, None, left),
        TurnStatus::Halted(halt) => (RunState::Halted, Some(halt.clone()), left),
        TurnStatus::Waiting(snapshot) => {
            (RunState::WaitingApproval, None, LeftSnapshot::Whole(snapshot.clone()))
        }
    };
    RunEndUpdate {
        state,
        reason,
        left,
        reply: response.reply.as_ref().map(|reply| reply.id),
        is_settled: response.settle.is_some(),
    }
}

fn message(response: &TurnCommit, reply: &ReplyRecord, position: ReplyPosition) -> Message {
    Message {
        id: reply.id,
        session: position.session,
        number: position.number,
        run: response.lease.run,
        binding: response.binding,
        speaker: MessageSpeaker::Persona,
        channel: response.channel,
        outside_id: None,
        text: reply.text.clone(),
        attached: Vec::new(),
        language: reply.language.clone(),
        tokens: reply.tokens,
        standing: reply.standing,
        generation: reply.generation,
        marks: reply.marks.clone(),
        suggestions: reply.suggestions.clone(),
        said_at: response.now,
    }
}

fn add_violation(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    response: &TurnCommit,
    broken: &ViolationRecord,
) -> Result<()> {
    let id: uuid::Uuid = munshi_types::Id::as_uuid(ingest_services.ids.next::<munshi_types::EntryId>());
    tx.send(
        "INSERT INTO guardrail_violations (tenant_id, id, run_id, binding_id, rule, tier, severity, what, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        params![
            id,
            response.lease.run,
            response.binding,
            broken.rule,
            broken.tier,
            broken.severity,
            broken.what,
            response.now
        ],
    )?;
    Ok(())
}
