//! What is done for conversations that a colleague has in hand: an answer is proposed to them where their team wants that, and whoever
//! they leave waiting is not left alone.

use std::time::Duration;

use munshi_conversations::human_requests::{self, NewHumanRequest};
use munshi_conversations::session_waits::{
    self, DRAFT_KIND, HeldConversation, HeldDraft, HeldWait, HeldWork,
};
use munshi_conversations::sessions::{self, Session};
use munshi_conversations::{Error, Result, holds, messages, unanswered_holds, unanswered_requests};
use munshi_jobs::{Job, JobFailure, JobKind, JobLease, JobRegistry};
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::Tx;
use munshi_types::tier::Escalation;
use munshi_types::{RunId, TenantId, Timestamp};
use serde_json::json;

use crate::engine::{TurnEngine, TurnEngineInner};
use crate::notify::{self, ConversationNotice};
use crate::phrases::log_unrendered;
use crate::reply_draft::ReplyDraftOutcome;

const MINUTE: Duration = Duration::from_secs(60);

/// The rules of the team that a conversation is with.
#[derive(Clone)]
struct TeamRules {
    team: String,
    escalation: Escalation,
}

impl TurnEngine {
    /// Teaches a runner to look after conversations that somebody has in hand.
    pub(crate) fn install_held_conversations(&self, registry: &mut JobRegistry) {
        let engine = self.clone();
        registry.add(JobKind::new(DRAFT_KIND).limit(2), move |job| {
            let engine = engine.clone();
            async move { engine.draft_for_colleague(&job).await }
        });
        let engine = self.clone();
        registry.add(JobKind::new(unanswered_holds::KIND).limit(2), move |job| {
            let engine = engine.clone();
            async move { engine.look_at_hold(&job).await }
        });
    }

    /// Proposes an answer to what came, unless it was answered meanwhile. What comes while it is made has another made.
    async fn draft_for_colleague(&self, job: &Job) -> std::result::Result<(), JobFailure> {
        let (inner, held) = (&self.inner, job.read::<HeldConversation>()?);
        let wait = inner.find_wait(job.tenant, held).await?;
        let said = wait.map(|wait| wait.messages);
        let rules = inner.find_rules(job.tenant, held).await?;
        let wants = rules.is_some_and(|rules| rules.escalation.held_drafts);
        let Some(wait) = wait.filter(|_| wants) else {
            return Ok(inner.end_held_job(job, held, (HeldWork::Draft, said)).await?);
        };
        let draft = match self.draft_reply(job.tenant, wait.session).await? {
            ReplyDraftOutcome::Written { text, after } => HeldDraft { text, after },
            // Whoever has it in hand may ask for one themselves, and is told why there is none.
            other => {
                tracing::debug!(session = %wait.session, ?other, "no draft for a held conversation");
                return Ok(inner.end_held_job(job, held, (HeldWork::Draft, said)).await?);
            }
        };
        let held = HeldConversation { session: wait.session, ..held };
        let (queue, lease, now) = (inner.ingest_services.queue.clone(), job.lease, inner.clock.now());
        let keep = move |tx: &mut Tx<'_>| -> Result<()> {
            let Some(session) = sessions::find(tx, held.session)? else { return Ok(()) };
            let is_kept = session_waits::keep_draft(tx, (&session, held), &draft, (wait.messages, now))?;
            // Behind the session, as whoever stores a message: what comes from here on finds no job that is under way.
            lease.complete(tx, now)?;
            match is_kept {
                true => Ok(()),
                false => session_waits::enqueue_draft(tx, &queue, held, now),
            }
        };
        Ok(inner.db.write(job.tenant, keep).await?)
    }

    /// Looks whether the team's time is over for whoever waits, and comes again when it will be.
    async fn look_at_hold(&self, job: &Job) -> std::result::Result<(), JobFailure> {
        let (inner, held) = (self.inner.clone(), job.read::<HeldConversation>()?);
        let said = inner.find_wait(job.tenant, held).await?.map(|wait| wait.messages);
        let rules = inner.find_rules(job.tenant, held).await?;
        let within = rules.as_ref().and_then(|rules| rules.escalation.answer_within);
        let (Some(rules), Some(minutes)) = (rules, within) else {
            return Ok(inner.end_held_job(job, held, (HeldWork::Look, said)).await?);
        };
        let (lease, within, db) = (job.lease, MINUTE * u32::from(minutes), inner.db.clone());
        let look = move |tx: &mut Tx<'_>| -> Result<()> {
            let now = inner.clock.now();
            let (held, wait) = session_waits::lock(tx, held)?;
            // Behind the session: whoever writes from here on finds no job under way, and has another one made.
            let Some(wait) = wait else { return Ok(lease.complete(tx, now)?) };
            let due = wait.since.max(wait.held_at).plus(within);
            if now < due {
                return look_again(tx, &inner, (lease, held), (due, now));
            }
            inner.give_up_hold(tx, (held, &wait), &rules, now)
        };
        Ok(db.write(job.tenant, look).await?)
    }
}

fn look_again(
    tx: &mut Tx<'_>,
    inner: &TurnEngineInner,
    (lease, held): (JobLease, HeldConversation),
    (due, now): (Timestamp, Timestamp),
) -> Result<()> {
    lease.complete(tx, now)?;
    unanswered_holds::enqueue_look_at(tx, &inner.ingest_services.queue, held, due)
}

impl TurnEngineInner {
    /// None where the conversation or whoever answers in it is gone.
    async fn find_rules(&self, tenant: TenantId, held: HeldConversation) -> Result<Option<TeamRules>> {
        let found = match self.find_draft_place(tenant, held.session).await {
            Err(Error::NoRun) => None,
            found => found?,
        };
        Ok(found.map(|(_, binding)| {
            let team = &binding.team.body;
            TeamRules { team: team.name.clone(), escalation: team.escalation.clone() }
        }))
    }

    /// Who waits there for the colleague, in the session as it is by now.
    async fn find_wait(&self, tenant: TenantId, held: HeldConversation) -> Result<Option<HeldWait>> {
        let find = move |tx: &mut Tx<'_>| -> munshi_store::Result<_> {
            let Some(session) = sessions::find_current(tx, held.session)? else { return Ok(None) };
            session_waits::find(tx, HeldConversation { session: session.id, ..held })
        };
        Ok(self.db.read(tenant, find).await?)
    }

    /// Ends a job that found nothing to do; `work` is what it does, and how much had been said when it looked.
    async fn end_held_job(
        &self,
        job: &Job,
        held: HeldConversation,
        work: (HeldWork, Option<i64>),
    ) -> Result<()> {
        let (lease, now, queue) = (job.lease, self.clock.now(), self.ingest_services.queue.clone());
        let end = move |tx: &mut Tx<'_>| session_waits::end_job(tx, &queue, (lease, held), work, now);
        self.db.write(job.tenant, end).await
    }

    /// Takes a conversation from a colleague who leaves somebody waiting: the visitor is told, it goes on by the rule of its team, and the
    /// team is told that somebody still has to come. Done again it finds nobody waiting.
    fn give_up_hold(
        &self,
        tx: &mut Tx<'_>,
        (held, wait): (HeldConversation, &HeldWait),
        rules: &TeamRules,
        now: Timestamp,
    ) -> Result<()> {
        let Some(session) = sessions::find(tx, held.session)? else { return Ok(()) };
        let newest = messages::list_newest(tx, session.id, wait.messages, 1)?;
        let run = newest.last().map(|last| last.run);
        // Before it is given back: what we say by ourselves is no answer to them.
        if let Some(run) = run {
            self.tell_left_alone(tx, &session, run)?;
        }
        unanswered_holds::expire_request(tx, session.id, now)?;
        holds::give_back(tx, session.id, held.hold, now)?;
        let session = sessions::find(tx, session.id)?.ok_or(Error::NoRun)?;
        let request = NewHumanRequest {
            id: self.ids.next(),
            run,
            team: Some(rules.team.clone()),
            reason: self.render_for(tx, &session, "left-waiting")?,
            // Whoever comes may come late: the conversation goes on until then.
            is_callback: true,
            callback_to: session.reply_to.clone(),
            note: None,
            now,
        };
        human_requests::add(tx, &session, &request)?;
        let went_to = match &rules.escalation.unanswered {
            Some(team) => unanswered_requests::hand_to_team(tx, &self.ids, (&session, team), now)?,
            None => false,
        };
        let team = rules.escalation.unanswered.as_ref().filter(|_| went_to);
        let entry = NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::System, "line".to_owned()),
            event: AuditEvent::HOLD_EXPIRED,
            subject: session.id.to_string(),
            payload: json!({ "hold": held.hold, "held_by": wait.colleague, "request": request.id, "team": team }),
        };
        audit::append(tx, &entry, now, &self.ids)?;
        Ok(())
    }

    fn tell_left_alone(&self, tx: &mut Tx<'_>, session: &Session, run: RunId) -> Result<()> {
        let text = self.render_for(tx, session, "left-alone")?;
        let notice = ConversationNotice { text, ..ConversationNotice::default() };
        notify::post_notice(tx, self, session, run, notice)
    }

    fn render_for(&self, tx: &mut Tx<'_>, session: &Session, phrase: &'static str) -> Result<String> {
        let voice = notify::find_voice(tx, session)?;
        let rendered = self.phrasebook.render(phrase, voice, &[]);
        Ok(log_unrendered(rendered, phrase).unwrap_or_default())
    }
}
