//! What can be wrong with a chain.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// The first bad entry, and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainFinding {
    pub seq: i64,
    pub fault: ChainFault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainFault {
    /// It does not match its hash, or not the hash that the next entry was written upon.
    Changed,
    /// It is gone.
    Removed,
    /// Nobody appended it.
    Inserted,
    /// It stands in another's place; this was its own.
    Reordered { from: i64 },
    /// The end of the chain is gone, up to an entry that the head or an anchor knows.
    Cut { until: i64 },
    /// It is the last, and the head's row says another.
    Head,
    /// It stands after the end that the head's row says.
    PastTheHead,
    /// The chain is whole in itself, but an anchor says otherwise: it was written anew, from here or later.
    Rewritten { until: i64 },
    /// A column holds what no column of an entry can hold.
    Unreadable,
}

impl ChainFault {
    /// The word for it in JSON and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Inserted => "inserted",
            Self::Reordered { .. } => "reordered",
            Self::Cut { .. } => "cut",
            Self::Head => "head",
            Self::PastTheHead => "past_the_head",
            Self::Rewritten { .. } => "rewritten",
            Self::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for ChainFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seq = self.seq;
        match self.fault {
            ChainFault::Changed => write!(f, "entry {seq} was changed"),
            ChainFault::Removed => write!(f, "entry {seq} was removed"),
            ChainFault::Inserted => write!(f, "entry {seq} was inserted"),
            ChainFault::Reordered { from } => write!(f, "entry {seq} was moved from {from}"),
            ChainFault::Cut { until } => {
                write!(f, "the end was removed: entries {seq} to {until} are missing")
            }
            ChainFault::Head => write!(f, "entry {seq} does not match the chain's head"),
            ChainFault::PastTheHead => {
                write!(f, "entry {seq} is past the chain's head")
            }
            ChainFault::Rewritten { until } => {
                write!(f, "entries between {seq} and {until} were rewritten: an anchor has another hash")
            }
            ChainFault::Unreadable => write!(f, "entry {seq} contains invalid data"),
        }
    }
}

impl Serialize for ChainFinding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Finding", 3)?;
        fields.serialize_field("seq", &self.seq)?;
        fields.serialize_field("fault", self.fault.as_str())?;
        fields.serialize_field("detail", &self.to_string())?;
        fields.end()
    }
}
