//! Runs as they are shown.

use munshi_store::{Cursor, Page, PageRequest, Result, Row, Tx, params, sql_in_both_orders};
use munshi_types::tier::Channel;
use munshi_types::{BindingId, Id, MessageId, PersonId, RunId, SessionId, Timestamp};
use serde::Serialize;

use super::{REASON, Run, RunCause};
use crate::columns::{read_enum, read_halt, read_optional_enum};
use crate::state::{HaltReason, RunState};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunView {
    pub id: RunId,
    pub kind: String,
    pub cause: RunCause,
    pub parent: Option<RunId>,
    /// None of these where it takes part in no conversation.
    pub session: Option<SessionId>,
    pub binding: Option<BindingId>,
    pub person: Option<PersonId>,
    pub message: Option<MessageId>,
    pub channel: Option<Channel>,
    pub state: RunState,
    pub halt: Option<HaltReason>,
    /// How often it was taken up.
    pub epoch: i64,
    pub reply: Option<MessageId>,
    pub cancel_asked: bool,
    pub began_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

impl From<Run> for RunView {
    fn from(run: Run) -> Self {
        Self {
            id: run.id,
            session: run.session(),
            binding: run.binding(),
            person: run.person(),
            message: run.conversation.as_ref().map(|conversation| conversation.message),
            channel: run.conversation.as_ref().map(|conversation| conversation.channel),
            kind: run.kind,
            cause: run.cause,
            parent: run.parent,
            state: run.state,
            halt: run.halt,
            epoch: run.epoch,
            reply: run.reply,
            cancel_asked: run.cancel_asked,
            began_at: run.began_at,
            ended_at: run.ended_at,
        }
    }
}

/// Which runs a list holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunFilter {
    #[default]
    All,
    Session(SessionId),
    State(RunState),
}

/// Newest first, or the other way round.
pub fn list(tx: &mut Tx<'_>, wanted: RunFilter, request: &PageRequest) -> Result<Page<RunView>> {
    let (time, id, fetch) = (request.after.time, request.after.id, request.fetch_limit());
    let rows = match wanted {
        RunFilter::All => tx.all(
            request.choose(sql_in_both_orders!(
                "SELECT id, session_id, binding_id, person_id, message_id, kind, channel, state, reason, epoch, reply_id,
                        cancel_asked, began_at, ended_at, cause, parent_id
                 FROM runs WHERE tenant_id = $1 AND (began_at, id) < ($2, $3)
                 ORDER BY began_at DESC, id DESC LIMIT $4"
            )),
            params![time, id, fetch],
            read,
        )?,
        RunFilter::Session(session) => tx.all(
            request.choose(sql_in_both_orders!(
                "SELECT id, session_id, binding_id, person_id, message_id, kind, channel, state, reason, epoch, reply_id,
                        cancel_asked, began_at, ended_at, cause, parent_id
                 FROM runs WHERE tenant_id = $1 AND (began_at, id) < ($2, $3) AND session_id = $5
                 ORDER BY began_at DESC, id DESC LIMIT $4"
            )),
            params![time, id, fetch, session],
            read,
        )?,
        RunFilter::State(state) => tx.all(
            request.choose(sql_in_both_orders!(
                "SELECT id, session_id, binding_id, person_id, message_id, kind, channel, state, reason, epoch, reply_id,
                        cancel_asked, began_at, ended_at, cause, parent_id
                 FROM runs WHERE tenant_id = $1 AND (began_at, id) < ($2, $3) AND state = $5
                 ORDER BY began_at DESC, id DESC LIMIT $4"
            )),
            params![time, id, fetch, state.as_str()],
            read,
        )?,
    };
    Ok(Page::from_rows(rows, request, |run| Cursor { time: run.began_at, id: run.id.as_uuid() }))
}

fn read(row: &Row<'_>) -> Result<RunView> {
    let id: RunId = row.get("id")?;
    Ok(RunView {
        id,
        session: row.get("session_id")?,
        binding: row.get("binding_id")?,
        person: row.get("person_id")?,
        message: row.get("message_id")?,
        kind: row.get("kind")?,
        cause: read_enum(row, "cause")?,
        parent: row.get("parent_id")?,
        channel: read_optional_enum(row, "channel")?,
        state: read_enum(row, "state")?,
        halt: read_halt(row, REASON.cell(id))?,
        epoch: row.get("epoch")?,
        reply: row.get("reply_id")?,
        cancel_asked: row.get("cancel_asked")?,
        began_at: row.get("began_at")?,
        ended_at: row.get("ended_at")?,
    })
}
