//! The models of the settings, with their health and prices.

use std::collections::BTreeMap;
use std::time::Duration;

use munshi_identity::keys::{ApiAccess, Area};
use munshi_llm::calls::{MODELS, TargetHealth, load_health_since};
use munshi_llm::gateway::ModelRoute;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod, describe_order,
};
use munshi_safety::policy;
use munshi_store::SortOrder;
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{HouseModels, ModelView};
use crate::{HouseCall, HouseServices};

/// A breaker remembers no further back: five minutes of failures and ten of rest.
const LOOK_BACK: Duration = Duration::from_secs(15 * 60);

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListModelsInput {
    #[schema(schema_with = describe_order)]
    pub order: Option<SortOrder>,
}

/// All models, in the order of the settings unless the other one was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ModelTargets)]
pub struct ModelsView {
    pub models: Vec<ModelView>,
    /// What to look at in the settings; only for whoever keeps the installation.
    pub warnings: Vec<String>,
}

impl ModelsView {
    fn in_order(mut self, order: Option<SortOrder>) -> Self {
        if order == Some(SortOrder::Descending) {
            self.models.reverse();
        }
        self
    }
}

pub struct ListModels;

impl Operation<HouseServices> for ListModels {
    type Input = ListModelsInput;
    type View = ModelsView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "model-targets",
        noun: "model",
        command: "models",
        verb: "list",
        about: "List the models in the order of the settings with health and prices; with a tenant, which of them may see its data.",
        needs: CallerClass::MemberOrKeeper(Area::Tiers, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/model-targets",
    };

    async fn run(call: &HouseCall, input: ListModelsInput) -> Result<ModelsView, OperationError> {
        let models = call.services.parts.open_models()?;
        let since = call.now.minus(LOOK_BACK);
        // How it is was seen in the calls of all tenants, and what it costs was agreed with the installation.
        let health = if call.caller.is_keeper() {
            call.read_platform(MODELS, move |tx| Ok(load_health_since(tx, since)?)).await?
        } else {
            BTreeMap::new()
        };
        let route = if call.tenant.is_installation() {
            None
        } else {
            let (_, policy) = call.read(|tx| Ok(policy::load_current(tx)?)).await?;
            Some(policy.residency.restrict(models.route.as_ref().clone()))
        };
        let mut view = build_view(&models, &health, route.as_ref(), call.now).in_order(input.order);
        if !call.caller.is_keeper() {
            view.warnings.clear();
            for model in &mut view.models {
                (model.input_price, model.output_price) = (None, None);
            }
        }
        Ok(view)
    }
}

/// The same where there is no database yet, and so nothing is known of their health.
pub fn list_without_database(models: &HouseModels, order: Option<SortOrder>, now: Timestamp) -> ModelsView {
    build_view(models, &BTreeMap::new(), None, now).in_order(order)
}

fn build_view(
    models: &HouseModels,
    health: &BTreeMap<String, TargetHealth>,
    route: Option<&ModelRoute>,
    now: Timestamp,
) -> ModelsView {
    let all = models.gateway.targets().iter().map(|target| {
        let permitted = route.map(|route| route.permits(target));
        ModelView { permitted, ..ModelView::new(models, target, health.get(&target.name), now) }
    });
    ModelsView { models: all.collect(), warnings: models.warnings.clone() }
}
