//! Tiers and their versions as they are shown.

use std::collections::BTreeMap;

use munshi_tiers::TierEvent;
use munshi_tiers::history::{TierHistoryEntry, TierSnapshot};
use munshi_tiers::merge::AgentValueOrigin;
use munshi_tiers::plan::{FieldChange, StoredTier};
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_types::{Id, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

/// A human, team, agent or binding in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Tier)]
pub struct TierView {
    pub id: Uuid,
    /// `human`, `team`, `agent` or `binding`.
    #[schema(value_type = String, example = "human")]
    pub kind: TierKind,
    #[schema(value_type = String, example = "meera")]
    pub name: TierName,
    /// `active` or `archived`.
    #[schema(value_type = String, example = "active")]
    pub status: TierStatus,
    /// The current version.
    pub version: u32,
    pub latest: u32,
    /// Its tokens in every prompt.
    pub tokens: u64,
}

impl From<StoredTier> for TierView {
    fn from(tier: StoredTier) -> Self {
        Self {
            id: tier.id.as_uuid(),
            kind: tier.kind,
            name: tier.name,
            status: tier.status,
            version: tier.version,
            latest: tier.latest,
            tokens: tier.tokens.total,
        }
    }
}

/// A tier at one version; for an agent, with everything it extends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = TierShown)]
pub struct TierDetailView {
    #[schema(value_type = String, example = "agent")]
    pub kind: TierKind,
    #[schema(value_type = String)]
    pub name: TierName,
    #[schema(value_type = String, example = "active")]
    pub status: TierStatus,
    pub version: u32,
    pub latest: u32,
    /// Every value, including defaults.
    pub values: Value,
    /// For an agent: the source of each value, by path.
    #[schema(value_type = BTreeMap<String, Value>)]
    pub origins: BTreeMap<String, AgentValueOrigin>,
    pub tokens: u64,
    /// Tokens by prompt block.
    pub blocks: BTreeMap<String, u64>,
    /// As it was written, without defaults and without what it extends.
    #[schema(value_type = Value)]
    pub body: Map<String, Value>,
}

impl From<TierSnapshot> for TierDetailView {
    fn from(shown: TierSnapshot) -> Self {
        Self {
            kind: shown.kind,
            name: shown.name,
            status: shown.status,
            version: shown.version,
            latest: shown.latest,
            values: shown.values,
            origins: shown.origins,
            tokens: shown.tokens.total,
            blocks: shown.tokens.blocks,
            body: shown.body,
        }
    }
}

/// A version of a tier, and its changes from the previous one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = TierVersion)]
pub struct TierVersionEntryView {
    pub version: u32,
    /// Whether this is the current version.
    pub is_current: bool,
    pub author: String,
    pub note: String,
    #[schema(value_type = String, format = DateTime)]
    pub made_at: Timestamp,
    pub tokens: u64,
    /// The keys that changed.
    pub changed: Vec<String>,
    /// What they were and are.
    #[schema(value_type = Vec<FieldChangeSchema>)]
    pub changes: Vec<FieldChange>,
}

/// A value that differs.
#[derive(ToSchema)]
#[schema(as = FieldChange)]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub(crate) struct FieldChangeSchema {
    key: String,
    before: Option<Value>,
    after: Option<Value>,
    /// Of a text with several lines: `{"added": "…"}`, `{"removed": "…"}` and `{"same": "…"}`.
    #[schema(required = false)]
    lines: Vec<BTreeMap<String, String>>,
}

impl From<TierHistoryEntry> for TierVersionEntryView {
    fn from(entry: TierHistoryEntry) -> Self {
        let version = entry.version;
        Self {
            version: version.version,
            is_current: version.is_current,
            author: version.author,
            note: version.note,
            made_at: version.made_at,
            tokens: version.tokens.total,
            changed: entry.changes.iter().map(|change| change.key.clone()).collect(),
            changes: entry.changes,
        }
    }
}

/// A tier and how it came about: one page of its versions, and what else happened to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Listed_TierVersion)]
pub struct TierLogView {
    #[schema(value_type = String, example = "human")]
    pub kind: TierKind,
    #[schema(value_type = String, example = "meera")]
    pub name: TierName,
    #[schema(value_type = String, example = "active")]
    pub status: TierStatus,
    /// Newest first, unless the other order was asked for.
    pub items: Vec<TierVersionEntryView>,
    /// Cursor of the next page: send it as `after`. Null on the last page.
    pub next: Option<String>,
    /// When it was archived, restored or rolled back, in the same order.
    #[schema(value_type = Vec<Value>)]
    pub events: Vec<TierEvent>,
}

/// How one version of a tier differs from another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = TierDiff)]
pub struct TierDiffView {
    #[schema(value_type = String, example = "human")]
    pub kind: TierKind,
    #[schema(value_type = String, example = "meera")]
    pub name: TierName,
    pub from: u32,
    pub to: u32,
    /// The values that differ, by path.
    #[schema(value_type = Vec<FieldChangeSchema>)]
    pub changes: Vec<FieldChange>,
}

/// What applying a folder does to one tenant.
#[derive(ToSchema)]
#[schema(as = FolderPlan)]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub(crate) struct ApplyPlanSchema {
    tenant: String,
    /// The tenant is made.
    is_new: bool,
    changes: Vec<TierChangeSchema>,
    /// What happens to files that are no tiers, such as `policy.toml`.
    files: Vec<FileChangeSchema>,
    /// Stored and active, but not in the folder; they stay as they are.
    left: Vec<String>,
    /// Files that are not in the folder, though something like them is in force; that stays.
    left_files: Vec<String>,
    warnings: Vec<String>,
}

/// What happens to a tier.
#[derive(ToSchema)]
#[schema(as = TierChange)]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub(crate) struct TierChangeSchema {
    #[schema(example = "human")]
    kind: String,
    #[schema(example = "meera")]
    name: String,
    /// `create`, `update`, `restore` or `archive`.
    action: String,
    /// The version in force before.
    from: Option<u32>,
    /// The version in force afterwards.
    to: u32,
    /// Its tokens in every prompt, `total` and by block.
    tokens: Value,
    fields: Vec<FieldChangeSchema>,
}

/// What happens to a file that is no tier.
#[derive(ToSchema)]
#[schema(as = FileChange)]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub(crate) struct FileChangeSchema {
    /// `policy` or `connectors`.
    what: String,
    /// The version in force before; 0 where there was none.
    from: i64,
    to: i64,
    fields: Vec<FieldChangeSchema>,
}
