//! `GET /v1/bindings/{name}`: one binding, its addresses and versions.

use munshi_server::error::ApiError;
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName};
use munshi_types::{BindingId, Id};

use crate::api::access::AuthorizedCaller;
use crate::views::tier::{BindingView, BindingWithVersions};

/// Get a binding with its addresses and versions.
#[utoipa::path(get, path = "/v1/bindings/{name}", tag = "bindings",
    params(("name" = String, Path, description = "The name of the binding.", max_length = 63, example = "counter")),
    responses((status = 200, description = "The binding.", body = BindingWithVersions)))]
pub(crate) async fn read_binding(
    key: AuthorizedCaller,
    UrlPathParameter(name): UrlPathParameter<TierName>,
) -> Result<Json<BindingWithVersions>, ApiError> {
    let tenant = key.api.load_tenant(key.tenant()).await?;
    let tiers = history::list_tiers(&key.api.db, &tenant.name).await?;
    let found = tiers.iter().find(|tier| {
        let reached = key.reaches(BindingId::from_uuid(tier.id.as_uuid()));
        tier.kind == TierKind::Binding && tier.name == name && reached
    });
    let binding = found.and_then(BindingView::of).ok_or_else(|| not_found_error("binding", name.as_str()))?;
    let log = history::load(&key.api.db, &tenant.name, TierKind::Binding, &name).await?;
    let versions = log.versions.into_iter().map(Into::into).collect();
    Ok(Json(BindingWithVersions { binding, versions }))
}
