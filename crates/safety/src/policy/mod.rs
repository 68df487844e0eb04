//! What a tenant says about acts: `policy.toml`, with versions.

mod consent;
mod file;
mod files;
mod outbound_redaction;
mod residency;
mod retention;
mod schema;
mod serialize;
mod store;

use std::collections::BTreeMap;

use munshi_identity::PermissionRules;
use munshi_types::{Autonomy, Conduct, TenantPacks, ToolName, ToolSpec};
use serde::{Deserialize, Deserializer, Serialize};

pub use consent::{ConsentPurpose, ConsentRules, ConsentWording, ConsentWords};
pub use file::{parse, parse_file};
pub use files::FileLimits;
pub use outbound_redaction::OutboundRedaction;
pub use residency::{DataResidency, PictureSharing};
pub use retention::RetentionPeriods;
pub use schema::build_schema;
pub use serialize::{to_minimal_map, to_toml};
pub use store::{PolicyVersion, apply, list_versions, load_current, load_version};

/// A tenant's policy. The empty one opens nothing of a foreign connector and leaves a pack's own conduct as shipped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// No agent and no connector goes further than this.
    pub most_autonomy: Option<Autonomy>,
    /// The packs the tenant has; all that are installed where it lists none.
    pub packs: TenantPacks,
    /// By the connector's or pack's name.
    pub connectors: BTreeMap<String, Conduct>,
    pub roles: PermissionRules,
    pub redaction: OutboundRedaction,
    /// Messages that need no approval each time.
    pub messages: Vec<AuthorisedTemplate>,
    pub rates: ToolRateLimits,
    pub approvals: ApprovalTimeout,
    /// Which models may see the tenant's data.
    pub residency: DataResidency,
    /// How long what people said, gave and had done is kept.
    pub retention: RetentionPeriods,
    /// How much of people's files is kept.
    pub files: FileLimits,
    /// What people are asked to agree to before certain tools are called for them.
    pub consent: ConsentRules,
}

/// A template that may go to an audience without asking: what the owner agreed to beforehand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthorisedTemplate {
    pub tool: ToolName,
    pub template: String,
    /// A tag of persons, or what a tool calls all those it can send to, such as `contacts`.
    pub audience: String,
    /// So many go unasked in a day.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_per_day")]
    pub per_day: Option<u32>,
}

/// Where the file says nothing.
const USUAL_PER_DAY: u32 = 20;
const MOST_PER_DAY: u32 = 10_000;

impl AuthorisedTemplate {
    pub fn per_day(&self) -> u32 {
        self.per_day.unwrap_or(USUAL_PER_DAY)
    }
}

fn deserialize_per_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let given = i64::deserialize(deserializer)?;
    let fits = u32::try_from(given).ok().filter(|most| (1..=MOST_PER_DAY).contains(most));
    let wrong = || serde::de::Error::custom(format!("messages.per_day must be from 1 to {MOST_PER_DAY}"));
    fits.map(Some).ok_or_else(wrong)
}

/// How often tools may be called for one tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolRateLimits {
    pub calls_per_minute: u32,
    pub writes_per_minute: u32,
    /// Of each person at each binding; past it refusals are only counted.
    #[serde(deserialize_with = "deserialize_positive")]
    pub refused_per_minute: u32,
}

impl Default for ToolRateLimits {
    fn default() -> Self {
        Self { calls_per_minute: 600, writes_per_minute: 120, refused_per_minute: 30 }
    }
}

fn deserialize_positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let given = i64::deserialize(deserializer)?;
    u32::try_from(given)
        .ok()
        .filter(|most| *most > 0)
        .ok_or_else(|| serde::de::Error::custom("rates.refused_per_minute must be at least 1"))
}

/// How long an approval is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalTimeout {
    #[serde(deserialize_with = "deserialize_hours")]
    pub hours: u16,
}

/// A month at most: by then nobody knows what they would agree to.
const MOST_HOURS: u16 = 24 * 30;

fn deserialize_hours<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let given = i64::deserialize(deserializer)?;
    let fits = u16::try_from(given).ok().filter(|hours| (1..=MOST_HOURS).contains(hours));
    fits.ok_or_else(|| serde::de::Error::custom(format!("approvals.hours must be from 1 to {MOST_HOURS}")))
}

impl Default for ApprovalTimeout {
    fn default() -> Self {
        Self { hours: 24 }
    }
}

impl Policy {
    /// How a connector may be used: as the tenant says, else as it was shipped, else not at all.
    pub fn conduct<'a>(&'a self, connector: &str, shipped: Option<&'a Conduct>) -> Option<&'a Conduct> {
        self.connectors.get(connector).or(shipped)
    }

    /// What the owner agreed to beforehand for a template of a tool.
    pub fn list_authorised(
        &self,
        tool: &ToolSpec,
        template: &str,
    ) -> impl Iterator<Item = &AuthorisedTemplate> {
        self.messages.iter().filter(move |message| message.tool.means(tool) && message.template == template)
    }
}
