//! What a key of a tenant is for.

use munshi_store::Error;

/// Bound in how the key is wrapped, and asked for in each use: a row that names a key of another kind comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// Seals what is a person's.
    Person,
    /// Seals what belongs to no one person.
    Tenant,
    /// Makes keyed hashes by which addresses are found.
    Hash,
    /// Makes those of a search index. The index names the one in use; others are destroyed.
    Index,
}

impl KeyKind {
    const ALL: [Self; 4] = [Self::Person, Self::Tenant, Self::Hash, Self::Index];

    /// As the store of keys writes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Tenant => "tenant",
            Self::Hash => "hash",
            Self::Index => "index",
        }
    }

    pub(crate) fn from_name(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| Error::Decode(format!("a key is of an unknown kind, `{name}`")))
    }

    /// Whether what is read may be sealed by it.
    pub(crate) fn seals(self) -> bool {
        matches!(self, Self::Person | Self::Tenant)
    }
}
