//! A binding as it is shown.

use munshi_tiers::plan::StoredTier;
use munshi_types::Id;
use munshi_types::tier::{Binding, TierKind, TierName, TierStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::tiers::TierVersionEntryView;

/// A binding: connects addresses to a human, a team and an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Binding)]
pub struct BindingView {
    pub id: Uuid,
    #[schema(value_type = String, example = "counter")]
    pub name: TierName,
    #[schema(value_type = String, example = "active")]
    pub status: TierStatus,
    pub version: u32,
    #[schema(example = "meera")]
    pub human: String,
    #[schema(example = "counter")]
    pub team: String,
    #[schema(example = "sales")]
    pub agent: String,
    /// Its audience: `private`, `work`, `public` or `distribution`.
    #[schema(example = "distribution")]
    pub door: String,
    #[schema(example = json!(["whatsapp", "web"]))]
    pub channels: Vec<String>,
    /// The addresses of this binding.
    #[schema(example = json!(["handle:sharma"]))]
    pub addresses: Vec<String>,
}

impl BindingView {
    /// None for a tier that is no binding, or whose words this version does not read.
    pub(super) fn of(tier: &StoredTier) -> Option<Self> {
        if tier.kind != TierKind::Binding {
            return None;
        }
        let binding: Binding = serde_json::from_value(Value::Object(tier.body.clone())).ok()?;
        let door = serde_json::to_value(binding.door).ok()?;
        Some(Self {
            id: tier.id.as_uuid(),
            name: tier.name.clone(),
            status: tier.status,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = BindingWithVersions)]
pub struct BindingWithVersionsView {
    #[serde(flatten)]
    pub binding: BindingView,
    pub versions: Vec<TierVersionEntryView>,
}
