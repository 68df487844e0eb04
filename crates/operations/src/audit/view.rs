//! An entry of the audit as it is shown.

use munshi_pack::operation::OperationError;
use munshi_safety::audit::AuditEntry;
use munshi_types::{EntryId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Who did what to what, and the hash that ties it to the entry before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditEntry)]
pub struct AuditEntryView {
    pub actor: AuditActorView,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// What happened, such as `act.applied`.
    pub event: String,
    pub hash: String,
    #[schema(value_type = uuid::Uuid)]
    pub id: EntryId,
    pub payload: Value,
    pub prev: String,
    /// Counts from 1, without gaps.
    pub seq: i64,
    pub subject: String,
    #[schema(value_type = uuid::Uuid)]
    pub tenant: TenantId,
}

/// Who acted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditActor)]
pub struct AuditActorView {
    pub id: String,
    /// `agent`, `person`, `operator` or `system`.
    pub kind: String,
}

impl AuditEntryView {
    pub(super) fn new(entry: AuditEntry) -> Result<Self, OperationError> {
        let payload = serde_json::from_str(&entry.payload).map_err(|error| {
            OperationError::internal(format!("entry {} is not valid JSON: {error}", entry.seq))
        })?;
        Ok(Self {
            actor: AuditActorView { id: entry.actor_id, kind: entry.actor_kind },
            at: entry.made_at,
            event: entry.event,
            hash: entry.hash.to_string(),
            id: entry.id,
            payload,
            prev: entry.prev.to_string(),
            seq: entry.seq,
            subject: entry.subject,
            tenant: entry.tenant,
        })
    }
}
