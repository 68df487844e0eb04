//! Ids of the pack's own rows.

use std::fmt;
use std::str::FromStr;

use munshi_store::{Column, FromColumn, Param, ToParam};
use munshi_types::Id;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $noun:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl Id for $name {
            const NOUN: &'static str = $noun;

            fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl ToParam for $name {
            fn to_param(&self) -> Param<'_> {
                Param::Uuid(self.0)
            }
        }

        impl FromColumn for $name {
            fn from_column(column: Column<'_>) -> munshi_store::Result<Self> {
                Uuid::from_column(column).map(Self)
            }
        }
    )+};
}

ids! {
    /// Somebody with an account in the books.
    ContactId = "contact";
    /// Something that is bought and sold.
    ItemId = "item";
    /// One entry of the books.
    LedgerEntryId = "entry";
    /// A message to a contact about what they owe.
    ReminderId = "reminder";
    /// An invoice, a bill, a receipt.
    DocumentId = "document";
}

/// What makes booking the same thing twice harmless: the id of the act, or of the row of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryKey(Uuid);

impl EntryKey {
    pub const fn new(act: Uuid) -> Self {
        Self(act)
    }

    pub const fn as_uuid(self) -> Uuid {
        self.0
    }

    /// A second key that belongs to this one, for an act that books two entries.
    pub(crate) fn derive_second(self) -> Self {
        Self::from_parts(&[self.0.as_bytes(), b"second"])
    }

    /// The same key for the same parts, whenever it is made.
    pub(crate) fn from_parts(parts: &[&[u8]]) -> Self {
        let bytes = digest(parts);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

impl ToParam for EntryKey {
    fn to_param(&self) -> Param<'_> {
        Param::Uuid(self.0)
    }
}

impl FromColumn for EntryKey {
    fn from_column(column: Column<'_>) -> munshi_store::Result<Self> {
        Uuid::from_column(column).map(Self)
    }
}

/// Sixteen bytes that stand for some parts; where each part ends counts.
pub(crate) fn digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_be_bytes());
        hasher.update(part);
    }
    let hash = hasher.finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    bytes
}
