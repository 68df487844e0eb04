//! What the audit hears of a change that came through the API: which key, never its text.

use munshi_identity::keys::Caller;
use munshi_safety::audit::{self, Actor, ActorKind, Event, NewEntry};
use munshi_store::Tx;
use munshi_types::{Ids, OperatorId, Timestamp};
use serde_json::Value;

use crate::error::ApiError;

/// Who does it and when.
#[derive(Clone)]
pub(crate) struct Telling {
    actor: Actor,
    ids: Ids,
    pub(crate) now: Timestamp,
}

impl Telling {
    pub(crate) fn of(caller: &Caller, ids: Ids, now: Timestamp) -> Self {
        let actor = match (caller.operator, caller.principal.person) {
            (Some(operator), _) => Actor::new(ActorKind::Operator, format!("operator {operator}")),
            (None, Some(person)) => Actor::new(ActorKind::Person, person.to_string()),
            (None, None) => Actor::new(ActorKind::Operator, format!("api key {}", caller.key)),
        };
        Self { actor, ids, now }
    }

    /// An operator in their browser.
    pub(crate) fn by_operator(operator: OperatorId, ids: Ids, now: Timestamp) -> Self {
        Self { actor: Actor::new(ActorKind::Operator, format!("operator {operator}")), ids, now }
    }

    /// By what name what is made is remembered.
    pub(crate) fn who(&self) -> &str {
        &self.actor.id
    }

    /// Last in the transaction. Names and addresses stay out of it: the id says who.
    pub(crate) fn tell(
        &self,
        tx: &mut Tx<'_>,
        event: Event,
        subject: String,
        payload: Value,
    ) -> Result<(), ApiError> {
        let entry = NewEntry { actor: self.actor.clone(), event, subject, payload };
        audit::append(tx, &entry, self.now, &self.ids)?;
        Ok(())
    }
}
