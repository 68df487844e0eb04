//! What the audit hears of a change that came through the API: which key, never its text.

use munshi_identity::keys::ApiCaller;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_server::error::ApiError;
use munshi_store::Tx;
use munshi_types::{IdGenerator, Timestamp};
use serde_json::Value;

/// Who does it and when.
#[derive(Clone)]
pub(crate) struct ApiAuditContext {
    actor: AuditActor,
    ids: IdGenerator,
    pub(crate) now: Timestamp,
}

impl ApiAuditContext {
    pub(crate) fn for_caller(caller: &ApiCaller, ids: IdGenerator, now: Timestamp) -> Self {
        let actor = match (caller.operator, caller.principal.person) {
            (Some(operator), _) => AuditActor::new(AuditActorKind::Operator, format!("operator {operator}")),
            (None, Some(person)) => AuditActor::new(AuditActorKind::Person, person.to_string()),
            (None, None) => AuditActor::new(AuditActorKind::Operator, format!("api key {}", caller.key)),
        };
        Self { actor, ids, now }
    }

    /// Last in the transaction. Names and addresses stay out of it: the id says who.
    pub(crate) fn record(
        &self,
        tx: &mut Tx<'_>,
        event: AuditEvent,
        subject: String,
        payload: Value,
    ) -> Result<(), ApiError> {
        let entry = NewAuditEntry { actor: self.actor.clone(), event, subject, payload };
        audit::append(tx, &entry, self.now, &self.ids)?;
        Ok(())
    }
}
