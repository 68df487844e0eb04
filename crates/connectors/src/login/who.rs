//! Who lets us in. Whoever begins a login is whoever comes back with its answer.

use munshi_identity::links;
use munshi_safety::audit::{Actor, ActorKind};
use munshi_types::{OperatorId, PersonId};
use serde::{Deserialize, Serialize};

/// Somebody at a page of ours, as they are known there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// Signed in.
    Operator(OperatorId),
    /// In the browser in which they talk with us.
    Person(PersonId),
    /// At the very machine, while nobody has an account.
    Here,
}

impl Who {
    /// As the audit knows them. Whoever sits at the machine is whoever asked there for the link.
    pub(super) fn actor(self, asked: Actor) -> Actor {
        match self {
            Self::Operator(id) => Actor::new(ActorKind::Operator, links::by_operator(id)),
            Self::Person(id) => Actor::new(ActorKind::Person, id.to_string()),
            Self::Here => asked,
        }
    }
}
