//! The models that may be asked in a binding's name, and on whose account.

use std::sync::Arc;

use munshi_llm::ModelTarget;
use munshi_llm::gateway::{Capability, ModelRoute};
use munshi_safety::budget::{BudgetAccount, BudgetLane, DurableBudget, UsagePlan};
use munshi_safety::policy::DataResidency;
use munshi_tiers::{BindingResolution, TenantModels};
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
    /// As agent, tenant and installation say, whoever may see the data.
    pub(crate) fn resolve_unrestricted_route(&self, binding: &BindingResolution) -> ModelRoute {
        resolve_route(&binding.agent.body, &binding.tenant_models, &self.route, self.gateway.targets())
    }

    /// Those of the agent's route that the plan and the tenant's residency permit.
    pub(crate) fn resolve_permitted_route(
        &self,
        binding: &BindingResolution,
        plan: UsagePlan,
        residency: &DataResidency,
    ) -> ModelRoute {
        let route = self.resolve_unrestricted_route(binding);
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

/// The agent's choice over the tenant's, and that over the installation's.
fn resolve_route(
    agent: &Agent,
    tenant: &TenantModels,
    installation: &ModelRoute,
    known: &[Arc<ModelTarget>],
) -> ModelRoute {
    let mut ours = installation.clone();
    ours.targets.extend(tenant.iter().map(|(wanted, names)| (*wanted, names.clone())));
    retain_known(&mut ours, installation, known);
    let mut route = munshi_tiers::resolve_model_route(agent, &ours);
    retain_known(&mut route, &ours, known);
    route
}

/// A use for which only models are named that are not there counts as unsaid: a tenant's folder answers on a machine that
/// has none of its models yet, and one whose model was taken away by those that are left.
fn retain_known(route: &mut ModelRoute, otherwise: &ModelRoute, known: &[Arc<ModelTarget>]) {
    let is_known = |name: &String| known.iter().any(|target| target.name == *name);
    route.targets.retain(|_, names| names.iter().any(is_known));
    for (wanted, names) in &otherwise.targets {
        route.targets.entry(*wanted).or_insert_with(|| names.clone());
    }
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
        let unsaid = TenantModels::new();
        assert_eq!(resolve_route(&stranger, &unsaid, &installation, &known).targets, installation.targets);
        let second: Agent = says(json!({ "multilingual": ["indic", own[0]] }));
        let routed = resolve_route(&second, &unsaid, &installation, &known);
        assert_eq!(routed.targets[&Capability::Multilingual], ["indic".to_owned(), own[0].clone()]);
        // A model that was taken out of the settings since.
        let gone = TenantModels::from([(Capability::Default, vec!["main".to_owned()])]);
        assert_eq!(resolve_route(&stranger, &gone, &installation, &known).targets, installation.targets);
    }

    #[test]
    fn an_agent_chooses_over_its_tenant_and_that_over_the_installation() {
        let named = |name: &str| Arc::new(ModelTarget { name: name.to_owned(), ..ModelTarget::offline() });
        let known = ["big", "small", "indic"].map(named);
        let of = |name: &str| vec![name.to_owned()];
        let installation =
            ModelRoute { targets: [(Capability::Default, of("big"))].into(), ..ModelRoute::default() };
        let tenant = TenantModels::from([
            (Capability::Default, of("small")),
            (Capability::Cheap, of("small")),
            (Capability::Multilingual, of("indic")),
        ]);
        let agent: Agent =
            serde_json::from_value(json!({ "models": { "uses": { "cheap": ["big"] } } })).unwrap();
        let routed = resolve_route(&agent, &tenant, &installation, &known).targets;
        assert_eq!(routed[&Capability::Default], ["small"]);
        assert_eq!(routed[&Capability::Cheap], ["big"]);
        assert_eq!(routed[&Capability::Multilingual], ["indic"]);
    }
}
