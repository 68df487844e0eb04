//! What a key reaches of tools and agents.

use std::sync::Arc;

use munshi_agent::direct_tools::DirectTool;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_tiers::{AddressResolution, BindingResolution, history};
use munshi_types::tier::{TierKind, TierStatus};
use munshi_types::{BindingId, Id};

use crate::api::access::AuthorizedCaller;
use crate::api::turn_errors::convert_turn_error;

/// What every agent's tool is called before its binding's name.
const ASK: &str = "ask_";

/// The bindings this key reaches, as they lead now, by name. Those that are closed are left out.
pub(crate) async fn list_bindings(key: &AuthorizedCaller) -> Result<Vec<Arc<BindingResolution>>, ApiError> {
    let tenant = key.api.load_tenant(key.tenant()).await?;
    let tiers = history::list_tiers(&key.api.db, &tenant.name).await?;
    let open = tiers.into_iter().filter(|tier| {
        let is_open = tier.kind == TierKind::Binding && tier.status == TierStatus::Active;
        is_open && key.reaches(BindingId::from_uuid(tier.id.as_uuid()))
    });
    let mut bindings = Vec::new();
    for tier in open {
        match key.api.resolver.resolve_by_name(&tenant.name, &tier.name, None).await? {
            AddressResolution::Bound(binding) => bindings.push(binding),
            AddressResolution::TenantPaused(name) => {
                let what = format!("{name} is paused.");
                return Err(ApiError::new(ApiErrorCode::Conflict, what).hint("Run `munshi tenant resume`."));
            }
            AddressResolution::TenantArchived(_)
            | AddressResolution::BindingArchived { .. }
            | AddressResolution::Unknown => {}
        }
    }
    bindings.sort_by(|one, other| one.binding_name.cmp(&other.binding_name));
    Ok(bindings)
}

/// The tools that are open to the key, by name; none where it does not open tools, and those that only look where it
/// opens no more.
pub(crate) async fn list_tools(
    key: &AuthorizedCaller,
    bindings: &[Arc<BindingResolution>],
    only: Option<&str>,
) -> Result<Vec<DirectTool>, ApiError> {
    if key.caller.authorize(Area::Tools, ApiAccess::Read).is_err() {
        return Ok(Vec::new());
    }
    let mut tools =
        key.api.engine.open_tools(&key.caller.principal, bindings, only).await.map_err(convert_turn_error)?;
    if key.caller.authorize(Area::Tools, ApiAccess::Write).is_err() {
        tools.retain(|one| !one.tool.known.spec.effect.writes());
    }
    Ok(tools)
}

/// Whether the key may ask agents.
pub(crate) fn can_ask_agents(key: &AuthorizedCaller) -> bool {
    key.caller.authorize(Area::Chat, ApiAccess::Write).is_ok()
}

/// What the agent of a binding is called. A binding's name has dashes and no underscores, so no two are called alike.
pub(crate) fn agent_name(binding: &BindingResolution) -> String {
    format!("{ASK}{}", binding.binding_name.as_str().replace('-', "_"))
}
