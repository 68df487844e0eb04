//! What a pack looks at by the clock, without being asked: a balance that ran out, a licence that ends.

use munshi_store::{Result, Tx};
use munshi_types::{Timestamp, Zone};

pub trait Heartbeat: Send + Sync {
    /// A plain word, the only one of its pack: `overdue`.
    fn name(&self) -> &'static str;

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
