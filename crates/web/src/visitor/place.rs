//! Which binding a page is of: its handle, `tenant:binding`, or its name where one tenant alone has it.

use std::sync::Arc;

use munshi_tiers::{Answer, Resolution};
use munshi_types::TenantName;
use munshi_types::tier::{Audience, Channel, KeyKind, RoutingKey, TierName};

use crate::api::Inner;
use crate::error::{ApiError, Code};
use crate::json::shorten;

/// The binding, if pages may show it.
pub(crate) async fn find(api: &Inner, name: &str) -> Result<Arc<Resolution>, ApiError> {
    let answer = match name.split_once(':') {
        Some((tenant, binding)) => named(api, tenant, binding).await?,
        None => match handle(api, name).await? {
            Answer::Unknown => alone(api, name).await?,
            found => found,
        },
    };
    shown(answer, name)
}

/// The binding that a host leads to.
pub(crate) async fn of_host(api: &Inner, host: &str) -> Result<Option<Arc<Resolution>>, ApiError> {
    let Ok(key) = RoutingKey::new(KeyKind::Host, host) else { return Ok(None) };
    Ok(match api.resolver.resolve(&key, None).await? {
        Answer::Bound(place) if is_on_the_web(&place) => Some(place),
        _ => None,
    })
}

/// The name by which it is found again, whatever others are called.
pub(crate) fn name_of(place: &Resolution) -> String {
    let handle = place.binding.keys.iter().find(|key| key.kind() == KeyKind::Handle);
    handle
        .map_or_else(|| format!("{}:{}", place.tenant_name, place.binding_name), |key| key.text().to_owned())
}

/// Whether it is for those who belong to the business, and for nobody else.
pub(crate) fn is_closed(place: &Resolution) -> bool {
    matches!(place.binding.door, Audience::Private | Audience::Work)
}

/// Who answers there, as it is told to somebody. Those who may not talk there learn no names.
pub(crate) fn name_shown(place: &Resolution, is_open: bool) -> &str {
    if is_open { &place.human.body.name } else { "Munshi" }
}

pub(crate) fn is_on_the_web(place: &Resolution) -> bool {
    place.binding.channels.contains(&Channel::Web)
}

async fn named(api: &Inner, tenant: &str, binding: &str) -> Result<Answer, ApiError> {
    let (Ok(tenant), Ok(binding)) = (tenant.parse::<TenantName>(), binding.parse::<TierName>()) else {
        return Ok(Answer::Unknown);
    };
    Ok(api.resolver.by_name(&tenant, &binding, None).await?)
}

async fn handle(api: &Inner, name: &str) -> Result<Answer, ApiError> {
    match RoutingKey::new(KeyKind::Handle, name) {
        Ok(key) => Ok(api.resolver.resolve(&key, None).await?),
        Err(_) => Ok(Answer::Unknown),
    }
}

async fn alone(api: &Inner, name: &str) -> Result<Answer, ApiError> {
    let Ok(binding) = name.parse::<TierName>() else { return Ok(Answer::Unknown) };
    match api.resolver.holders(&binding).await?.as_deref() {
        Some([tenant]) => Ok(api.resolver.by_name(tenant, &binding, None).await?),
        _ => Ok(Answer::Unknown),
    }
}

fn shown(answer: Answer, name: &str) -> Result<Arc<Resolution>, ApiError> {
    match answer {
        Answer::Bound(place) if is_on_the_web(&place) => Ok(place),
        Answer::TenantPaused(_) => Err(ApiError::new(Code::Unavailable, "Nobody answers here for now.")
            .hint("Come back later; whoever looks after it knows.")),
        Answer::Bound(_) | Answer::Unknown => {
            Err(ApiError::new(Code::NotFound, format!("Nobody is here under the name {}.", shorten(name)))
                .hint("Look at the address: a handle, or `tenant:binding`."))
        }
        Answer::TenantArchived(_) | Answer::BindingArchived { .. } => {
            Err(ApiError::new(Code::NotFound, "Nobody answers here any more.")
                .hint("Whoever gave you the address knows where to write now."))
        }
    }
}
