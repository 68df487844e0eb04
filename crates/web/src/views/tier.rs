//! Tiers, their versions, and bindings.

use std::collections::BTreeMap;

use munshi_tiers::history::{TierHistoryEntry, TierSnapshot};
use munshi_tiers::plan::StoredTier;
use munshi_types::Timestamp;
use munshi_types::tier::{TierKind, TierName};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// A human, team, agent or binding in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tier)]
pub(crate) struct TierView {
    id: Uuid,
    /// `human`, `team`, `agent` or `binding`.
    #[schema(example = "human")]
    kind: &'static str,
    #[schema(value_type = String, example = "meera")]
    name: TierName,
    /// `active` or `archived`.
    #[schema(example = "active")]
    status: &'static str,
    /// The current version.
    version: u32,
    latest: u32,
    /// Its tokens in every prompt.
    tokens: u64,
}

impl From<&StoredTier> for TierView {
    fn from(tier: &StoredTier) -> Self {
        Self {
            id: munshi_types::Id::as_uuid(tier.id),
            kind: tier.kind.as_str(),
            name: tier.name.clone(),
            status: tier.status.as_str(),
            version: tier.version,
            latest: tier.latest,
            tokens: tier.tokens.total,
        }
    }
}

/// A tier at one version; for an agent, with everything it extends.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TierShown)]
pub(crate) struct TierDetailView {
    #[schema(example = "agent")]
    kind: &'static str,
    #[schema(value_type = String)]
    name: TierName,
    #[schema(example = "active")]
    status: &'static str,
    version: u32,
    latest: u32,
    /// Every value, including defaults.
    values: Value,
    /// For an agent: the source of each value, by path.
    origins: BTreeMap<String, Value>,
    tokens: u64,
    /// Tokens by prompt block.
    blocks: BTreeMap<String, u64>,
}

impl From<TierSnapshot> for TierDetailView {
    fn from(shown: TierSnapshot) -> Self {
        let told =
            |origin: &munshi_tiers::merge::AgentValueOrigin| serde_json::to_value(origin).unwrap_or_default();
        Self {
            kind: shown.kind.as_str(),
            name: shown.name,
            status: shown.status.as_str(),
            version: shown.version,
            latest: shown.latest,
            values: shown.values,
            origins: shown.origins.iter().map(|(path, origin)| (path.clone(), told(origin))).collect(),
            tokens: shown.tokens.total,
            blocks: shown.tokens.blocks,
        }
    }
}

/// A version of a tier, and its changes from the previous one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TierVersion {
    version: u32,
    /// Whether this is the current version.
    is_current: bool,
    author: String,
    note: String,
    #[schema(value_type = String, format = DateTime)]
    made_at: Timestamp,
    tokens: u64,
    /// The keys that changed.
    changed: Vec<String>,
}

impl From<TierHistoryEntry> for TierVersion {
    fn from(entry: TierHistoryEntry) -> Self {
        let version = entry.version;
        Self {
            version: version.version,
            is_current: version.is_current,
            author: version.author,
            note: version.note,
            made_at: version.made_at,
            tokens: version.tokens.total,
            changed: entry.changes.into_iter().map(|change| change.key).collect(),
        }
    }
}

/// A binding: connects addresses to a human, a team and an agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Binding)]
pub(crate) struct BindingView {
    pub(crate) id: Uuid,
    #[schema(value_type = String, example = "counter")]
    pub(crate) name: TierName,
    #[schema(example = "active")]
    pub(crate) status: &'static str,
    pub(crate) version: u32,
    #[schema(example = "meera")]
    pub(crate) human: String,
    #[schema(example = "counter")]
    pub(crate) team: String,
    #[schema(example = "sales")]
    pub(crate) agent: String,
    /// Its audience: `private`, `work`, `public` or `distribution`.
    #[schema(example = "distribution")]
    pub(crate) door: String,
    #[schema(example = json!(["whatsapp", "web"]))]
    pub(crate) channels: Vec<String>,
    /// The addresses of this binding.
    #[schema(example = json!(["handle:sharma"]))]
    pub(crate) addresses: Vec<String>,
}

impl BindingView {
    /// None for a tier that is no binding, or whose words this version does not read.
    pub(crate) fn of(tier: &StoredTier) -> Option<Self> {
        if tier.kind != TierKind::Binding {
            return None;
        }
        let body = Value::Object(tier.body.clone());
        let binding: munshi_types::tier::Binding = serde_json::from_value(body).ok()?;
        let door = serde_json::to_value(binding.door).ok()?;
        Some(Self {
            id: munshi_types::Id::as_uuid(tier.id),
            name: tier.name.clone(),
            status: tier.status.as_str(),
            version: tier.version,
            human: binding.human.to_string(),
            team: binding.team.to_string(),
            agent: binding.agent.to_string(),
            door: door.as_str().unwrap_or_default().to_owned(),
            channels: binding.channels.iter().map(|channel| channel.as_str().to_owned()).collect(),
            addresses: binding.keys.iter().map(ToString::to_string).collect(),
        })
    }
}

/// A binding with its versions, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BindingWithVersions {
    #[serde(flatten)]
    pub(crate) binding: BindingView,
    pub(crate) versions: Vec<TierVersion>,
}
