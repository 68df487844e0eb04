//! Which token stands for what in one conversation. It never leaves: it is kept as the conversation is.

use std::collections::{HashMap, HashSet};
use std::fmt;

use munshi_types::{PersonId, Script, TenantId};
use serde::{Deserialize, Serialize};

use super::kind::PiiKind;
use super::pseudonym;

/// A token table is asked about somebody else's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the names and the conversation belong to different tenants")]
pub struct ConversationMismatch;

/// The tokens of one person's conversation with one tenant. The same value has the same token as long as it lives, so
/// that the model can follow who is meant, and the prompt stays the same from turn to turn.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub struct PseudonymTable {
    pub(super) tenant: TenantId,
    person: PersonId,
    slots: Vec<PseudonymEntry>,
    places: HashMap<(PiiKind, String), usize>,
    /// Whom the conversation has met beside those everybody here knows, the newest last.
    met: Vec<String>,
}

/// What a token stands for.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct PseudonymEntry {
    pub kind: PiiKind,
    key: String,
    /// As it is stored, then as it is written in other scripts.
    spellings: Vec<(Option<Script>, String)>,
}

/// A session as it is stored.
#[derive(Serialize, Deserialize)]
struct Kept {
    tenant: TenantId,
    person: PersonId,
    slots: Vec<PseudonymEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    met: Vec<String>,
}

/// So many names that were met are kept, the newest.
const MOST_MET: usize = 1_000;

impl PseudonymTable {
    pub fn new(tenant: TenantId, person: PersonId) -> Self {
        Self { tenant, person, slots: Vec::new(), places: HashMap::new(), met: Vec::new() }
    }

    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    pub fn person(&self) -> PersonId {
        self.person
    }

    /// How many values have a token.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.met.is_empty()
    }

    /// Whom the conversation has met, as they were named.
    pub(super) fn met_names(&self) -> &[String] {
        &self.met
    }

    /// The same with more people whom the conversation has met.
    #[must_use]
    pub fn with_names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.add_names(names);
        self
    }

    /// Says whether there was anybody new.
    pub(super) fn add_names(&mut self, names: impl IntoIterator<Item = String>) -> bool {
        let known: HashSet<String> = self.met.iter().cloned().collect();
        let mut new: Vec<String> = names.into_iter().filter(|name| !known.contains(name)).collect();
        new.sort_unstable();
        new.dedup();
        let is_new = !new.is_empty();
        self.met.append(&mut new);
        self.met.drain(..self.met.len().saturating_sub(MOST_MET));
        is_new
    }

    /// The same tokens, and behind them what another table of this conversation has beyond these. Where that one only
    /// grew out of this one, it is that one; where both grew, what has no token here gets a new one.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        if other.tenant != self.tenant {
            return self;
        }
        self.add_names(other.met);
        for slot in other.slots {
            let known = self.places.get(&(slot.kind, slot.key.clone())).copied();
            let next = self.slots.len();
            match known.and_then(|place| self.slots.get_mut(place)) {
                Some(mine) => {
                    let is_new = |(script, _): &(Option<Script>, String)| {
                        !mine.spellings.iter().any(|(known, _)| known == script)
                    };
                    let more: Vec<_> = slot.spellings.into_iter().filter(is_new).collect();
                    mine.spellings.extend(more);
                }
                None if pseudonym::render(slot.kind, next).is_some() => {
                    self.places.insert((slot.kind, slot.key.clone()), next);
                    self.slots.push(slot);
                }
                None => {}
            }
        }
        self
    }

    /// The token for a value; made when it has none. Past the last token the value is hidden for good.
    pub(super) fn get_or_assign(
        &mut self,
        kind: PiiKind,
        key: String,
        spellings: impl FnOnce() -> Vec<(Option<Script>, String)>,
    ) -> String {
        let place = match self.places.get(&(kind, key.clone())) {
            Some(place) => *place,
            None => {
                let place = self.slots.len();
                if pseudonym::render(kind, place).is_none() {
                    return kind.placeholder().to_owned();
                }
                self.places.insert((kind, key.clone()), place);
                self.slots.push(PseudonymEntry { kind, key, spellings: spellings() });
                place
            }
        };
        pseudonym::render(kind, place).unwrap_or_else(|| kind.placeholder().to_owned())
    }

    /// Remembers how somebody's name is written in a script nobody had it in.
    pub(super) fn add_spelling(&mut self, key: &str, script: Script, said: &str) {
        let place = self.places.get(&(PiiKind::Name, key.to_owned())).copied();
        let Some(slot) = place.and_then(|place| self.slots.get_mut(place)) else { return };
        if slot.spellings.iter().any(|(known, _)| *known == Some(script)) {
            return;
        }
        let mut letters = said.chars();
        let large: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        slot.spellings.push((Some(script), large));
    }

    /// What a token stands for: in a script where it is known in that, else as it is stored.
    pub(super) fn find_value(&self, kind: PiiKind, place: usize, script: Option<Script>) -> Option<&str> {
        let slot = self.slots.get(place).filter(|slot| slot.kind == kind)?;
        let wanted = slot.spellings.iter().find(|(known, _)| script.is_some() && *known == script);
        wanted.or(slot.spellings.first()).map(|(_, text)| text.as_str())
    }
}

impl From<Kept> for PseudonymTable {
    fn from(kept: Kept) -> Self {
        let places =
            kept.slots.iter().enumerate().map(|(at, slot)| ((slot.kind, slot.key.clone()), at)).collect();
        Self { tenant: kept.tenant, person: kept.person, slots: kept.slots, places, met: kept.met }
    }
}

impl From<PseudonymTable> for Kept {
    fn from(session: PseudonymTable) -> Self {
        Self { tenant: session.tenant, person: session.person, slots: session.slots, met: session.met }
    }
}

impl fmt::Debug for PseudonymTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PseudonymTable")
            .field("tenant", &self.tenant)
            .field("person", &self.person)
            .field("tokens", &self.slots.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn table(people: &[u8]) -> PseudonymTable {
        let (tenant, person) =
            (TenantId::from_uuid(Uuid::from_u128(1)), PersonId::from_uuid(Uuid::from_u128(2)));
        let mut table = PseudonymTable::new(tenant, person);
        for one in people {
            table.get_or_assign(PiiKind::Name, format!("key-{one}"), || vec![(None, format!("Name {one}"))]);
        }
        table
    }

    fn token_of(table: &PseudonymTable, one: u8) -> Option<usize> {
        table.places.get(&(PiiKind::Name, format!("key-{one}"))).copied()
    }

    proptest! {
        /// A token of an earlier thought never comes to stand for somebody else, and nobody is forgotten.
        #[test]
        fn joined_tables_know_all_and_mean_the_same(
            first in prop::collection::vec(0..20_u8, 0..9),
            mine in prop::collection::vec(0..20_u8, 0..9),
            theirs in prop::collection::vec(0..20_u8, 0..9),
        ) {
            let (mine, theirs) = (table(&[first.clone(), mine].concat()), table(&[first, theirs].concat()));
            let joined = mine.clone().merge(theirs.clone());
            for one in 0..20 {
                let (known, place) = (token_of(&mine, one), token_of(&joined, one));
                prop_assert!(known.is_none() || known == place);
                prop_assert_eq!(place.is_some(), known.is_some() || token_of(&theirs, one).is_some());
            }
        }

        #[test]
        fn a_table_that_only_grew_wins_whole(
            first in prop::collection::vec(0..20_u8, 0..9),
            more in prop::collection::vec(0..20_u8, 0..9),
        ) {
            let (old, new) = (table(&first), table(&[first, more].concat()));
            let json = |table: PseudonymTable| serde_json::to_value(table).unwrap();
            prop_assert_eq!(json(old.clone().merge(new.clone())), json(new.clone()));
            prop_assert_eq!(json(new.clone().merge(old)), json(new));
        }
    }

    #[test]
    fn another_tenants_table_gives_nothing() {
        let other = PseudonymTable { tenant: TenantId::from_uuid(Uuid::from_u128(9)), ..table(&[1]) };
        assert!(table(&[]).merge(other).is_empty());
    }
}
