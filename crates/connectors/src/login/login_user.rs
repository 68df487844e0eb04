//! Who lets us in. Whoever begins a login is whoever comes back with its answer.

use munshi_identity::links;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_types::{OperatorId, PersonId};
use serde::{Deserialize, Serialize};

/// Somebody at a page of ours, as they are known there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectorLoginUser {
    /// Signed in.
    Operator(OperatorId),
    /// In the browser in which they talk with us.
    Person(PersonId),
    /// At the very machine, while nobody has an account.
    Here,
}

impl ConnectorLoginUser {
    /// As the audit knows them. Whoever sits at the machine is whoever asked there for the link.
    pub(super) fn to_audit_actor(self, asked: AuditActor) -> AuditActor {
        match self {
            Self::Operator(id) => AuditActor::new(AuditActorKind::Operator, links::render_maker(id)),
            Self::Person(id) => AuditActor::new(AuditActorKind::Person, id.to_string()),
            Self::Here => asked,
        }
    }
}
