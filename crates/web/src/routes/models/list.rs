//! `GET /v1/models`: the bindings this key reaches, as OpenAI's clients list models.

use axum::response::{IntoResponse, Response};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_types::{BindingId, Id, Tenant};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::openai::errors::{self, CompletionRefusal};

/// A binding as a model.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Model)]
pub(crate) struct ModelEntry {
    /// The binding's name.
    #[schema(value_type = String, example = "counter")]
    pub(crate) id: TierName,
    /// `model`
    object: &'static str,
    /// Creation time of the binding, in seconds since the Unix epoch.
    created: i64,
    /// The workspace's name.
    #[schema(example = "rangoli")]
    owned_by: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelList {
    /// `list`
    object: &'static str,
    data: Vec<ModelEntry>,
}

/// List the bindings accessible with this key in OpenAI's model format. Archived bindings are not included.
#[utoipa::path(get, path = "/v1/models", tag = "models",
    responses((status = 200, description = "The models.", body = ModelList)))]
pub(crate) async fn list_models(key: AuthorizedCaller) -> Result<Response, CompletionRefusal> {
    let data = list_reachable(&key).await?;
    let mut response = Json(ModelList { object: "list", data }).into_response();
    errors::set_rate_limit_headers(&mut response, key.api.limits.key_status(&key.caller));
    Ok(response)
}

pub(super) async fn list_reachable(key: &AuthorizedCaller) -> Result<Vec<ModelEntry>, ApiError> {
    let tenant = key.api.load_tenant(key.tenant()).await?;
    let tiers = history::list_tiers(&key.api.db, &tenant.name).await?;
    let bindings = tiers.into_iter().filter(|tier| {
        let is_open = tier.kind == TierKind::Binding && tier.status == TierStatus::Active;
        is_open && key.reaches(BindingId::from_uuid(tier.id.as_uuid()))
    });
    let mut models: Vec<ModelEntry> =
        bindings.map(|tier| build_entry(&tenant, tier.name.clone(), tier.id.as_uuid())).collect();
    models.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(models)
}

fn build_entry(tenant: &Tenant, id: TierName, made: uuid::Uuid) -> ModelEntry {
    // Ids carry the moment they were made.
    let created = made.get_timestamp().map_or(0, |at| at.to_unix().0);
    let created = i64::try_from(created).unwrap_or(0);
    ModelEntry { id, object: "model", created, owned_by: tenant.name.to_string() }
}
