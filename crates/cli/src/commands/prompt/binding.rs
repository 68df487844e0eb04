//! Which binding is meant, and why it may have no prompt.

use std::sync::Arc;

use munshi_tiers::{AddressResolution, BindingResolution, BindingResolver};
use munshi_types::TenantName;
use munshi_types::tier::TierName;
use munshi_wiring::failure::{CommandFailure, Result};

/// The binding as this person would meet it.
pub(in crate::commands) async fn find(
    resolver: &BindingResolver,
    tenant: Option<&TenantName>,
    binding: &TierName,
    person: Option<&str>,
) -> Result<Arc<BindingResolution>> {
    let tenant = match tenant {
        Some(tenant) => tenant.clone(),
        None => only_holder(resolver, binding).await?,
    };
    match resolver.resolve_by_name(&tenant, binding, person).await? {
        AddressResolution::Bound(resolution) => Ok(resolution),
        AddressResolution::Unknown => {
            Err(CommandFailure::not_found(format!("{tenant} has no binding called {binding}"))
                .hint(format!("`munshi tier list {tenant}` shows them all")))
        }
        AddressResolution::BindingArchived { .. } => {
            Err(CommandFailure::refused(format!("binding {binding} of {tenant} is archived"))
                .hint("apply its file again to restore it"))
        }
        AddressResolution::TenantPaused(_) => {
            Err(CommandFailure::refused(format!("tenant {tenant} is paused"))
                .hint(format!("run `munshi tenant resume {tenant}`")))
        }
        AddressResolution::TenantArchived(_) => {
            Err(CommandFailure::refused(format!("tenant {tenant} is archived")))
        }
    }
}

/// The tenant, where only one has such a binding.
async fn only_holder(resolver: &BindingResolver, binding: &TierName) -> Result<TenantName> {
    let Some(holders) = resolver.list_holders(binding).await? else {
        return Err(CommandFailure::usage("there are too many tenants to search")
            .hint("choose one with --tenant NAME"));
    };
    match holders.as_slice() {
        [tenant] => Ok(tenant.clone()),
        [] => Err(CommandFailure::not_found(format!("no tenant has a binding called {binding}"))
            .hint("`munshi tier list TENANT` shows a tenant's bindings")),
        several => {
            let names = several.iter().map(TenantName::as_str).collect::<Vec<_>>().join(", ");
            Err(CommandFailure::usage(format!("several tenants have a binding called {binding}: {names}"))
                .hint("choose one with --tenant NAME"))
        }
    }
}
