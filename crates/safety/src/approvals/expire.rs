//! Questions nobody answered in time, and answers nobody made use of in time: the act is dropped, and whoever sweeps tells.

use munshi_store::{PlatformTx, Tx, across_tenants, params};
use munshi_types::{ActId, ApprovalId, TenantId, Timestamp};
use serde_json::json;

use super::{Kind, row};
use crate::acts::{self, Office};
use crate::audit::{self, Actor, ActorKind, Event, NewEntry};
use crate::error::Result;

/// A question whose time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    pub tenant: TenantId,
    pub approval: ApprovalId,
    pub act: ActId,
}

/// Those that are due, of all tenants; each is then ended in its own tenant's transaction by [`expire`].
pub fn due(tx: &mut PlatformTx<'_>, most: u32, now: Timestamp) -> Result<Vec<Expired>> {
    Ok(tx.all(
        across_tenants(
            "SELECT tenant_id, id, act_id FROM approvals
             WHERE used_at IS NULL AND (state = 'pending' OR (state = 'granted' AND kind = 'act')) AND expires_at <= $1
             ORDER BY expires_at LIMIT $2",
        ),
        params![now, most],
        |row| Ok(Expired { tenant: row.get(0)?, approval: row.get(1)?, act: row.get(2)? }),
    )?)
}

/// Ends one; false when it was answered or used meanwhile. Whoever calls escalates.
pub fn expire(tx: &mut Tx<'_>, office: &Office, expired: Expired, now: Timestamp) -> Result<bool> {
    let Some(approval) = row::find(tx, expired.approval)? else { return Ok(false) };
    let ended = tx.execute(
        "UPDATE approvals SET state = 'expired', answered_at = $3
         WHERE tenant_id = $1 AND id = $2 AND expires_at <= $3 AND used_at IS NULL
           AND (state = 'pending' OR (state = 'granted' AND kind = 'act'))",
        params![expired.approval, now],
    )?;
    if ended == 0 {
        return Ok(false);
    }
    if approval.kind == Kind::Act {
        acts::note_answer(tx, approval.act, acts::State::Waiting, acts::State::Dropped, now)?;
    }
    let entry = NewEntry {
        actor: Actor::new(ActorKind::System, "approvals"),
        event: Event::APPROVAL_EXPIRED,
        subject: approval.act.to_string(),
        payload: json!({ "approval": approval.id, "tool": approval.tool }),
    };
    audit::append(tx, &entry, now, &office.ids)?;
    Ok(true)
}
