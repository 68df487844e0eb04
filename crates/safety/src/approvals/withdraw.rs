//! Taking a question back: whoever asked for the act no longer wants it, so no later yes may do it.

use munshi_store::{Tx, params};
use munshi_types::{ApprovalId, Timestamp};
use serde_json::json;

use super::{ApprovalKind, store};
use crate::acts::{self, DeferredAuditEntries};
use crate::audit::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::error::Result;

/// What stands in the place of a channel where nobody said no, but the question was taken back.
pub const WITHDRAWN: &str = "withdrawn";

/// Ends a question that waits, or whose yes nobody has made use of yet, and drops its act. None where there is nothing
/// to take back: it was refused, has expired, or the act was begun. Whether something happened is still asked.
pub fn withdraw(
    tx: &mut Tx<'_>,
    id: ApprovalId,
    reason: &str,
    now: Timestamp,
) -> Result<Option<DeferredAuditEntries>> {
    let Some(approval) = store::find(tx, id)?.filter(|approval| approval.kind == ApprovalKind::Act) else {
        return Ok(None);
    };
    let withdrawn = tx.execute(
        "UPDATE approvals SET state = 'refused', covers = 'act', answered_by = NULL, answered_via = $3, answered_at = $4
         WHERE tenant_id = $1 AND id = $2 AND (state = 'pending' OR (state = 'granted' AND used_at IS NULL))",
        params![id, WITHDRAWN, now],
    )?;
    if withdrawn == 0 {
        return Ok(None);
    }
    store::announce(tx, approval.session);
    acts::record_answer(tx, approval.act, acts::ActState::Waiting, acts::ActState::Dropped, now)?;
    Ok(Some(DeferredAuditEntries::from_entry(NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::System, "approvals"),
        event: AuditEvent::APPROVAL_WITHDRAWN,
        subject: approval.act.to_string(),
        payload: json!({ "approval": id, "tool": approval.tool, "was": approval.state, "reason": reason }),
    })))
}
