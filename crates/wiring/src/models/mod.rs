//! The models as the settings name them: targets, the route between them, and what they cost.
//!
//! # Layout
//! - [`target`]: one section of the settings made a target, by its preset
//! - [`address`]: whether a key may go there; [`price`]: the book of one's own prices
//!
//! A combination that can't work is a problem and nothing starts; one that may yet work is a warning.

mod address;
mod price;
mod target;

use std::collections::{BTreeMap, BTreeSet};

use munshi_config::{
    Config, ConfigProblem, ConfigProblems, ConfiguredModel, ModelSize, OFFLINE, SettingOrigin,
};
use munshi_llm::ModelTarget;
use munshi_llm::gateway::{Capability, ModelRoute, RoutingStrategy};
use munshi_llm::pricing::PriceBook;
use munshi_safety::budget::ModelClass;

/// What the gateway is made of.
#[derive(Debug)]
pub struct GatewayModels {
    /// In the order of the settings; `offline` is the last.
    pub targets: Vec<ModelTarget>,
    pub route: ModelRoute,
    pub prices: PriceBook,
    /// The classes that the settings give; prices say the others'.
    pub classes: BTreeMap<String, ModelClass>,
    /// What to look at, though it is no reason not to start.
    pub warnings: Vec<ConfigProblem>,
}

impl GatewayModels {
    /// Either every model can be used as it is written, or every problem is reported.
    pub fn from_config(config: &Config) -> Result<Self, ConfigProblems> {
        let mut findings = Findings { config, problems: Vec::new(), warnings: config.warnings.clone() };
        let mut prices = BTreeMap::new();
        let mut targets: Vec<ModelTarget> = Vec::new();
        for model in config.models.iter() {
            if let Some(target) = target::build(model, &mut findings) {
                prices.extend(price::resolve(model, &target, &mut findings));
                targets.push(target);
            }
        }
        targets.push(ModelTarget::offline());
        let route = route(config);
        findings.warn_unpermitted_targets(&route, &targets);
        findings.warn_excess_targets(&route);
        ConfigProblems::fail_if_any(findings.problems)?;
        let classes =
            config.models.iter().filter_map(|model| Some((model.name.clone(), class(model.class?))));
        let (classes, prices) = (classes.collect(), PriceBook::new(prices));
        Ok(Self { targets, route, prices, classes, warnings: findings.warnings })
    }
}

fn route(config: &Config) -> ModelRoute {
    let given = config.routes.by_use().into_iter().filter(|(_, names)| !names.is_empty());
    let mut targets: BTreeMap<Capability, Vec<String>> =
        given.filter_map(|(key, names)| Some((key.parse().ok()?, names.to_vec()))).collect();
    targets.insert(Capability::Default, config.default_route());
    let places: BTreeSet<String> = config.routes.permitted_residency.iter().cloned().collect();
    let residency = (!places.is_empty()).then_some(places);
    let sure = u16::try_from(config.routes.offline_when_sure).unwrap_or(100) * 10;
    ModelRoute {
        targets,
        residency,
        strategy: strategy(config.routes.strategy),
        escalation_words: config.routes.escalation_words.clone(),
        sure_above: (sure > 0).then_some(sure),
        templates: config.routes.templates_when_sure,
        ..ModelRoute::default()
    }
}

const fn class(given: ModelSize) -> ModelClass {
    match given {
        ModelSize::Small => ModelClass::Small,
        ModelSize::Medium => ModelClass::Medium,
        ModelSize::Large => ModelClass::Large,
    }
}

const fn strategy(given: munshi_config::RoutingStrategyChoice) -> RoutingStrategy {
    match given {
        munshi_config::RoutingStrategyChoice::Rule => RoutingStrategy::Rule,
        munshi_config::RoutingStrategyChoice::Classifier => RoutingStrategy::Classifier,
        munshi_config::RoutingStrategyChoice::Hybrid => RoutingStrategy::Hybrid,
    }
}

/// What is found on the way.
struct Findings<'a> {
    config: &'a Config,
    problems: Vec<ConfigProblem>,
    warnings: Vec<ConfigProblem>,
}

/// As many targets as a call tries; the offline model may come after them.
const MOST_TARGETS: usize = 3;

impl Findings<'_> {
    /// A fourth choice looks like a safety net and is none.
    fn warn_excess_targets(&mut self, route: &ModelRoute) {
        for (wanted, names) in &route.targets {
            let others = names.iter().filter(|name| *name != OFFLINE).count();
            if others > MOST_TARGETS {
                let what = format!("a call tries at most {MOST_TARGETS} models, but {others} are listed");
                let hint = "keep three; `offline` may follow them".to_owned();
                let place = self.config.origin("routes", wanted.as_str());
                let key = Some(format!("routes.{wanted}"));
                self.warnings.push(ConfigProblem { place, key, what, hint: Some(hint) });
            }
        }
    }

    /// A target that is in a route but whose data may not go where it is will never be asked.
    fn warn_unpermitted_targets(&mut self, route: &ModelRoute, targets: &[ModelTarget]) {
        let Some(places) = &route.residency else { return };
        let routed: BTreeSet<&String> = route.targets.values().flatten().collect();
        let refused = targets.iter().filter(|target| {
            routed.contains(&target.name) && target.name != OFFLINE && !places.contains(&target.residency)
        });
        for target in refused {
            let model = self.config.models.iter().find(|model| model.name == target.name);
            let what = match target.residency.as_str() {
                "" => format!("`{}` is never used: it has no `residency`", target.name),
                place => format!("`{}` is never used: residency `{place}` is not permitted", target.name),
            };
            let hint = "set its residency, or add it to routes.permitted_residency";
            self.warnings.extend(model.map(|model| build_problem(model, what, hint)));
        }
    }
}

/// What a model lacks, told where it was first named. A variable's name says another key then, so the text names the
/// model.
fn build_problem(model: &ConfiguredModel, what: String, hint: impl Into<String>) -> ConfigProblem {
    let what = match &model.place {
        SettingOrigin::Environment { .. } => format!("[{}]: {what}", model.section()),
        _ => what,
    };
    ConfigProblem { place: model.place.clone(), key: Some(model.section()), what, hint: Some(hint.into()) }
}

#[cfg(test)]
mod tests;
