//! What a key may be at most, and for whom it talks.

use std::fmt;
use std::str::FromStr;

use munshi_types::{KeyId, OperatorId, PersonId, ScopeGlob};
use serde::{Deserialize, Serialize};

use crate::links;
use crate::principal::{Principal, PrincipalStanding};
use crate::role::Role;

/// For whom a key talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySpeaker {
    /// Somebody types what is sent: a till, a page. Their words are their own.
    Person,
    /// A program, whose words may be a model's or anybody's: what it wants written is confirmed by a person.
    Program,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown speaker `{0}`: use person if a person types the messages, otherwise program")]
pub struct KeySpeakerError(String);

impl KeySpeaker {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Program => "program",
        }
    }
}

impl fmt::Display for KeySpeaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for KeySpeaker {
    type Err = KeySpeakerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = [Self::Person, Self::Program].into_iter().find(|one| one.as_str() == text);
        found.ok_or_else(|| KeySpeakerError(text.to_owned()))
    }
}

/// The most that somebody may be through a key, whatever they become later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyCeiling {
    /// None for somebody without a role.
    pub role: Option<Role>,
    /// Scopes opened beyond the role when the key was made; none where all that a person has count.
    pub opened: Option<Vec<ScopeGlob>>,
    /// Scopes that were closed to the person when the key was made: they stay closed to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<ScopeGlob>,
}

impl KeyCeiling {
    /// Nobody rises by it: who stands lower than the ceiling stays there.
    pub fn cap(&self, principal: Principal) -> Principal {
        let standing = match (principal.standing, self.role) {
            (PrincipalStanding::Member(role), Some(most)) => PrincipalStanding::Member(role.max(most)),
            (PrincipalStanding::Member(_), None) => PrincipalStanding::Known,
            (other, _) => other,
        };
        let mut opened = principal.opened;
        if let Some(most) = &self.opened {
            opened.retain(|scope| most.contains(scope));
        }
        let mut closed = principal.closed;
        let missing: Vec<_> = self.closed.iter().filter(|scope| !closed.contains(scope)).cloned().collect();
        closed.extend(missing);
        Principal { standing, opened, closed, ..principal }
    }
}

/// Who answers for a key. A key made with another key has the maker of that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMaker {
    /// As the audit knows them.
    pub name: String,
    /// Whose key it was made with, where that one stood for a person: the new key is good as long as they may make keys.
    pub person: Option<PersonId>,
    /// The key it was made with: it is revoked with that one.
    pub key: Option<KeyId>,
}

impl KeyMaker {
    pub fn from_name(name: impl Into<String>) -> Self {
        Self { name: name.into(), person: None, key: None }
    }

    /// None for a person, a program, or whoever has the machine.
    pub(super) fn operator(&self) -> Option<OperatorId> {
        links::parse_maker(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    #[test]
    fn a_ceiling_lowers_and_never_lifts() {
        let ids = IdGenerator::system();
        let principal = |role: Role| Principal::member(ids.next(), ids.next(), role);
        let ceiling = |role| KeyCeiling { role, ..KeyCeiling::default() };
        assert_eq!(ceiling(Some(Role::Staff)).cap(principal(Role::Owner)).role(), Some(Role::Staff));
        assert_eq!(ceiling(Some(Role::Staff)).cap(principal(Role::Viewer)).role(), Some(Role::Viewer));
        assert_eq!(ceiling(None).cap(principal(Role::Owner)).standing, PrincipalStanding::Known);
        let nobody = Principal::anonymous(ids.next());
        assert_eq!(ceiling(Some(Role::Owner)).cap(nobody.clone()), nobody);
    }

    #[test]
    fn what_was_opened_later_is_not_open_to_the_key() {
        let ids = IdGenerator::system();
        let scope = |text: &str| text.parse::<ScopeGlob>().unwrap();
        let mut principal = Principal::known(ids.next(), ids.next());
        principal.opened = vec![scope("books.read"), scope("books.*")];
        let ceiling = KeyCeiling { opened: Some(vec![scope("books.read")]), ..KeyCeiling::default() };
        assert_eq!(ceiling.cap(principal).opened, [scope("books.read")]);
    }

    #[test]
    fn what_was_closed_before_stays_closed_to_the_key() {
        let ids = IdGenerator::system();
        let scope = |text: &str| text.parse::<ScopeGlob>().unwrap();
        let mut principal = Principal::member(ids.next(), ids.next(), Role::Staff);
        principal.closed = vec![scope("crm.*")];
        let closed = vec![scope("ledger.*"), scope("crm.*")];
        let ceiling = KeyCeiling { role: Some(Role::Staff), closed, ..KeyCeiling::default() };
        assert_eq!(ceiling.cap(principal).closed, [scope("crm.*"), scope("ledger.*")]);
    }
}
