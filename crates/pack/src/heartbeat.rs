//! What a pack looks at by the clock, without being asked: a balance that ran out, a licence that ends.

use munshi_store::{Result, Tx};
use munshi_types::{Timestamp, Zone};

use crate::schedule::PackScheduleTime;

pub trait Heartbeat: Send + Sync {
    /// A plain word, the only one of its pack: `overdue`.
    fn name(&self) -> &'static str;

    /// When it beats, for each tenant.
    fn schedule(&self) -> PackScheduleTime {
        PackScheduleTime::every_minutes(30)
    }

    /// Looks at one tenant, that of the transaction, and says what its people should know. It only reads.
    fn collect_alerts(&self, tx: &mut Tx<'_>, beat: &HeartbeatTick) -> Result<Vec<Alert>>;
}

/// When it is looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatTick {
    pub now: Timestamp,
    /// The tenant's: its days begin by it.
    pub zone: Zone,
}

/// Something to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// What it is about, within its heartbeat: `overdue/17`. Under the same key nothing is told again until a beat
    /// came without it.
    pub key: String,
    pub severity: AlertSeverity,
    /// A phrase of the phrasebook, and its slots.
    pub phrase: String,
    pub slots: Vec<(String, String)>,
}

/// How soon somebody should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertSeverity {
    /// With the next summary.
    Notice,
    /// Today.
    Warning,
    /// At once, whatever the hour.
    Urgent,
}

impl AlertSeverity {
    pub const ALL: [Self; 3] = [Self::Notice, Self::Warning, Self::Urgent];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Urgent => "urgent",
        }
    }
}

impl std::str::FromStr for AlertSeverity {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|severity| severity.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is not a severity"))
    }
}
