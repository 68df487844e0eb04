//! Which binding a page is of: its handle, `tenant:binding`, or its name where one tenant alone has it.

use std::sync::Arc;

use munshi_tiers::{AddressResolution, BindingResolution};
use munshi_types::TenantName;
use munshi_types::tier::{Audience, Channel, RoutingKey, RoutingKeyKind, TierName};

use crate::api::ApiState;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::shorten;

/// The binding, if pages may show it.
pub(crate) async fn find(api: &ApiState, name: &str) -> Result<Arc<BindingResolution>, ApiError> {
    let answer = match name.split_once(':') {
        Some((tenant, binding)) => named(api, tenant, binding).await?,
        None => match handle(api, name).await? {
            AddressResolution::Unknown => alone(api, name).await?,
            found => found,
        },
    };
    shown(answer, name)
}

/// The binding that a host leads to.
pub(crate) async fn of_host(api: &ApiState, host: &str) -> Result<Option<Arc<BindingResolution>>, ApiError> {
    let Ok(key) = RoutingKey::new(RoutingKeyKind::Host, host) else { return Ok(None) };
    Ok(match api.resolver.resolve(&key, None).await? {
        AddressResolution::Bound(place) if is_on_the_web(&place) => Some(place),
        _ => None,
    })
}

/// The name by which it is found again, whatever others are called.
pub(crate) fn name_of(place: &BindingResolution) -> String {
    let handle = place.binding.keys.iter().find(|key| key.kind() == RoutingKeyKind::Handle);
    handle
        .map_or_else(|| format!("{}:{}", place.tenant_name, place.binding_name), |key| key.text().to_owned())
}

/// Whether it is for those who belong to the business, and for nobody else.
pub(crate) fn is_closed(place: &BindingResolution) -> bool {
    matches!(place.binding.door, Audience::Private | Audience::Work)
}

/// Who answers there, as it is told to somebody. Those who may not talk there learn no names.
pub(crate) fn name_shown(place: &BindingResolution, is_open: bool) -> &str {
    if is_open { &place.human.body.name } else { "Munshi" }
}

pub(crate) fn is_on_the_web(place: &BindingResolution) -> bool {
    place.binding.channels.contains(&Channel::Web)
}

async fn named(api: &ApiState, tenant: &str, binding: &str) -> Result<AddressResolution, ApiError> {
    let (Ok(tenant), Ok(binding)) = (tenant.parse::<TenantName>(), binding.parse::<TierName>()) else {
        return Ok(AddressResolution::Unknown);
    };
    Ok(api.resolver.by_name(&tenant, &binding, None).await?)
}

async fn handle(api: &ApiState, name: &str) -> Result<AddressResolution, ApiError> {
    match RoutingKey::new(RoutingKeyKind::Handle, name) {
        Ok(key) => Ok(api.resolver.resolve(&key, None).await?),
        Err(_) => Ok(AddressResolution::Unknown),
    }
}

async fn alone(api: &ApiState, name: &str) -> Result<AddressResolution, ApiError> {
    let Ok(binding) = name.parse::<TierName>() else { return Ok(AddressResolution::Unknown) };
    match api.resolver.holders(&binding).await?.as_deref() {
        Some([tenant]) => Ok(api.resolver.by_name(tenant, &binding, None).await?),
        _ => Ok(AddressResolution::Unknown),
    }
}

fn shown(answer: AddressResolution, name: &str) -> Result<Arc<BindingResolution>, ApiError> {
    match answer {
        AddressResolution::Bound(place) if is_on_the_web(&place) => Ok(place),
        AddressResolution::TenantPaused(_) => {
            Err(ApiError::new(ApiErrorCode::Unavailable, "Nobody answers here for now.")
                .hint("Come back later; whoever looks after it knows."))
        }
        AddressResolution::Bound(_) | AddressResolution::Unknown => Err(ApiError::new(
            ApiErrorCode::NotFound,
            format!("Nobody is here under the name {}.", shorten(name)),
        )
        .hint("Look at the address: a handle, or `tenant:binding`.")),
        AddressResolution::TenantArchived(_) | AddressResolution::BindingArchived { .. } => {
            Err(ApiError::new(ApiErrorCode::NotFound, "Nobody answers here any more.")
                .hint("Whoever gave you the address knows where to write now."))
        }
    }
}
