//! Somebody asked for a human, and nobody came in time: they are told, and the conversation goes on by the rule of its
//! team.

use std::sync::Arc;

use munshi_jobs::{Job, JobFailure, JobKind, JobQueue, JobRegistry, NewJob};
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::{Db, Tx};
use munshi_types::tier::{Destination, TierName};
use munshi_types::{Clock, HumanRequestId, IdGenerator, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::Result;
use crate::handoffs::{self, ManualHandoff, ManualHandoffOutcome};
use crate::sessions::Session;
use crate::{human_requests, sessions};

pub const KIND: &str = "human_requests.unanswered";

#[derive(Serialize, Deserialize)]
struct Payload {
    request: HumanRequestId,
    /// The team that takes over; none where the agent goes on.
    to: Option<TierName>,
}

/// Has it looked at a request when its time is over.
pub fn enqueue_look(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    (request, to): (HumanRequestId, Option<&TierName>),
    at: Timestamp,
) -> Result<()> {
    let job = NewJob::new(KIND, &Payload { request, to: to.cloned() })?.run_at(at);
    queue.enqueue(tx, &job.unique(request.to_string()))?;
    Ok(())
}

/// Says in a conversation that nobody came, in the name of the turn that asked for somebody.
pub type NobodyCameNotice = Arc<dyn Fn(&mut Tx<'_>, &Session, RunId) -> Result<()> + Send + Sync>;

/// The job that goes on with conversations to which nobody came.
#[derive(Clone)]
pub struct UnansweredRequestJob {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
    pub notice: NobodyCameNotice,
}

impl UnansweredRequestJob {
    pub fn install(&self, registry: &mut JobRegistry) {
        let looking = self.clone();
        registry.add(JobKind::new(KIND).limit(2), move |job| {
            let looking = looking.clone();
            async move { looking.run(&job).await }
        });
    }

    async fn run(&self, job: &Job) -> std::result::Result<(), JobFailure> {
        let (payload, now) = (job.read::<Payload>()?, self.clock.now());
        let looking = self.clone();
        let unit = move |tx: &mut Tx<'_>| looking.give_up(tx, &payload, now);
        Ok(self.db.write(job.tenant, unit).await?)
    }

    /// Takes a request out of the line that still waits in it, and tells whoever waited. Done again it finds none.
    fn give_up(&self, tx: &mut Tx<'_>, payload: &Payload, now: Timestamp) -> Result<()> {
        let Some(request) = human_requests::find(tx, payload.request)? else { return Ok(()) };
        // The session before the request, as whoever takes it over does.
        sessions::touch(tx, request.session, now)?;
        if !human_requests::expire(tx, request.id, now)? {
            return Ok(());
        }
        let Some(session) = sessions::find_current(tx, request.session)? else { return Ok(()) };
        let went_to = match &payload.to {
            Some(team) => hand_to_team(tx, &self.ids, (&session, team), now)?,
            None => false,
        };
        if !went_to {
            handoffs::stop_awaiting(tx, &session)?;
        }
        if let Some(run) = request.run {
            (self.notice)(tx, &session, run)?;
        }
        let entry = NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::System, "line".to_owned()),
            event: AuditEvent::HUMAN_REQUEST_EXPIRED,
            subject: session.id.to_string(),
            payload: json!({ "request": request.id, "team": payload.to.as_ref().filter(|_| went_to) }),
        };
        audit::append(tx, &entry, now, &self.ids)?;
        Ok(())
    }
}

/// False where the team where it is may not hand it there.
pub fn hand_to_team(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    (session, team): (&Session, &TierName),
    now: Timestamp,
) -> Result<bool> {
    let active = session.active.clone();
    let wanted = ManualHandoff {
        id: ids.next(),
        person: None,
        // What was written down may hold others' words still.
        is_program: active.as_ref().is_some_and(|active| active.tainted != 0),
        to: Some(Destination::Team(team.clone())),
        bundle: active.map(|active| active.bundle).unwrap_or_default(),
        now,
    };
    Ok(matches!(handoffs::hand_over(tx, session, &wanted)?, ManualHandoffOutcome::Done(_)))
}
