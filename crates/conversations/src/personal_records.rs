//! What conversations say of somebody, told to them: one record a row, without what is only of use to the program.

use munshi_llm::gateway::PromptTextRole;
use munshi_store::{Result, Tx, params};
use munshi_types::{HandoffId, MessageId, RunId, SessionId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::columns::read_optional_sealed_json;
use crate::messages::Message;
use crate::stored_prompts::StoredPrompt;
use crate::{client_context, handoffs, messages, runs, sessions, steps, stored_prompts};

pub(crate) fn show_message(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    Ok(messages::find(tx, MessageId::from_uuid(id))?.as_ref().map(describe_message))
}

/// The same for one from the archive.
pub fn describe_message(message: &Message) -> Value {
    json!({
        "conversation": message.session,
        "number": message.number,
        "speaker": message.speaker.as_str(),
        "channel": message.channel,
        "message_id": message.outside_id,
        "text": message.text,
        "attachments": message.attached,
        "suggestions": message.suggestions,
        "language": message.language,
        "said_at": message.said_at,
    })
}

pub(crate) fn show_handoff(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let found = handoffs::find(tx, HandoffId::from_uuid(id))?;
    Ok(found.map(|handoff| {
        json!({
            "conversation": handoff.session,
            "destination": handoff.destination,
            "reason": handoff.bundle.reason,
            "summary": handoff.bundle.summary,
            "open_questions": handoff.bundle.open_questions,
            "entities": handoff.entities,
            "at": handoff.at,
        })
    }))
}

pub(crate) fn show_run(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let id = RunId::from_uuid(id);
    let Some(run) = runs::find_without_snapshot(tx, id)? else { return Ok(None) };
    Ok(Some(json!({
        "conversation": run.session(),
        "kind": run.kind,
        "cause": run.cause,
        "state": run.state,
        "result": find_result(tx, id)?,
        "steps": steps::list(tx, id)?,
        "prompts": list_prompts(tx, id)?,
        "brought_along": client_context::find(tx, id)?,
        "began_at": run.began_at,
        "ended_at": run.ended_at,
    })))
}

/// What models were told of the conversation, without what the business tells each of them.
fn list_prompts(tx: &mut Tx<'_>, run: RunId) -> Result<Vec<StoredPrompt>> {
    let mut prompts = stored_prompts::list_all(tx, run)?;
    for prompt in &mut prompts {
        prompt.text.messages.retain(|message| message.role != PromptTextRole::System);
    }
    Ok(prompts)
}

fn find_result(tx: &mut Tx<'_>, run: RunId) -> Result<Option<Value>> {
    let found =
        tx.optional("SELECT result FROM runs WHERE tenant_id = $1 AND id = $2", params![run], |row| {
            read_optional_sealed_json(row, "result", runs::RESULT.cell(run))
        })?;
    Ok(found.flatten())
}

pub(crate) fn show_session(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let found = sessions::find(tx, SessionId::from_uuid(id))?;
    Ok(found.map(|session| {
        json!({
            "binding": session.binding,
            "channel": session.channel,
            "language": session.language,
            "summary": session.whole_summary(),
            "entities": session.entities,
            "merged_into": session.merged_into,
            "began_at": session.began_at,
            "last_at": session.last_at,
        })
    }))
}
