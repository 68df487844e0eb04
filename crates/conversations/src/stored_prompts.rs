//! Prompts of models' calls, for tenants whose policy keeps them: what a model was told is read back while somebody finds out why it said
//! what it said.
//!
//! They are sealed by the key of the run's person, and go with the run's words, with the person, and after the policy's days.

use std::sync::Arc;

use munshi_llm::gateway::{CallRecord, PromptRecord, PromptText};
use munshi_store::{
    Cursor, Page, PageRequest, Result, Row, SealedBy, SealedColumn, Tx, params, sql_in_both_orders,
};
use munshi_types::{CallId, Id, RunId, Timestamp};
use serde::Serialize;
use uuid::Uuid;

use crate::columns::read_optional_sealed_json;

pub(crate) const BODY: SealedColumn = SealedColumn::new("stored_prompts", "body").forgotten_as_null();

/// A prompt as it is read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredPrompt {
    /// The first attempt that it was sent with; others of the same call were sent the same.
    pub call: CallId,
    pub at: Timestamp,
    #[serde(flatten)]
    pub text: PromptText,
}

/// Keeps the prompts of these calls, where they bring their text along: once for all attempts of a call.
pub(crate) fn add(tx: &mut Tx<'_>, (run, by): (RunId, SealedBy), calls: &[CallRecord]) -> Result<()> {
    let mut before: Option<&Arc<PromptRecord>> = None;
    for call in calls {
        let Some(prompt) = &call.prompt else { continue };
        let is_same = before.is_some_and(|before| Arc::ptr_eq(before, prompt));
        before = Some(prompt);
        let Some(text) = prompt.text.as_ref().filter(|_| !is_same) else { continue };
        let body = tx.seal_json(by, BODY.cell(call.id), text)?;
        tx.send(
            "INSERT INTO stored_prompts (tenant_id, call_id, run_id, body, stored_at) VALUES ($1, $2, $3, $4, $5)",
            params![call.id, run, body, call.started_at],
        )?;
    }
    Ok(())
}

/// Those of one run, newest first or the other way round.
pub fn list(tx: &mut Tx<'_>, run: RunId, request: &PageRequest) -> Result<Page<StoredPrompt>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT call_id, body, stored_at FROM stored_prompts
             WHERE tenant_id = $1 AND run_id = $2 AND (stored_at, call_id) < ($3, $4)
             ORDER BY stored_at DESC, call_id DESC LIMIT $5"
        )),
        params![run, request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |prompt| Cursor { time: prompt.at, id: prompt.call.as_uuid() }))
}

/// All of one run, in their order.
pub fn list_all(tx: &mut Tx<'_>, run: RunId) -> Result<Vec<StoredPrompt>> {
    tx.all(
        "SELECT call_id, body, stored_at FROM stored_prompts WHERE tenant_id = $1 AND run_id = $2
         ORDER BY stored_at, call_id",
        params![run],
        read,
    )
}

/// With the words of its run.
pub(crate) fn erase_of_run(tx: &mut Tx<'_>, run: Uuid) -> Result<()> {
    tx.send("DELETE FROM stored_prompts WHERE tenant_id = $1 AND run_id = $2", params![run])
}

/// Deletes some that are older, and says how many.
pub(crate) fn expire(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64> {
    tx.execute(
        "DELETE FROM stored_prompts WHERE tenant_id = $1 AND call_id IN (
           SELECT call_id FROM stored_prompts WHERE tenant_id = $1 AND stored_at < $2
           ORDER BY stored_at, call_id LIMIT $3)",
        params![before, limit],
    )
}

/// Deletes some, however old they are: the tenant keeps none any more.
pub(crate) fn remove_some(tx: &mut Tx<'_>, limit: u32) -> Result<u64> {
    tx.execute(
        "DELETE FROM stored_prompts WHERE tenant_id = $1 AND call_id IN (
           SELECT call_id FROM stored_prompts WHERE tenant_id = $1 ORDER BY stored_at, call_id LIMIT $2)",
        params![limit],
    )
}

/// One whose key was destroyed is as good as gone.
fn read(row: &Row<'_>) -> Result<StoredPrompt> {
    let call: CallId = row.get("call_id")?;
    let text: Option<PromptText> = read_optional_sealed_json(row, "body", BODY.cell(call))?;
    Ok(StoredPrompt { call, at: row.get("stored_at")?, text: text.unwrap_or_else(PromptText::withheld) })
}
