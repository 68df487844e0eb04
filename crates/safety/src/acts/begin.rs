//! From a proposal to a permit, a question or a no.

use munshi_store::Tx;
use munshi_types::{BindingId, ConsentId, Egress, ReservationId, Timestamp};
use serde_json::{Value, json};

use super::decision_store::TxDecisionStore;
use super::deferred_audit::DeferredAuditEntries;
use super::digest::ActDigest;
use super::permit::{Permit, PermitMode, PermitTerm};
use super::refusals::{self, RefusalReporting};
use super::services::ActServices;
use super::store::{self, Act, ActState, ActUpdate};
use super::{description, limits, unasked};
use crate::approvals::{self, Approval, NewApproval};
use crate::audit::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::error::{Error, Result};
use crate::pipeline::{
    ActClearance, ActRefusal, ActVerdict, CompiledTool, ConnectorOrigin, ConsentQuestion, PolicyRequest,
    Proposal, RefusalCode, StageName, decide, egress,
};
use crate::policy::Policy;

/// What became of a proposal.
#[derive(Debug)]
pub enum ActDecision {
    /// May be done, or rehearsed: the permit says which.
    Go(Permit),
    /// A person is asked. Where the tool can be rehearsed, the permit is for that; its result goes to the question.
    Wait(Box<Approval>, Option<Permit>),
    Refused(ActRefusal),
    /// It was proposed before, and this is what came of it.
    Past(Box<Act>),
}

/// Decides about a proposal and writes down what was decided, in the caller's transaction. Asked again with the same
/// act, it takes up what was waiting and has been approved, and what failed because nobody was logged in at its service;
/// anything else is told as it stands.
pub fn begin(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    proposal: &Proposal,
    now: Timestamp,
) -> Result<(ActDecision, DeferredAuditEntries)> {
    let known = store::find_for_update(tx, proposal.act)?;
    let without_tool = known.as_ref().and_then(|act| drop_other_tool(proposal, act));
    let proposal = without_tool.as_ref().unwrap_or(proposal);
    let digest = compute_digest(tx, proposal, known.as_ref())?;
    if let Some(act) = &known {
        if act.digest != digest {
            return refuse_changed(tx, act_services, proposal, now);
        }
        let may_go_on = match act.state {
            ActState::Waiting => approvals::find_grant(tx, proposal.act, digest, now)?.is_some(),
            // What was approved before still has to be.
            _ if act.needs_login() => {
                approvals::find_by_act(tx, proposal.act)?.is_none()
                    || approvals::find_grant(tx, proposal.act, digest, now)?.is_some()
            }
            _ => false,
        };
        if !may_go_on {
            return Ok((ActDecision::Past(Box::new(act.clone())), DeferredAuditEntries::default()));
        }
    }
    let policy = act_services.load_policy(tx)?;
    let ask = PolicyRequest { proposal, policy: &policy, tenant: act_services.load_tenant_status(tx)? };
    let mut decision_store =
        TxDecisionStore { tx, act_services, digest, now, reservation: None, consent: None };
    let verdict = decide(&ask, &mut decision_store)?;
    let (reservation, consent) = (decision_store.reservation, decision_store.consent);
    let attempt = known.as_ref().map_or(1, |act| act.attempt + i64::from(act.needs_login()));
    let is_marked = proposal.tool.as_ref().is_some_and(|tool| tool.spec.transient);
    let is_transient = is_marked || known.as_ref().is_some_and(|act| act.is_transient);
    let shown = known.map(|act| act.leaving.unwrap_or(act.arguments));
    let mut recorder = ActRecorder {
        tx,
        act_services,
        proposal,
        policy: &policy,
        digest,
        attempt,
        reservation,
        consent,
        is_transient,
        shown,
        now,
    };
    match verdict {
        ActVerdict::Refuse(refusal) => recorder.refuse(refusal),
        ActVerdict::Ask(question) => recorder.request_approval(question),
        ActVerdict::Apply(cleared) => recorder.grant(cleared, PermitMode::Apply),
        ActVerdict::Rehearse(cleared) => recorder.grant(cleared, PermitMode::Rehearse),
    }
}

/// The proposal without its tool, where that is another connector's than the act's: the names of two connectors' tools may
/// be the same, and whichever is there has it.
fn drop_other_tool(proposal: &Proposal, act: &Act) -> Option<Proposal> {
    let tool = proposal.tool.as_ref()?;
    let is_other = !act.connector.is_empty() && tool.connector.name != act.connector;
    is_other.then(|| Proposal { tool: None, ..proposal.clone() })
}

/// A known act stays the one it is while its connector is away: refused as another one, it would be proposed anew and
/// done twice.
///
/// One that was stored before digests were keyed stays under the digest that its approvals have, too.
fn compute_digest(tx: &Tx<'_>, proposal: &Proposal, known: Option<&Act>) -> Result<ActDigest> {
    let digest = match known {
        Some(act) if proposal.tool.is_none() && !act.connector.is_empty() => {
            ActDigest::compute_with_connector(proposal, Some(&act.connector))
        }
        _ => ActDigest::compute(proposal),
    };
    if known.is_some_and(|act| act.digest == digest) { Ok(digest) } else { digest.key(tx) }
}

/// Another proposal under the name of a known act: told, and the known act stays as it is.
fn refuse_changed(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    proposal: &Proposal,
    now: Timestamp,
) -> Result<(ActDecision, DeferredAuditEntries)> {
    let most = act_services.load_policy(tx)?.rates.refused_per_minute;
    if let RefusalReporting::Counted(again_at, untold) = refusals::record_refusal(tx, proposal, most, now)? {
        return Ok((ActDecision::Refused(refusals::build_rate_refusal(again_at)), untold));
    }
    let what = "This was proposed before, otherwise. Propose it as a new act.";
    let refusal = ActRefusal::new(StageName::Schema, RefusalCode::Changed, what);
    let untold = defer_audit(proposal, AuditEvent::ACT_REFUSED, build_refusal_payload(&refusal));
    Ok((ActDecision::Refused(refusal), untold))
}

fn build_refusal_payload(refusal: &ActRefusal) -> Value {
    json!({ "stage": refusal.stage, "code": refusal.code })
}

fn defer_audit(proposal: &Proposal, event: AuditEvent, mut payload: Value) -> DeferredAuditEntries {
    if let Some(payload) = payload.as_object_mut() {
        payload.insert("tool".to_owned(), json!(store::clean_name(&proposal.name)));
        payload.insert("person".to_owned(), json!(proposal.caller.principal.person));
        payload.insert("door".to_owned(), json!(proposal.caller.door));
    }
    let actor = AuditActor::new(AuditActorKind::Agent, actor_id(proposal.caller.binding));
    DeferredAuditEntries::from_entry(NewAuditEntry {
        actor,
        event,
        subject: proposal.act.to_string(),
        payload,
    })
}

/// One decision on its way into the store.
struct ActRecorder<'a, 't> {
    tx: &'a mut Tx<'t>,
    act_services: &'a ActServices,
    proposal: &'a Proposal,
    policy: &'a Policy,
    digest: ActDigest,
    /// 1 the first time; more where it was not let in before.
    attempt: i64,
    reservation: Option<ReservationId>,
    /// What the person has agreed to that it may rest on.
    consent: Option<ConsentId>,
    /// What its tool says is not kept: it says so now, or said so when the act was proposed.
    is_transient: bool,
    /// What somebody agreed to let leave; there where the act has its row already, and was waiting.
    shown: Option<Value>,
    now: Timestamp,
}

impl ActRecorder<'_, '_> {
    /// What a person approved is not lost to what passes by itself: it goes on waiting, until its approval expires.
    fn refuse(&mut self, refusal: ActRefusal) -> Result<(ActDecision, DeferredAuditEntries)> {
        self.release()?;
        let was_waiting = self.shown.is_some();
        // A tool that was there when it was asked about may come back with its connector.
        let is_away = refusal.code == RefusalCode::UnknownTool;
        let waits = was_waiting && (is_away || refusal.code.is_transient());
        if waits || !was_waiting {
            let most = self.policy.rates.refused_per_minute;
            if let RefusalReporting::Counted(again_at, untold) =
                refusals::record_refusal(self.tx, self.proposal, most, self.now)?
            {
                let refusal = if waits { refusal } else { refusals::build_rate_refusal(again_at) };
                return Ok((ActDecision::Refused(refusal), untold));
            }
        }
        if !waits {
            let stopped = Some((refusal.stage.as_str(), refusal.code.as_str()));
            self.write(ActUpdate { stopped, ..ActUpdate::new(ActState::Refused) })?;
        }
        let untold = self.defer_audit(AuditEvent::ACT_REFUSED, build_refusal_payload(&refusal));
        Ok((ActDecision::Refused(refusal), untold))
    }

    fn request_approval(&mut self, question: ConsentQuestion) -> Result<(ActDecision, DeferredAuditEntries)> {
        self.release()?;
        let Some(tool) = self.proposal.tool.clone() else {
            return Err(Error::Invalid("there is no such tool".to_owned()));
        };
        let leaving = match tool.connector.origin {
            ConnectorOrigin::BuiltIn => Some((*self.proposal.arguments).clone()),
            ConnectorOrigin::Foreign => self.policy.redaction.apply(&tool.spec, &self.proposal.arguments),
        };
        let Some(leaving) = leaving else {
            return Err(Error::Invalid("approval requested for arguments that can't be redacted".to_owned()));
        };
        let differs = (leaving != *self.proposal.arguments).then_some(&leaving);
        let consent = self.consent;
        self.write(ActUpdate { leaving: differs, consent, ..ActUpdate::new(ActState::Waiting) })?;
        let approval =
            approvals::insert(self.tx, self.act_services, &self.new_approval(&tool, question), self.now)?;
        let payload = json!({ "approval": approval.id, "reasons": approval.question.reasons });
        let untold = self.defer_audit(AuditEvent::APPROVAL_ASKED, payload);
        // Trying it out would send what nobody has agreed to send, or do what they are asked about.
        let may_leave = egress::decide(self.proposal) == Egress::Allow && approval.question.purpose.is_none();
        let rehearsal =
            (tool.spec.dry_run && may_leave).then(|| self.build_permit(&tool, leaving, PermitMode::Rehearse));
        Ok((ActDecision::Wait(Box::new(approval), rehearsal), untold))
    }

    fn new_approval(&self, tool: &CompiledTool, question: ConsentQuestion) -> NewApproval {
        NewApproval {
            act: self.proposal.act,
            kind: approvals::ApprovalKind::Act,
            tool: self.proposal.name.clone(),
            scope: tool.render_scope(&self.proposal.arguments),
            session: self.proposal.caller.session,
            asked_by: self.proposal.caller.principal.person,
            words: description::describe_question(&question, &tool.spec, &self.proposal.arguments),
            question,
            digest: self.digest,
            hours: self.policy.approvals.hours,
        }
    }

    fn grant(
        &mut self,
        cleared: ActClearance,
        mode: PermitMode,
    ) -> Result<(ActDecision, DeferredAuditEntries)> {
        let Some(tool) = self.proposal.tool.clone() else {
            return Err(Error::Invalid("there is no such tool".to_owned()));
        };
        if self.shown.as_ref().is_some_and(|shown| *shown != cleared.arguments) {
            let what =
                "What would be sent is no longer what was agreed to. Propose it anew, so that it is seen.";
            return self.refuse(ActRefusal::new(StageName::Redaction, RefusalCode::Outgrown, what));
        }
        if let Some(approval) = cleared.approval {
            approvals::redeem(self.tx, approval, self.now)?;
        }
        let state = if mode == PermitMode::Apply { ActState::Intended } else { ActState::Rehearsing };
        let leaving = (cleared.arguments != *self.proposal.arguments).then_some(&cleared.arguments);
        let lease = Some(self.now.plus(ActServices::lease(tool.spec.timeout)));
        let (reservation, consent) = (self.reservation, cleared.consent);
        self.write(ActUpdate { reservation, lease, leaving, consent, ..ActUpdate::new(state) })?;
        let permit = self.build_permit(&tool, cleared.arguments, mode);
        let permit = Permit { reservation, ..permit };
        let payload = json!({
            "arguments": self.digest.to_string(), "approval": cleared.approval, "autonomy": cleared.autonomy,
            "consent": consent, "rehearsal": mode == PermitMode::Rehearse,
        });
        Ok((ActDecision::Go(permit), self.defer_audit(AuditEvent::ACT_INTENDED, payload)))
    }

    fn build_permit(&self, tool: &CompiledTool, arguments: Value, mode: PermitMode) -> Permit {
        Permit {
            act: self.proposal.act,
            tenant: self.tx.tenant(),
            tool: tool.spec.name.clone(),
            effect: tool.spec.effect,
            arguments,
            mode,
            attempt: self.attempt,
            is_repeat: false,
            is_transient: self.is_transient,
            consent: self.consent,
            began_at: self.now,
            reservation: None,
            cost: tool.spec.cost,
            actor: actor_id(self.proposal.caller.binding),
            term: PermitTerm::begin(tool.spec.timeout),
        }
    }

    /// Gives back what was set aside for doing it.
    fn release(&mut self) -> Result<()> {
        if self.proposal.tool.as_ref().is_some_and(|tool| tool.spec.sends.is_some()) {
            unasked::release(self.tx, self.proposal.act)?;
        }
        match self.reservation.take() {
            Some(reservation) => limits::release(self.tx, self.act_services, reservation),
            None => Ok(()),
        }
    }

    fn write(&mut self, mut decided: ActUpdate<'_>) -> Result<()> {
        decided.is_transient = self.is_transient;
        if self.shown.is_some() {
            return store::resume(self.tx, (self.proposal.act, self.attempt), &decided, self.now);
        }
        store::insert(self.tx, self.proposal, self.digest, &decided, self.now)
    }

    fn defer_audit(&self, event: AuditEvent, payload: Value) -> DeferredAuditEntries {
        defer_audit(self.proposal, event, payload)
    }
}

/// Which agent it was: the binding through which it spoke.
pub(super) fn actor_id(binding: Option<BindingId>) -> String {
    binding.map_or_else(|| "installation".to_owned(), |binding| binding.to_string())
}
