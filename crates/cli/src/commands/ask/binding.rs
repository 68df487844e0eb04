//! Which binding is meant, and what to do where there is none.

use std::sync::Arc;

use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, PlatformTx};
use munshi_tiers::{BindingResolution, BindingResolver, history};
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_types::{TenantName, TenantStatus};
use munshi_wiring::failure::{CommandFailure, Exit, Result};

use crate::commands::prompt::binding;
use crate::commands::tenant;

/// So many tenants are looked through for a name that was meant.
const MOST: u32 = 100;
/// So many names are told.
const TOLD: usize = 12;

pub(in crate::commands) async fn find(
    db: &Db,
    resolver: &BindingResolver,
    tenant: Option<&TenantName>,
    wanted: &TierName,
) -> Result<Arc<BindingResolution>> {
    if let Some(name) = tenant {
        tenant::get_by_name(db, name).await?;
    }
    match binding::find(resolver, tenant, wanted, None).await {
        Err(failure) if failure.exit == Exit::NotFound => {
            let hint = hint(db, tenant, wanted).await?;
            Err(failure.hint(hint))
        }
        found => found,
    }
}

fn no_tenant_failure() -> CommandFailure {
    CommandFailure::not_found("there is no tenant yet")
        .hint("create one with `munshi apply DIR`, for example from tenants/rangoli")
}

async fn hint(db: &Db, tenant: Option<&TenantName>, wanted: &TierName) -> Result<String> {
    let names = match tenant {
        Some(tenant) => vec![tenant.clone()],
        None => open_tenants(db).await?,
    };
    if names.is_empty() {
        return Err(no_tenant_failure());
    }
    let mut known = Vec::new();
    for name in &names {
        let tiers = history::list_tiers(db, name).await?;
        let bindings = tiers
            .into_iter()
            .filter(|tier| tier.kind == TierKind::Binding && tier.status == TierStatus::Active);
        known.extend(bindings.map(|tier| tier.name.to_string()));
    }
    known.sort();
    known.dedup();
    if known.is_empty() {
        return Ok("there is no binding yet: add some with `munshi apply DIR`".to_owned());
    }
    let there = known.iter().take(TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if known.len() > TOLD { " and more" } else { "" };
    let all = format!("known bindings: {there}{more}");
    Ok(munshi_toml::render_hint(wanted.as_str(), known.iter().map(String::as_str), &all))
}

pub(in crate::commands) async fn open_tenants(db: &Db) -> Result<Vec<TenantName>> {
    let read = |tx: &mut PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, MOST));
    let page = db.platform(TENANTS).read(read).await?;
    let open = page.items.into_iter().filter(|tenant| tenant.status != TenantStatus::Archived);
    Ok(open.map(|tenant| tenant.name).collect())
}
