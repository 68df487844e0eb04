//! Which binding a page is of: its handle, `tenant:binding`, or its name where one tenant alone has it.

use std::sync::Arc;

use munshi_tiers::{AddressResolution, BindingResolution};
use munshi_types::TenantName;
use munshi_types::tier::{Audience, Channel, RoutingKey, RoutingKeyKind, TierName};

use crate::access::AccessState;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::shorten;

/// The binding, if pages may show it.
pub async fn resolve(access: &AccessState, name: &str) -> Result<Arc<BindingResolution>, ApiError> {
    let answer = match name.split_once(':') {
        Some((tenant, binding)) => resolve_by_name(access, tenant, binding).await?,
        None => match resolve_handle(access, name).await? {
            AddressResolution::Unknown => resolve_unique_name(access, name).await?,
            found => found,
        },
    };
    require_visible(answer, name)
}

/// The binding that a host leads to.
pub async fn find_by_host(
    access: &AccessState,
    host: &str,
) -> Result<Option<Arc<BindingResolution>>, ApiError> {
    let Ok(key) = RoutingKey::new(RoutingKeyKind::Host, host) else { return Ok(None) };
    Ok(match access.resolver.resolve(&key, None).await? {
        AddressResolution::Bound(place) if has_web_channel(&place) => Some(place),
        _ => None,
    })
}

/// The name by which it is found again, whatever others are called.
pub fn public_name(place: &BindingResolution) -> String {
    let handle = place.binding.keys.iter().find(|key| key.kind() == RoutingKeyKind::Handle);
    handle
        .map_or_else(|| format!("{}:{}", place.tenant_name, place.binding_name), |key| key.text().to_owned())
}

/// Whether it is for those who belong to the business, and for nobody else.
pub fn is_members_only(place: &BindingResolution) -> bool {
    matches!(place.binding.door, Audience::Private | Audience::Work)
}

/// Who answers there, as it is told to somebody. Those who may not talk there learn no names.
pub fn display_name(place: &BindingResolution, is_open: bool) -> &str {
    if is_open { &place.human.body.name } else { "Munshi" }
}

pub fn has_web_channel(place: &BindingResolution) -> bool {
    place.binding.channels.contains(&Channel::Web)
}

async fn resolve_by_name(
    access: &AccessState,
    tenant: &str,
    binding: &str,
) -> Result<AddressResolution, ApiError> {
    let (Ok(tenant), Ok(binding)) = (tenant.parse::<TenantName>(), binding.parse::<TierName>()) else {
        return Ok(AddressResolution::Unknown);
    };
    Ok(access.resolver.resolve_by_name(&tenant, &binding, None).await?)
}

async fn resolve_handle(access: &AccessState, name: &str) -> Result<AddressResolution, ApiError> {
    match RoutingKey::new(RoutingKeyKind::Handle, name) {
        Ok(key) => Ok(access.resolver.resolve(&key, None).await?),
        Err(_) => Ok(AddressResolution::Unknown),
    }
}

async fn resolve_unique_name(access: &AccessState, name: &str) -> Result<AddressResolution, ApiError> {
    let Ok(binding) = name.parse::<TierName>() else { return Ok(AddressResolution::Unknown) };
    match access.resolver.list_holders(&binding).await?.as_deref() {
        Some([tenant]) => Ok(access.resolver.resolve_by_name(tenant, &binding, None).await?),
        _ => Ok(AddressResolution::Unknown),
    }
}

fn require_visible(answer: AddressResolution, name: &str) -> Result<Arc<BindingResolution>, ApiError> {
    match answer {
        AddressResolution::Bound(place) if has_web_channel(&place) => Ok(place),
        AddressResolution::TenantPaused(_) => {
            Err(ApiError::new(ApiErrorCode::Unavailable, "This binding is temporarily unavailable.")
                .hint("Try again later."))
        }
        AddressResolution::Bound(_) | AddressResolution::Unknown => {
            Err(ApiError::new(ApiErrorCode::NotFound, format!("No binding is named {}.", shorten(name)))
                .hint("Check the address: use a handle, or `tenant:binding`."))
        }
        AddressResolution::TenantArchived(_) | AddressResolution::BindingArchived { .. } => {
            Err(ApiError::new(ApiErrorCode::NotFound, "This binding is closed.")
                .hint("Ask whoever gave you the address for the new one."))
        }
    }
}
