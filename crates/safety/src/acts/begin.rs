//! From a proposal to a permit, a question or a no.

use munshi_store::Tx;
use munshi_types::{BindingId, Egress, ReservationId, Timestamp};
use serde_json::{Value, json};

use super::books::Books;
use super::digest::Digest;
use super::office::Office;
use super::permit::{Mode, Permit};
use super::refusals::{self, Heard};
use super::row::{self, Act, Decided, State};
use super::untold::Untold;
use super::{limits, words};
use crate::approvals::{self, Approval, NewApproval};
use crate::audit::{Actor, ActorKind, Event, NewEntry};
use crate::error::{Error, Result};
use crate::pipeline::{
    Ask, Cleared, Code, Known, Maker, Proposal, Question, Refusal, StageName, Verdict, decide, egress,
};
use crate::policy::Policy;

/// What became of a proposal.
#[derive(Debug)]
pub enum Begun {
    /// May be done, or rehearsed: the permit says which.
    Go(Permit),
    /// A person is asked. Where the tool can be rehearsed, the permit is for that; its result goes to the question.
    Wait(Box<Approval>, Option<Permit>),
    Refused(Refusal),
    /// It was proposed before, and this is what came of it.
    Past(Box<Act>),
}

/// Decides about a proposal and writes down what was decided, in the caller's transaction. Asked again with the same
/// act, it takes up what was waiting and has been approved, and what failed because nobody was logged in at its service;
/// anything else is told as it stands.
pub fn begin(
    tx: &mut Tx<'_>,
    office: &Office,
    proposal: &Proposal,
    now: Timestamp,
) -> Result<(Begun, Untold)> {
    let digest = Digest::of(proposal);
    let known = row::find_held(tx, proposal.act)?;
    if let Some(act) = &known {
        if act.digest != digest {
            return changed(tx, office, proposal, now);
        }
        let may_go_on = match act.state {
            State::Waiting => approvals::granted_for(tx, proposal.act, digest, now)?.is_some(),
            // What was approved before still has to be.
            _ if act.was_shut_out() => {
                approvals::of_act(tx, proposal.act)?.is_none()
                    || approvals::granted_for(tx, proposal.act, digest, now)?.is_some()
            }
            _ => false,
        };
        if !may_go_on {
            return Ok((Begun::Past(Box::new(act.clone())), Untold::default()));
        }
    }
    let policy = office.policy(tx)?;
    let ask = Ask { proposal, policy: &policy, tenant: office.standing(tx)? };
    let mut books = Books { tx, office, digest, now, held: None };
    let verdict = decide(&ask, &mut books)?;
    let held = books.held;
    let attempt = known.as_ref().map_or(1, |act| act.attempt + i64::from(act.was_shut_out()));
    let shown = known.map(|act| act.leaving.unwrap_or(act.arguments));
    let mut desk = Desk { tx, office, proposal, policy: &policy, digest, attempt, held, shown, now };
    match verdict {
        Verdict::Refuse(refusal) => desk.refuse(refusal),
        Verdict::Ask(question) => desk.ask(question),
        Verdict::Apply(cleared) => desk.go(cleared, Mode::Apply),
        Verdict::Rehearse(cleared) => desk.go(cleared, Mode::Rehearse),
    }
}

/// Another proposal under the name of a known act: told, and the known act stays as it is.
fn changed(tx: &mut Tx<'_>, office: &Office, proposal: &Proposal, now: Timestamp) -> Result<(Begun, Untold)> {
    let most = office.policy(tx)?.rates.refused_per_minute;
    if let Heard::Counted(again_at, untold) = refusals::hear(tx, proposal, most, now)? {
        return Ok((Begun::Refused(refusals::too_many(again_at)), untold));
    }
    let what = "This was proposed before, otherwise. Propose it as a new act.";
    let refusal = Refusal::new(StageName::Schema, Code::Changed, what);
    let untold = untold(proposal, Event::ACT_REFUSED, refused(&refusal));
    Ok((Begun::Refused(refusal), untold))
}

fn refused(refusal: &Refusal) -> Value {
    json!({ "stage": refusal.stage, "code": refusal.code })
}

fn untold(proposal: &Proposal, event: Event, mut payload: Value) -> Untold {
    if let Some(payload) = payload.as_object_mut() {
        payload.insert("tool".to_owned(), json!(row::clean(&proposal.name)));
        payload.insert("person".to_owned(), json!(proposal.caller.principal.person));
        payload.insert("door".to_owned(), json!(proposal.caller.door));
    }
    let actor = Actor::new(ActorKind::Agent, speaker(proposal.caller.binding));
    Untold::of(NewEntry { actor, event, subject: proposal.act.to_string(), payload })
}

/// One decision on its way into the store.
struct Desk<'a, 't> {
    tx: &'a mut Tx<'t>,
    office: &'a Office,
    proposal: &'a Proposal,
    policy: &'a Policy,
    digest: Digest,
    /// 1 the first time; more where it was not let in before.
    attempt: i64,
    held: Option<ReservationId>,
    /// What somebody agreed to let leave; there where the act has its row already, and was waiting.
    shown: Option<Value>,
    now: Timestamp,
}

impl Desk<'_, '_> {
    /// What a person approved is not lost to what passes by itself: it goes on waiting, until its approval expires.
    fn refuse(&mut self, refusal: Refusal) -> Result<(Begun, Untold)> {
        self.release()?;
        let was_waiting = self.shown.is_some();
        let waits = was_waiting && refusal.code.passes();
        if waits || !was_waiting {
            let most = self.policy.rates.refused_per_minute;
            if let Heard::Counted(again_at, untold) = refusals::hear(self.tx, self.proposal, most, self.now)?
            {
                let refusal = if waits { refusal } else { refusals::too_many(again_at) };
                return Ok((Begun::Refused(refusal), untold));
            }
        }
        if !waits {
            let stopped = Some((refusal.stage.as_str(), refusal.code.as_str()));
            self.write(&Decided { stopped, ..Decided::of(State::Refused) })?;
        }
        let untold = self.untold(Event::ACT_REFUSED, refused(&refusal));
        Ok((Begun::Refused(refusal), untold))
    }

    fn ask(&mut self, question: Question) -> Result<(Begun, Untold)> {
        self.release()?;
        let Some(tool) = self.proposal.tool.clone() else {
            return Err(Error::Invalid("there is no such tool".to_owned()));
        };
        let leaving = match tool.connector.maker {
            Maker::House => Some((*self.proposal.arguments).clone()),
            Maker::Foreign => self.policy.redaction.apply(&tool.spec, &self.proposal.arguments),
        };
        let Some(leaving) = leaving else {
            return Err(Error::Invalid("what may not leave was asked about".to_owned()));
        };
        let differs = (leaving != *self.proposal.arguments).then_some(&leaving);
        self.write(&Decided { leaving: differs, ..Decided::of(State::Waiting) })?;
        let approval = approvals::open(self.tx, self.office, &self.new_approval(&tool, question), self.now)?;
        let payload = json!({ "approval": approval.id, "reasons": approval.question.reasons });
        let untold = self.untold(Event::APPROVAL_ASKED, payload);
        // Trying it out would send what nobody has agreed to send.
        let may_leave = egress::of(self.proposal) == Egress::Allow;
        let rehearsal = (tool.spec.dry_run && may_leave).then(|| self.permit(&tool, leaving, Mode::Rehearse));
        Ok((Begun::Wait(Box::new(approval), rehearsal), untold))
    }

    fn new_approval(&self, tool: &Known, question: Question) -> NewApproval {
        NewApproval {
            act: self.proposal.act,
            kind: approvals::Kind::Act,
            tool: self.proposal.name.clone(),
            scope: tool.scope(&self.proposal.arguments),
            session: self.proposal.caller.session,
            asked_by: self.proposal.caller.principal.person,
            words: words::plain(&tool.spec, &self.proposal.arguments),
            question,
            digest: self.digest,
            hours: self.policy.approvals.hours,
        }
    }

    fn go(&mut self, cleared: Cleared, mode: Mode) -> Result<(Begun, Untold)> {
        let Some(tool) = self.proposal.tool.clone() else {
            return Err(Error::Invalid("there is no such tool".to_owned()));
        };
        if self.shown.as_ref().is_some_and(|shown| *shown != cleared.arguments) {
            let what =
                "What would be sent is no longer what was agreed to. Propose it anew, so that it is seen.";
            return self.refuse(Refusal::new(StageName::Redaction, Code::Outgrown, what));
        }
        if let Some(approval) = cleared.approval {
            approvals::take_up(self.tx, approval, self.now)?;
        }
        let state = if mode == Mode::Apply { State::Intended } else { State::Rehearsing };
        let leaving = (cleared.arguments != *self.proposal.arguments).then_some(&cleared.arguments);
        let lease = Some(self.now.plus(Office::lease(tool.spec.timeout)));
        self.write(&Decided { held: self.held, lease, leaving, ..Decided::of(state) })?;
        let mut permit = self.permit(&tool, cleared.arguments, mode);
        permit.reservation = self.held;
        let payload = json!({
            "arguments": self.digest.to_string(), "approval": cleared.approval, "autonomy": cleared.autonomy,
            "rehearsal": mode == Mode::Rehearse,
        });
        Ok((Begun::Go(permit), self.untold(Event::ACT_INTENDED, payload)))
    }

    fn permit(&self, tool: &Known, arguments: Value, mode: Mode) -> Permit {
        Permit {
            act: self.proposal.act,
            tenant: self.tx.tenant(),
            tool: tool.spec.name.clone(),
            effect: tool.spec.effect,
            arguments,
            mode,
            attempt: self.attempt,
            is_repeat: false,
            began_at: self.now,
            reservation: None,
            cost: tool.spec.cost,
            actor: speaker(self.proposal.caller.binding),
        }
    }

    fn release(&mut self) -> Result<()> {
        match self.held.take() {
            Some(held) => limits::release(self.tx, self.office, held),
            None => Ok(()),
        }
    }

    fn write(&mut self, decided: &Decided<'_>) -> Result<()> {
        if self.shown.is_some() {
            return row::take_up(self.tx, (self.proposal.act, self.attempt), decided, self.now);
        }
        row::insert(self.tx, self.proposal, self.digest, decided, self.now)
    }

    fn untold(&self, event: Event, payload: Value) -> Untold {
        untold(self.proposal, event, payload)
    }
}

/// Which agent it was: the binding through which it spoke.
pub(super) fn speaker(binding: Option<BindingId>) -> String {
    binding.map_or_else(|| "installation".to_owned(), |binding| binding.to_string())
}
