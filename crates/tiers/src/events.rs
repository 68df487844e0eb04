//! What happened to a tier beside its new versions, with who, why and when.

use std::fmt;
use std::str::FromStr;

use munshi_store::{Tx, params};
use munshi_types::{TierId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::rows::{Authorship, parse_column, read_version};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TierEventKind {
    Archived,
    /// Brought back from the archive.
    Restored,
    /// Taken back to an older version's words.
    RolledBack,
}

impl TierEventKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Archived => "archived",
            Self::Restored => "restored",
            Self::RolledBack => "rolled_back",
        }
    }
}

impl FromStr for TierEventKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Archived, Self::Restored, Self::RolledBack]
            .into_iter()
            .find(|one| one.as_str() == text)
            .ok_or_else(|| format!("unknown tier event `{text}`"))
    }
}

/// A line of a tier's history that is no version of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierEvent {
    pub action: TierEventKind,
    /// The version in force afterwards.
    pub version: u32,
    /// The version whose words it has, where it was rolled back.
    pub back_to: Option<u32>,
    pub author: String,
    pub note: String,
    pub made_at: Timestamp,
}

impl fmt::Display for TierEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.action, self.back_to) {
            (TierEventKind::Archived, _) => write!(f, "archived at version {}", self.version),
            (TierEventKind::Restored, _) => write!(f, "restored as version {}", self.version),
            (TierEventKind::RolledBack, Some(old)) => write!(f, "rolled back to version {old}"),
            (TierEventKind::RolledBack, None) => write!(f, "rolled back"),
        }
    }
}

/// Whoever writes has the count, so numbers don't meet.
pub(crate) fn add(
    tx: &mut Tx<'_>,
    tier: TierId,
    (action, version, back_to): (TierEventKind, u32, Option<u32>),
    by: &Authorship,
) -> Result<()> {
    tx.execute(
        "INSERT INTO tier_events (tenant_id, tier_id, number, action, version, back_to, author, note, made_at)
         VALUES ($1, $2,
           (SELECT COALESCE(MAX(number), 0) + 1 FROM tier_events WHERE tenant_id = $1 AND tier_id = $2),
           $3, $4, $5, $6, $7, $8)",
        params![
            tier,
            action.as_str(),
            i64::from(version),
            back_to.map(i64::from),
            by.author,
            by.note,
            by.made_at
        ],
    )?;
    Ok(())
}

/// All of them, the newest first.
pub(crate) fn list(tx: &mut Tx<'_>, tier: TierId) -> Result<Vec<TierEvent>> {
    Ok(tx.all(
        "SELECT action, version, back_to, author, note, made_at FROM tier_events
         WHERE tenant_id = $1 AND tier_id = $2 ORDER BY number DESC",
        params![tier],
        |row| {
            let back_to: Option<i64> = row.get("back_to")?;
            Ok(TierEvent {
                action: parse_column(row, "action")?,
                version: read_version(row, "version")?,
                back_to: back_to.and_then(|version| u32::try_from(version).ok()),
                author: row.get("author")?,
                note: row.get("note")?,
                made_at: row.get("made_at")?,
            })
        },
    )?)
}
