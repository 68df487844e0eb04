//! The models that may be asked in a binding's name, and on whose account.

use std::sync::Arc;

use munshi_llm::ModelTarget;
use munshi_llm::gateway::{Capability, ModelRoute};
use munshi_safety::budget::{BudgetAccount, BudgetLane, DurableBudget, UsagePlan};
use munshi_safety::policy::DataResidency;
use munshi_tiers::BindingResolution;
use munshi_types::tier::Agent;
use munshi_types::{PersonId, RunId};

use crate::engine::TurnEngineInner;

/// Who pays for calls of models.
#[derive(Clone, Copy)]
pub(crate) struct CallPayer {
    pub(crate) person: Option<PersonId>,
    pub(crate) lane: BudgetLane,
    pub(crate) run: Option<RunId>,
}

impl TurnEngineInner {
    /// Those of the agent's route that the plan and the tenant's residency permit.
    pub(crate) fn resolve_permitted_route(
        &self,
        binding: &BindingResolution,
        plan: UsagePlan,
        residency: &DataResidency,
    ) -> ModelRoute {
        let route = resolve_route(&binding.agent.body, &self.route, self.gateway.targets());
        ModelRoute { permitted: self.settings.classes.permitted(plan), ..residency.restrict(route) }
    }

    pub(crate) fn build_durable_budget(
        &self,
        binding: &BindingResolution,
        payer: CallPayer,
    ) -> DurableBudget {
        let CallPayer { person, lane, run } = payer;
        let zone = binding.zone.clone();
        DurableBudget {
            db: self.db.clone(),
            governor: Arc::new(self.act_services.governor.clone()),
            tenant: binding.tenant,
            account: BudgetAccount { binding: Some(binding.binding_id), person, lane, zone },
            run,
            clock: self.clock.clone(),
        }
    }
}

/// The agent's choice over the installation's. A use for which the agent names only models that are not there counts as
/// unsaid: a tenant's folder answers on a machine that has none of its models yet.
pub(crate) fn resolve_route(
    agent: &Agent,
    installation: &ModelRoute,
    known: &[Arc<ModelTarget>],
) -> ModelRoute {
    let mut route = munshi_tiers::resolve_model_route(agent, installation);
    let is_known = |name: &String| known.iter().any(|target| target.name == *name);
    route.targets.retain(|_, names| names.iter().any(is_known));
    for (wanted, names) in &installation.targets {
        route.targets.entry(*wanted).or_insert_with(|| names.clone());
    }
    route
}

/// Only the model of this machine.
pub(crate) fn restrict_to_local(route: &ModelRoute, here: Option<&str>) -> ModelRoute {
    let names = here.map(str::to_owned).into_iter().collect();
    ModelRoute { targets: [(Capability::Default, names)].into(), permitted: None, ..route.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_model_that_is_not_there_is_no_choice() {
        let here = ModelTarget::offline();
        let own = vec![here.name.clone()];
        let installation =
            ModelRoute { targets: [(Capability::Default, own.clone())].into(), ..ModelRoute::default() };
        let known = [Arc::new(here)];
        let says = |uses| serde_json::from_value(json!({ "models": { "uses": uses } })).unwrap();
        let stranger: Agent = says(json!({ "default": ["main"], "multilingual": ["indic", "main"] }));
        assert_eq!(resolve_route(&stranger, &installation, &known).targets, installation.targets);
        let second: Agent = says(json!({ "multilingual": ["indic", own[0]] }));
        let routed = resolve_route(&second, &installation, &known);
        assert_eq!(routed.targets[&Capability::Multilingual], ["indic".to_owned(), own[0].clone()]);
    }
}
