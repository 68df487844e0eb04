//! `GET /v1/bindings`: whom one can write to.

use munshi_tiers::history;
use munshi_types::{BindingId, Id};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::Key;
use crate::api::ask::{Asked, Limit, Listed};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::tier::Binding;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The `next` of the page before.
    after: Option<String>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<Limit>,
}

/// The bindings this key reaches, by name, archived ones too.
#[utoipa::path(get, path = "/v1/bindings", tag = "bindings", params(Which),
    responses((status = 200, description = "Some of them.", body = Listed<Binding>)))]
pub(crate) async fn list_bindings(
    key: Key,
    Asked(which): Asked<Which>,
) -> Result<Json<Listed<Binding>>, ApiError> {
    let tenant = key.api.tenant(key.tenant()).await?;
    let tiers = history::tiers(&key.api.db, &tenant.name).await?;
    let reached = tiers.iter().filter(|tier| key.reaches(BindingId::from_uuid(tier.id.as_uuid())));
    let bindings: Vec<Binding> = reached.filter_map(Binding::of).collect();
    Ok(Json(Listed::by_name(bindings, which.after.as_deref(), which.limit, |one| one.name.to_string())))
}
