//! Handing the conversation on: checked against what the team allows, stored with the run, and gone on with from the next step.

use std::sync::Arc;
use std::time::{Duration, Instant};

use munshi_conversations::commit::{self, RunProgress};
use munshi_conversations::handoffs::{self, ActiveHandoff, HandoffBundle, HandoffRecord};
use munshi_conversations::human_requests::{self, HumanRequestState, NewHumanRequest};
use munshi_conversations::sessions::{self, Session};
use munshi_conversations::snapshot::{CallIndex, ExchangeCall, ExchangeCallOutcome};
use munshi_conversations::{
    Error, Result, RunEvent, RunSnapshot, RunState, runs, taint_bits, unanswered_requests,
};
use munshi_identity::persons;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::Tx;
use munshi_tiers::{ActivePlace, AddressResolution, precedence};
use munshi_types::tier::{Destination, Escalation, Opening, find_opening};
use munshi_types::{HAND_OVER, HandoffId, OutboundPurpose, ReplyAddress, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::journal::body;
use super::line_outlook::LineOutlook;
use super::notes::KnownActs;
use super::setup::TurnSetup;
use super::{Turn, callback_address};
use crate::engine::TurnEngineInner;
use crate::expired_approvals::find_conversation;
use crate::notify::{self, ConversationNotice};
use crate::phrases::log_unrendered;

/// In characters; what a model writes beyond that is cut.
const LONGEST_REASON: usize = 300;
const LONGEST_SUMMARY: usize = 1_500;
const MOST_QUESTIONS: usize = 10;
/// So many people are told at most.
const MOST_TOLD: usize = 5;
const MINUTE: Duration = Duration::from_secs(60);

/// As the model calls it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandOverArguments {
    to: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    open_questions: Vec<String>,
}

/// Why it is not done.
struct HandoffRefusal {
    code: &'static str,
    suggestion: String,
}

/// What is stored when it is.
struct HandoffPlan {
    destination: Destination,
    bundle: HandoffBundle,
    place: ActivePlace,
    /// How it looks to who asks for a person.
    line: Option<LineOutlook>,
}

impl TurnSetup {
    /// Whether it is ours: a connector's tool of that name goes the way of all tools.
    pub(super) fn is_hand_over(&self, called: &ExchangeCall) -> bool {
        called.tool == HAND_OVER && self.tool(HAND_OVER).is_none()
    }
}

impl Turn {
    /// Hands the conversation on where the team lets it. Says whether somebody else goes on with it from the next step.
    pub(super) async fn hand_over(
        &mut self,
        call_index: CallIndex,
        called: &ExchangeCall,
        acts: &mut KnownActs,
    ) -> Result<bool> {
        let begun = Instant::now();
        if acts.shown.insert(called.act) {
            self.reply.record_event(RunEvent::ToolCall {
                call: called.call_id.clone(),
                tool: called.tool.clone(),
                arguments: called.arguments.clone(),
            });
        }
        self.enter(RunState::Acting);
        self.setup.budget.wait_for_settlement().await;
        match self.plan_handoff(&called.arguments).await? {
            Ok(plan) => self.carry_out(call_index, plan, begun).await,
            Err(refusal) => {
                self.refuse_handoff(call_index, called, &refusal, begun).await?;
                Ok(false)
            }
        }
    }

    /// Where it would go, or why it may not.
    async fn plan_handoff(
        &self,
        arguments: &Value,
    ) -> Result<std::result::Result<HandoffPlan, HandoffRefusal>> {
        let team = &self.setup.binding.team.body;
        let ways: Vec<String> = precedence::list_destinations(team).iter().map(ToString::to_string).collect();
        let refuse = |code, suggestion: String| Ok(Err(HandoffRefusal { code, suggestion }));
        let asked = match HandOverArguments::deserialize(arguments) {
            Ok(asked) => asked,
            Err(error) => {
                return refuse("invalid_arguments", format!("{error}. Call it again with all it needs."));
            }
        };
        let destination =
            asked.to.parse::<Destination>().ok().filter(|to| precedence::can_hand_over(team, to));
        let Some(destination) = destination else {
            let known = if ways.is_empty() { "nobody".to_owned() } else { ways.join(", ") };
            let suggestion = format!("It may be handed to {known} and to nobody else. Go on yourself.");
            return refuse("not_allowed", suggestion);
        };
        if self.state.snapshot.is_read {
            let suggestion = "What was read here stays here. Go on yourself.".to_owned();
            return refuse("not_allowed", suggestion);
        }
        if self.is_superseded().await? {
            let suggestion =
                "Others go on with this conversation by now. Finish what you were asked for.".to_owned();
            return refuse("superseded", suggestion);
        }
        let Some(place) = self.find_destination(&destination).await? else {
            let suggestion = "Nobody is there any more. Say so, and go on yourself.".to_owned();
            return refuse("not_found", suggestion);
        };
        let bundle = HandoffBundle {
            reason: cut(&asked.reason, LONGEST_REASON),
            summary: cut(&asked.summary, LONGEST_SUMMARY),
            open_questions: asked
                .open_questions
                .iter()
                .take(MOST_QUESTIONS)
                .map(|one| cut(one, LONGEST_REASON))
                .collect(),
        };
        if destination == Destination::Person {
            return self.plan_for_person(bundle, place).await;
        }
        if self.state.snapshot.places.contains(&place) || place == self.setup.place() {
            let suggestion =
                "The conversation has just come from there: it would go round in a circle. Answer yourself.";
            return refuse("loop", suggestion.to_owned());
        }
        let (tenant, front) = (self.setup.tenant(), self.setup.conversation.binding);
        let person = self.setup.conversation.person.to_string();
        let resolver = &self.setup.engine.resolver;
        match resolver.resolve_handed_over(tenant, &place, front, Some(&person)).await? {
            AddressResolution::Bound(_) => Ok(Ok(HandoffPlan { destination, bundle, place, line: None })),
            _ => refuse("not_found", "Nobody is there any more. Say so, and go on yourself.".to_owned()),
        }
    }

    /// Whoever asked a moment ago is told so and no more. Those who are to be called back may leave more, and wait once people are there.
    async fn plan_for_person(
        &self,
        bundle: HandoffBundle,
        place: ActivePlace,
    ) -> Result<std::result::Result<HandoffPlan, HandoffRefusal>> {
        let now = self.setup.engine.clock.now();
        let (run, opening) = (self.setup.run.clone(), self.find_opening(now));
        let session = self.setup.conversation.session;
        let look = move |tx: &mut Tx<'_>| -> Result<_> {
            let outlook = LineOutlook {
                opening,
                waiting: human_requests::count_waiting(tx, session)?,
                wait: human_requests::estimate_wait(tx, now)?,
                is_unheard: list_told(tx, &run)?.is_empty(),
                is_listed: false,
            };
            Ok((outlook, human_requests::find_open(tx, session)?))
        };
        let (mut outlook, open) = self.setup.engine.db.read(self.setup.tenant(), look).await?;
        let active = self.setup.prepared.session.active.as_ref();
        if active.is_some_and(|active| active.was_just_asked(now)) {
            let listed = open.filter(|open| open.state == HumanRequestState::Callback);
            outlook.is_listed = opening != Opening::Open && listed.is_some();
            let is_new = |note: &str| !bundle.summary.is_empty() && bundle.summary != note;
            let may_ask = match &listed {
                Some(open) => !outlook.is_listed || is_new(open.note.as_deref().unwrap_or_default()),
                None => false,
            };
            if !may_ask {
                let suggestion = "A person has been told already. Say that they know, and go on.".to_owned();
                return Ok(Err(HandoffRefusal { code: "handed_on", suggestion }));
            }
        }
        Ok(Ok(HandoffPlan { destination: Destination::Person, bundle, place, line: Some(outlook) }))
    }

    /// Whether people of the team are there, by its hours and the tenant's clock.
    fn find_opening(&self, now: Timestamp) -> Opening {
        let escalation = &self.setup.binding.team.body.escalation;
        find_opening(&escalation.hours, &escalation.holidays, (now, &self.setup.binding.zone))
    }

    /// Whether others have the conversation by now. Where they are gone it is this team's again.
    async fn is_superseded(&self) -> Result<bool> {
        let by_now = self.setup.prepared.session.place();
        if by_now == self.setup.place() {
            return Ok(false);
        }
        let (tenant, front) = (self.setup.tenant(), self.setup.conversation.binding);
        let person = self.setup.conversation.person.to_string();
        let found =
            self.setup.engine.resolver.resolve_handed_over(tenant, &by_now, front, Some(&person)).await?;
        Ok(matches!(found, AddressResolution::Bound(_)))
    }

    /// None where it leads nowhere.
    async fn find_destination(&self, to: &Destination) -> Result<Option<ActivePlace>> {
        let here = self.setup.place();
        Ok(match to {
            Destination::Person => Some(here),
            Destination::Team(team) => {
                let is_own = self.setup.binding.binding.team == *team;
                Some(ActivePlace { team: (!is_own).then(|| team.clone()), ..here })
            }
            Destination::Binding(name) => {
                let tenant = &self.setup.binding.tenant_name;
                let person = self.setup.conversation.person.to_string();
                match self.setup.engine.resolver.resolve_by_name(tenant, name, Some(&person)).await? {
                    AddressResolution::Bound(found) => {
                        Some(ActivePlace { binding: found.binding_id, team: None })
                    }
                    _ => None,
                }
            }
        })
    }

    async fn carry_out(&mut self, call_index: CallIndex, plan: HandoffPlan, begun: Instant) -> Result<bool> {
        let (from, now) = (self.setup.binding.team.body.name.clone(), self.setup.engine.clock.now());
        let id: HandoffId = self.setup.engine.ids.next();
        let moves = plan.destination != Destination::Person;
        let tainted = taint_bits::bits(&self.state.snapshot.whole_taint().sources);
        let active = ActiveHandoff {
            handoff: id,
            place: plan.place.clone(),
            from: from.clone(),
            bundle: plan.bundle.clone(),
            tainted,
            awaits_person: !moves,
            at: now,
        };
        let handoff = HandoffRecord {
            id,
            session: self.setup.conversation.session,
            run: Some(self.setup.lease.run),
            person: None,
            destination: plan.destination.to_string(),
            from: self.setup.place(),
            to: plan.place.clone(),
            bundle: plan.bundle.clone(),
            entities: serde_json::to_value(&self.state.entities).unwrap_or_default(),
            at: now,
        };
        let mut result = json!({ "ok": true, "result": {
            "handed_over_to": handoff.destination, "from": from, "reason": plan.bundle.reason,
            "summary": plan.bundle.summary, "open_questions": plan.bundle.open_questions,
        }});
        if let Some(outlook) = &plan.line {
            result["result"]["line"] = outlook.describe(&self.setup.binding.zone);
        }
        self.end_call(call_index, true, result, begun);
        // Of two in one wish the first counts.
        self.state.snapshot.supersede_open(HAND_OVER);
        if moves {
            self.reply.finish();
        }
        self.sync();
        if moves {
            // What the rules of this team let through, and no more: those of the next may be others.
            self.state.snapshot.said = self.reply.text().to_owned();
            if self.state.snapshot.places.is_empty() {
                self.state.snapshot.places.push(self.setup.place());
            }
            self.state.snapshot.places.push(plan.place.clone());
            self.state.snapshot.place = Some(plan.place);
        }
        self.store_handoff(handoff, active.clone(), plan.line).await?;
        (self.setup.prepared.session.handoff, self.setup.prepared.session.active) = (Some(id), Some(active));
        Ok(moves)
    }

    /// With the run's own record, in one transaction. A rehearsal changes nothing but its own.
    async fn store_handoff(
        &mut self,
        handoff: HandoffRecord,
        active: ActiveHandoff,
        line: Option<LineOutlook>,
    ) -> Result<()> {
        let lease = self.setup.lease;
        let (steps, calls) = (std::mem::take(&mut self.state.steps), self.setup.call_log.take());
        let mut stored = StoredHandoff {
            engine: self.setup.engine.clone(),
            run: self.setup.run.clone(),
            snapshot: self.state.snapshot.clone(),
            is_rehearsal: self.setup.run.kind == runs::REHEARSAL,
            from: self.setup.binding.binding_id.to_string(),
            handoff,
            before: self.setup.prepared.session.handoff,
            active,
            is_callback: line.is_some_and(|line| line.opening != Opening::Open),
            given: callback_address::find_given(&self.setup.prepared),
            is_told: line.is_some_and(|line| line.is_listed),
            escalation: self.setup.binding.team.body.escalation.clone(),
        };
        let unit = move |tx: &mut Tx<'_>| {
            if !stored.is_rehearsal {
                stored.apply(tx)?;
            }
            let (state, snapshot) = (RunState::Observing, &stored.snapshot);
            let progress = RunProgress {
                lease,
                person: stored.run.person(),
                state,
                snapshot,
                steps: &steps,
                calls: &calls,
            };
            commit::save_progress(tx, &progress)?;
            if !stored.is_rehearsal {
                stored.audit(tx)?;
            }
            Ok(())
        };
        self.setup.engine.db.write(lease.tenant, unit).await
    }

    /// The model is told why, and the refusal stands in the audit.
    async fn refuse_handoff(
        &mut self,
        call_index: CallIndex,
        called: &ExchangeCall,
        refusal: &HandoffRefusal,
        begun: Instant,
    ) -> Result<()> {
        let result = json!({ "ok": false, "code": refusal.code, "retryable": false, "suggestion": refusal.suggestion });
        self.end_call(call_index, false, result, begun);
        self.state.snapshot.denials += 1;
        self.sync();
        let (lease, snapshot, engine) =
            (self.setup.lease, self.state.snapshot.clone(), self.setup.engine.clone());
        let (steps, calls) = (std::mem::take(&mut self.state.steps), self.setup.call_log.take());
        let entry = NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::Agent, self.setup.binding.binding_id.to_string()),
            event: AuditEvent::HANDOFF_REFUSED,
            subject: self.setup.conversation.session.to_string(),
            payload: json!({ "run": lease.run, "to": cut(called.arguments["to"].as_str().unwrap_or_default(), 80),
                             "code": refusal.code }),
        };
        let is_rehearsal = self.setup.run.kind == runs::REHEARSAL;
        let person = self.setup.run.person();
        let unit = move |tx: &mut Tx<'_>| {
            let progress = RunProgress {
                lease,
                person,
                state: RunState::Observing,
                snapshot: &snapshot,
                steps: &steps,
                calls: &calls,
            };
            commit::save_progress(tx, &progress)?;
            if !is_rehearsal {
                audit::append(tx, &entry, engine.clock.now(), &engine.ids)?;
            }
            Ok(())
        };
        self.setup.engine.db.write(lease.tenant, unit).await
    }

    fn end_call(&mut self, call_index: CallIndex, ok: bool, result: Value, begun: Instant) {
        let ended = ExchangeCallOutcome::Ended { ok, result: result.clone() };
        let Some(called) = self.state.snapshot.set_outcome(call_index, ended) else { return };
        self.state.snapshot.note_progress(self.setup.lease.epoch);
        self.step(RunState::Observing, body(&called), begun.elapsed());
        self.reply.record_event(RunEvent::ToolResult {
            call: called.call_id,
            tool: called.tool,
            ok,
            result,
            undo: None,
        });
    }
}

impl TurnSetup {
    /// Where the conversation is in this turn.
    pub(crate) fn place(&self) -> ActivePlace {
        let front = ActivePlace { binding: self.conversation.binding, team: None };
        self.binding.place.clone().unwrap_or(front)
    }
}

/// What a handing on writes beside the run's own record.
struct StoredHandoff {
    engine: Arc<TurnEngineInner>,
    run: runs::Run,
    snapshot: RunSnapshot,
    is_rehearsal: bool,
    /// The binding that hands it on.
    from: String,
    handoff: HandoffRecord,
    /// The handing on before this one.
    before: Option<HandoffId>,
    active: ActiveHandoff,
    /// Nobody of the business is there now.
    is_callback: bool,
    /// Where they said themselves that they are reached.
    given: Option<ReplyAddress>,
    /// People were told a moment ago.
    is_told: bool,
    /// The rules of the team that asks for a person.
    escalation: Escalation,
}

impl StoredHandoff {
    /// In the session as it is by now, and in those of the people who are told: one order for all who hold several. What was
    /// merged or moved meanwhile is tried anew from its beginning.
    fn apply(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let current = sessions::find_current(tx, self.handoff.session)?.ok_or(Error::NoRun)?;
        let (own, by) = (current.id, persons::seal_by_person(tx, current.person)?);
        self.handoff.session = own;
        let tells = self.active.awaits_person && !self.is_told;
        let mut told = if tells { list_told(tx, &self.run)? } else { Vec::new() };
        told.sort_by_key(|session| session.id);
        let (before, after): (Vec<_>, Vec<_>) = told.into_iter().partition(|session| session.id < own);
        before.iter().try_for_each(|session| self.tell(tx, session))?;
        if !handoffs::apply(tx, (&self.handoff, by), self.before, Some(&self.active))? {
            return Err(
                munshi_store::Error::Busy("the conversation is moved by somebody else".to_owned()).into()
            );
        }
        if self.active.awaits_person {
            // Somebody may have taken it over since it was read: behind its lock it stays as it is.
            let held = sessions::find(tx, own)?.ok_or(Error::NoRun)?;
            self.join_line(tx, &held)?;
        }
        after.iter().try_for_each(|session| self.tell(tx, session))
    }

    /// Whoever asked for a person waits in the line for one.
    fn join_line(&self, tx: &mut Tx<'_>, session: &Session) -> Result<()> {
        let request = NewHumanRequest {
            id: self.engine.ids.next(),
            run: Some(self.run.id),
            team: Some(self.active.from.clone()),
            reason: self.active.bundle.reason.clone(),
            is_callback: self.is_callback,
            callback_to: match self.is_callback {
                true => callback_address::find(tx, session, self.given.as_ref())?,
                false => None,
            },
            note: (self.is_callback && !self.active.bundle.summary.is_empty())
                .then(|| self.active.bundle.summary.clone()),
            now: self.handoff.at,
        };
        let open = human_requests::add(tx, session, &request)?;
        let within = self.escalation.answer_within.filter(|_| !self.is_callback);
        if let (Some(open), Some(minutes)) = (open, within) {
            let (queue, to) = (&self.engine.ingest_services.queue, self.escalation.unanswered.as_ref());
            let at = self.handoff.at.plus(MINUTE * u32::from(minutes));
            unanswered_requests::enqueue_look(tx, queue, (open, to), at)?;
        }
        Ok(sessions::touch(tx, session.id, self.handoff.at)?)
    }

    fn tell(&self, tx: &mut Tx<'_>, session: &Session) -> Result<()> {
        let voice = notify::find_voice(tx, session)?;
        let phrase = self.engine.phrasebook.render("handed-to-you", voice, &[]);
        let words = log_unrendered(phrase, "handed-to-you").unwrap_or_default();
        let bundle = &self.active.bundle;
        let lines = [words.as_str(), &bundle.reason, &bundle.summary].into_iter();
        let lines =
            lines.chain(bundle.open_questions.iter().map(String::as_str)).filter(|line| !line.is_empty());
        let text = lines.collect::<Vec<_>>().join("\n");
        let tainted = taint_bits::sources(self.active.tainted);
        let purpose = OutboundPurpose::Alert;
        let notice = ConversationNotice { text, tainted, purpose, ..ConversationNotice::default() };
        notify::post_notice(tx, &self.engine, session, self.run.id, notice)
    }

    fn audit(&self, tx: &mut Tx<'_>) -> Result<()> {
        let HandoffRecord { id, session, destination, from, to, .. } = &self.handoff;
        let entry = NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::Agent, self.from.clone()),
            event: AuditEvent::CONVERSATION_HANDED_OVER,
            subject: session.to_string(),
            payload: json!({ "handoff": id, "run": self.run.id, "destination": destination, "from": from, "to": to }),
        };
        audit::append(tx, &entry, self.engine.clock.now(), &self.engine.ids)?;
        Ok(())
    }
}

/// The conversations of those who are told: of the lowest role that is met anywhere, viewers aside. Never the customer's own.
fn list_told(tx: &mut Tx<'_>, run: &runs::Run) -> Result<Vec<Session>> {
    let mut members = persons::list_members(tx)?;
    members.retain(|person| {
        person.role != Some(munshi_identity::Role::Viewer) && Some(person.id) != run.person()
    });
    members.reverse();
    let mut told: Vec<(Option<munshi_identity::Role>, Session)> = Vec::new();
    for member in members {
        if told.len() >= MOST_TOLD || told.last().is_some_and(|(role, _)| *role != member.role) {
            break;
        }
        if let Some(session) = find_conversation(tx, run, member.id)? {
            told.push((member.role, session));
        }
    }
    Ok(told.into_iter().map(|(_, session)| session).collect())
}

fn cut(text: &str, longest: usize) -> String {
    text.trim().chars().take(longest).collect()
}
