//! Lets other models answer a tenant for one use.

use std::collections::BTreeSet;

use munshi_llm::gateway::Capability;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_store::tenants::TENANTS;
use munshi_tiers::{mark_tenant_changed, tenant_models};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::capabilities::{Permission, render};
use super::{HouseModels, ModelCapabilityView};
use crate::{HouseCall, HouseServices};

/// Nobody waits for a ninth model to fail.
const MOST_MODELS: usize = 8;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewModelCapability)]
pub struct SetModelCapabilityInput {
    /// Such as default, cheap, multilingual, chat_tools, chat_light, json_strict, summariser or embeddings.
    pub capability: String,
    /// Models by their names in the settings, the first choice first; none for the installation's choice.
    pub models: Vec<String>,
}

pub struct SetModelCapability;

impl Operation<HouseServices> for SetModelCapability {
    type Input = SetModelCapabilityInput;
    type View = ModelCapabilityView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "model-capabilities",
        noun: "model capability",
        command: "models",
        verb: "set",
        about: "Let other models answer a tenant for one use; it holds from the next turn on.",
        needs: CallerClass::KeeperOfTenant,
        effect: OperationEffect::Write(&["model_capability.changed"]),
        method: RouteMethod::Post,
        path: "/v1/model-capabilities/{capability}",
    };

    async fn run(
        call: &HouseCall,
        input: SetModelCapabilityInput,
    ) -> Result<ModelCapabilityView, OperationError> {
        let models = call.services.parts.open_models()?;
        let settings = call.services.parts.budget();
        let wanted = parse_capability(&input.capability)?;
        check_models(&models, wanted, &input.models)?;
        let (tenant, now) = (call.tenant.id, call.now);
        call.write_platform(TENANTS, move |tx| {
            mark_tenant_changed(tx, tenant)?;
            let (before, view) = tx.as_tenant(tenant, |tx| {
                let mut known = tenant_models::load(tx)?;
                let before = known.insert(wanted, input.models.clone()).unwrap_or_default();
                let permission = Permission::load(tx, &models, &settings)?;
                let view = render(&models, &known, &permission, wanted);
                if !input.models.is_empty() && view.not_permitted.len() == input.models.len() {
                    let what = "The tenant's plan or data residency permits none of these models.";
                    return Err(OperationError::new(OperationErrorCode::Conflict, what)
                        .hint("See `munshi models --tenant NAME` and `munshi usage plan`."));
                }
                tenant_models::set(tx, wanted, &input.models, now)?;
                Ok::<_, OperationError>((before, view))
            })?;
            let payload = json!({ "from": before, "to": input.models });
            tx.note([tenant], "model_capability.changed", wanted.as_str(), payload);
            Ok(view)
        })
        .await
    }
}

fn parse_capability(text: &str) -> Result<Capability, OperationError> {
    text.parse().map_err(|error: String| OperationError::field("capability", &error))
}

fn check_models(models: &HouseModels, wanted: Capability, names: &[String]) -> Result<(), OperationError> {
    if names.len() > MOST_MODELS {
        return Err(OperationError::field("models", &format!("at most {MOST_MODELS} can be named")));
    }
    let mut seen = BTreeSet::new();
    for name in names {
        let Ok(target) = models.find(name) else {
            let shown: String = name.chars().take(80).collect();
            return Err(OperationError::field("models", &format!("there is no model `{shown}`"))
                .hint(format!("There are {}.", models.names().join(", "))));
        };
        if !seen.insert(name) {
            return Err(OperationError::field("models", &format!("`{name}` is named twice")));
        }
        let makes_vectors = target.capabilities.embeddings || target.is_local();
        if wanted == Capability::Embeddings && !makes_vectors {
            return Err(OperationError::field("models", &format!("`{name}` makes no embeddings")));
        }
    }
    if wanted == Capability::Embeddings && names.len() > 1 {
        return Err(OperationError::field(
            "models",
            "embeddings come from one model, so that they can be compared",
        ));
    }
    Ok(())
}
