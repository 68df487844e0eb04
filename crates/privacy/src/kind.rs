//! What is hidden.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A kind of value that points at somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PiiKind {
    Name,
    Phone,
    Email,
    /// A bank account, or what the text calls one.
    Account,
    Upi,
    Ifsc,
    Gstin,
    Pan,
    Card,
    Aadhaar,
    /// A social security number of the United States.
    Ssn,
    Vehicle,
    /// A number in a hospital's or an insurer's books.
    Record,
    /// A postal code.
    Pin,
    Date,
    /// An age past 89: so few reach it that it tells who.
    Age,
    Address,
    Link,
    /// What a field list hides, whatever it is.
    Field,
    /// Text that only looks like a token and must not be taken for one.
    Lookalike,
}

impl PiiKind {
    /// What stands for a value that is not to come back.
    pub const fn placeholder(self) -> &'static str {
        match self {
            Self::Name => "[name hidden]",
            Self::Phone => "[phone hidden]",
            Self::Email => "[email hidden]",
            Self::Account => "[account hidden]",
            Self::Upi => "[upi hidden]",
            Self::Ifsc => "[ifsc hidden]",
            Self::Gstin => "[gstin hidden]",
            Self::Pan => "[pan hidden]",
            Self::Card => "[card hidden]",
            Self::Aadhaar => "[aadhaar hidden]",
            Self::Ssn => "[ssn hidden]",
            Self::Vehicle => "[vehicle hidden]",
            Self::Record => "[record hidden]",
            Self::Pin => "[pin hidden]",
            Self::Date => "[date hidden]",
            Self::Age => "[age hidden]",
            Self::Address => "[address hidden]",
            Self::Link => "[link hidden]",
            Self::Field | Self::Lookalike => "[hidden]",
        }
    }

    /// The two letters a token of this kind has after its X; none for kinds that have no tokens.
    pub(crate) const fn code(self) -> Option<[u8; 2]> {
        Some(match self {
            Self::Name => *b"NM",
            Self::Phone => *b"PH",
            Self::Email => *b"EM",
            Self::Account => *b"AC",
            Self::Upi => *b"UP",
            Self::Ifsc => *b"IF",
            Self::Gstin => *b"GS",
            Self::Pan => *b"PN",
            Self::Card => *b"CD",
            Self::Aadhaar => *b"ID",
            Self::Lookalike => *b"TX",
            _ => return None,
        })
    }

    pub(crate) const WITH_TOKENS: [Self; 11] = [
        Self::Name,
        Self::Phone,
        Self::Email,
        Self::Account,
        Self::Upi,
        Self::Ifsc,
        Self::Gstin,
        Self::Pan,
        Self::Card,
        Self::Aadhaar,
        Self::Lookalike,
    ];
}

/// A value found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PiiMatch {
    pub kind: PiiKind,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
}
