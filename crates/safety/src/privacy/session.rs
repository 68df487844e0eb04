//! Which token stands for what in one conversation. It never leaves: it is kept as the conversation is.

use std::collections::{HashMap, HashSet};
use std::fmt;

use munshi_types::{PersonId, Script, TenantId};
use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::token;

/// A token table is asked about somebody else's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these names belong to another tenant than the conversation")]
pub struct Crossed;

/// The tokens of one person's conversation with one tenant. The same value has the same token as long as it lives, so
/// that the model can follow who is meant, and the prompt stays the same from turn to turn.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub struct Session {
    pub(super) tenant: TenantId,
    person: PersonId,
    slots: Vec<Slot>,
    places: HashMap<(Kind, String), usize>,
    /// Whom the conversation has met beside those everybody here knows, the newest last.
    met: Vec<String>,
}

/// What a token stands for.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Slot {
    pub kind: Kind,
    key: String,
    /// As it is stored, then as it is written in other scripts.
    spellings: Vec<(Option<Script>, String)>,
}

/// A session as it is stored.
#[derive(Serialize, Deserialize)]
struct Kept {
    tenant: TenantId,
    person: PersonId,
    slots: Vec<Slot>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    met: Vec<String>,
}

/// So many names that were met are kept, the newest.
const MOST_MET: usize = 1_000;

impl Session {
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
    pub(super) fn met(&self) -> &[String] {
        &self.met
    }

    /// Says whether there was anybody new.
    pub(super) fn meet(&mut self, names: impl IntoIterator<Item = String>) -> bool {
        let known: HashSet<String> = self.met.iter().cloned().collect();
        let mut new: Vec<String> = names.into_iter().filter(|name| !known.contains(name)).collect();
        new.sort_unstable();
        new.dedup();
        let is_new = !new.is_empty();
        self.met.append(&mut new);
        self.met.drain(..self.met.len().saturating_sub(MOST_MET));
        is_new
    }

    /// The token for a value; made when it has none. Past the last token the value is hidden for good.
    pub(super) fn token(
        &mut self,
        kind: Kind,
        key: String,
        spellings: impl FnOnce() -> Vec<(Option<Script>, String)>,
    ) -> String {
        let place = match self.places.get(&(kind, key.clone())) {
            Some(place) => *place,
            None => {
                let place = self.slots.len();
                if token::write(kind, place).is_none() {
                    return kind.hidden().to_owned();
                }
                self.places.insert((kind, key.clone()), place);
                self.slots.push(Slot { kind, key, spellings: spellings() });
                place
            }
        };
        token::write(kind, place).unwrap_or_else(|| kind.hidden().to_owned())
    }

    /// Remembers how somebody's name is written in a script nobody had it in.
    pub(super) fn learn(&mut self, key: &str, script: Script, said: &str) {
        let place = self.places.get(&(Kind::Name, key.to_owned())).copied();
        let Some(slot) = place.and_then(|place| self.slots.get_mut(place)) else { return };
        if slot.spellings.iter().any(|(known, _)| *known == Some(script)) {
            return;
        }
        let mut letters = said.chars();
        let large: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        slot.spellings.push((Some(script), large));
    }

    /// What a token stands for: in a script where it is known in that, else as it is stored.
    pub(super) fn value(&self, kind: Kind, place: usize, script: Option<Script>) -> Option<&str> {
        let slot = self.slots.get(place).filter(|slot| slot.kind == kind)?;
        let wanted = slot.spellings.iter().find(|(known, _)| script.is_some() && *known == script);
        wanted.or(slot.spellings.first()).map(|(_, text)| text.as_str())
    }
}

impl From<Kept> for Session {
    fn from(kept: Kept) -> Self {
        let places =
            kept.slots.iter().enumerate().map(|(at, slot)| ((slot.kind, slot.key.clone()), at)).collect();
        Self { tenant: kept.tenant, person: kept.person, slots: kept.slots, places, met: kept.met }
    }
}

impl From<Session> for Kept {
    fn from(session: Session) -> Self {
        Self { tenant: session.tenant, person: session.person, slots: session.slots, met: session.met }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("tenant", &self.tenant)
            .field("person", &self.person)
            .field("tokens", &self.slots.len())
            .finish_non_exhaustive()
    }
}
