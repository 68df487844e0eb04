//! The front of a list of entities, ready to be found: lists grow at their end, so it stays the same for many of them.

use munshi_types::TenantId;

use super::met::{EntityPrint, MetPeople};
use crate::known_entities::{KnownEntities, ProtectedEntity};

/// The last of a list stay out of its front: who was met a moment ago says their name or their number next.
const LAST: usize = 16;

/// An entity of a list.
pub(super) struct ListedEntity<'p> {
    pub(super) entity: &'p ProtectedEntity,
    pub(super) print: EntityPrint,
}

pub(super) struct ListFront {
    prints: Vec<EntityPrint>,
    /// So many of these are nobody whom the tenant has met; those it has met follow.
    others: usize,
    known: KnownEntities,
}

impl ListFront {
    pub(super) fn build(tenant: TenantId, list: &[ListedEntity<'_>], others: usize) -> Self {
        let front = list.get(..list.len().saturating_sub(LAST)).unwrap_or_default();
        let entities: Vec<&ProtectedEntity> = front.iter().map(|listed| listed.entity).collect();
        Self {
            prints: front.iter().map(|listed| listed.print).collect(),
            others,
            known: KnownEntities::from_all(tenant, &entities),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.prints.len()
    }

    /// Whether a list begins so and has not much behind it. What is behind costs every list that is made, a new front costs once.
    pub(super) fn fits(&self, list: &[ListedEntity<'_>]) -> bool {
        let most = 2 * LAST + self.len() / 32;
        let is_short = list.len().checked_sub(self.len()).is_some_and(|behind| behind <= most);
        is_short && self.prints.iter().zip(list).all(|(print, listed)| *print == listed.print)
    }

    /// Whether everybody in it who was met is so still.
    pub(super) fn has_only(&self, met: &MetPeople) -> bool {
        let own = self.prints.get(self.others..).unwrap_or_default();
        own.len() <= met.people().len()
            && own.iter().zip(met.people()).all(|(print, person)| *print == person.print)
    }

    /// The whole list, ready to be found.
    pub(super) fn complete(&self, list: &[ListedEntity<'_>]) -> KnownEntities {
        let behind: Vec<&ProtectedEntity> =
            list.iter().skip(self.len()).map(|listed| listed.entity).collect();
        self.known.with_entities(&behind)
    }
}
