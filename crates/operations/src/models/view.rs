//! What is told of a model.

use munshi_llm::calls::TargetHealth;
use munshi_llm::chat::TokenUsage;
use munshi_llm::{Gateway, ModelTarget};
use munshi_safety::budget::ModelClass;
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::HouseModels;

/// Prices are told by the million tokens, and asked for by fewer: some are dearer in very long calls.
const ASKED: u64 = 10_000;
const TOLD: i64 = 1_000_000;

/// A model of the settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ModelTarget)]
pub struct ModelView {
    pub name: String,
    pub provider: String,
    pub wire: String,
    pub model: String,
    /// What it is the first choice for, and what it stands behind others for.
    pub uses: Vec<String>,
    pub state: ModelState,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub resting_until: Option<Timestamp>,
    pub failures_lately: u64,
    /// Why the last attempt ended.
    pub last_outcome: Option<String>,
    /// In millionths of a dollar for a million tokens; null where nobody knows, and for all but keepers.
    pub input_price: Option<i64>,
    pub output_price: Option<i64>,
    /// `small`, `medium`, `large`, or `unrated` where nobody knows its price: what plans go by.
    #[schema(value_type = String)]
    pub class: ModelClass,
    pub residency: String,
    /// Whether it gets names and numbers of people as they are.
    pub sees_names: bool,
    /// Whether the tenant that was asked about lets it see its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permitted: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// It answered when it was last asked.
    Well,
    /// It failed when it was last asked, or some other time lately, and is still asked.
    Shaky,
    Resting,
    /// Nobody has asked it lately; so it is for all but keepers.
    Unknown,
}

impl ModelView {
    pub(super) fn new(
        models: &HouseModels,
        target: &ModelTarget,
        seen: Option<&TargetHealth>,
        now: Timestamp,
    ) -> Self {
        let resting_until = seen.and_then(|seen| seen.breaker.blocked_until(now));
        let failures_lately = seen.map_or(0, |seen| seen.breaker.recent_failures(now));
        let last = seen.and_then(|seen| seen.last.clone());
        let state = match &last {
            _ if target.is_local() => ModelState::Well,
            None => ModelState::Unknown,
            Some(_) if resting_until.is_some() => ModelState::Resting,
            Some((_, true)) => ModelState::Shaky,
            Some(_) if failures_lately > 0 => ModelState::Shaky,
            Some(_) => ModelState::Well,
        };
        let input = TokenUsage { input: ASKED, ..TokenUsage::default() };
        let output = TokenUsage { output: ASKED, ..TokenUsage::default() };
        Self {
            name: target.name.clone(),
            provider: target.provider_name().to_owned(),
            wire: target.wire.as_str().to_owned(),
            model: target.model.clone(),
            uses: list_uses(models, target),
            state,
            resting_until,
            failures_lately: failures_lately as u64,
            last_outcome: last.map(|(outcome, _)| outcome),
            input_price: find_price(&models.gateway, target, &input, now),
            output_price: find_price(&models.gateway, target, &output, now),
            class: models.classes.class(&target.name),
            residency: target.residency.clone(),
            sees_names: target.may_see_names(),
            permitted: None,
        }
    }
}

fn list_uses(models: &HouseModels, target: &ModelTarget) -> Vec<String> {
    let routed = models.route.targets.iter().filter_map(|(wanted, names)| {
        let place = names.iter().position(|name| *name == target.name)?;
        Some(if place == 0 { wanted.to_string() } else { format!("{wanted} ({})", place + 1) })
    });
    routed.collect()
}

fn find_price(gateway: &Gateway, target: &ModelTarget, usage: &TokenUsage, now: Timestamp) -> Option<i64> {
    let times = TOLD / i64::try_from(ASKED).unwrap_or(1);
    gateway.prices().cost(target, usage, now).map(|cost| cost.as_micros() * times)
}
