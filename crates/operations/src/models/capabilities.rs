//! Which models answer a tenant, use by use.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_llm::gateway::Capability;
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::{budget, policy};
use munshi_tiers::{TenantModels, tenant_models};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::HouseModels;
use crate::named_list::NameListInput;
use crate::{HouseCall, HouseServices};

/// A use of models, and who answers a tenant for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ModelCapability)]
pub struct ModelCapabilityView {
    pub capability: String,
    /// Names, the first choice first. An agent that names its own goes by those.
    pub models: Vec<String>,
    /// `tenant`, `installation`, or `fallback` where nobody has named any for this use.
    pub set_by: String,
    /// The use whose models answer where none are named for this one.
    pub falls_back_to: Option<String>,
    /// Of the models, those that the tenant's plan or data residency does not permit: they are passed over.
    pub not_permitted: Vec<String>,
}

pub struct ListModelCapabilities;

impl Operation<HouseServices> for ListModelCapabilities {
    type Input = NameListInput;
    type View = ListView<ModelCapabilityView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "model-capabilities",
        noun: "model capability",
        command: "models capabilities",
        verb: "list",
        about: "List what models are used for, and which of them answer a tenant for each use.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/model-capabilities",
    };

    async fn run(
        call: &HouseCall,
        input: NameListInput,
    ) -> Result<ListView<ModelCapabilityView>, OperationError> {
        let models = call.services.parts.open_models()?;
        let settings = call.services.parts.budget();
        let known = models.clone();
        let all = call.read(move |tx| {
            let tenant = tenant_models::load(tx)?;
            let permission = Permission::load(tx, &known, &settings)?;
            let view = |wanted: &Capability| render(&known, &tenant, &permission, *wanted);
            Ok(Capability::ALL.iter().map(view).collect::<Vec<_>>())
        });
        input.paginate(all.await?, |one| one.capability.clone())
    }
}

/// What a tenant's plan and its policy leave of the models.
pub(super) struct Permission(munshi_llm::gateway::ModelRoute);

impl Permission {
    pub(super) fn load(
        tx: &mut munshi_store::Tx<'_>,
        models: &HouseModels,
        settings: &budget::BudgetSettings,
    ) -> Result<Self, OperationError> {
        let (_, policy) = policy::load_current(tx)?;
        let plan = budget::load_plan(tx, settings)?;
        let mut route = policy.residency.restrict(models.route.as_ref().clone());
        route.permitted = models.classes.permitted(plan);
        Ok(Self(route))
    }
}

pub(super) fn render(
    models: &HouseModels,
    tenant: &TenantModels,
    permission: &Permission,
    wanted: Capability,
) -> ModelCapabilityView {
    let (names, origin) = models.resolve(tenant, wanted);
    let is_refused = |name: &&String| {
        let target = models.gateway.targets().iter().find(|target| target.name == **name);
        target.is_some_and(|target| !permission.0.permits(target))
    };
    ModelCapabilityView {
        capability: wanted.to_string(),
        models: names.to_vec(),
        set_by: origin.as_str().to_owned(),
        falls_back_to: wanted.fallback().map(|other| other.to_string()),
        not_permitted: names.iter().filter(is_refused).cloned().collect(),
    }
}
