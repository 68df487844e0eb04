//! Which tenant is meant.

use munshi_pack::operation::{OperationError, OperationErrorCode};
use munshi_store::{PageRequest, PlatformTx, tenants};
use munshi_types::{Tenant, TenantName, TenantStatus};

/// So many tenants are looked through for the only one.
const MOST: u32 = 100;

/// The one that is named, whatever its status; without a name, the only one that is not archived.
pub fn find_selected(tx: &mut PlatformTx<'_>, name: Option<&TenantName>) -> Result<Tenant, OperationError> {
    match name {
        Some(name) => find_named(tx, name),
        None => find_only(tx),
    }
}

pub(super) fn find_named(tx: &mut PlatformTx<'_>, name: &TenantName) -> Result<Tenant, OperationError> {
    tenants::find_by_name(tx, name)?.ok_or_else(|| {
        OperationError::not_found("tenant", name.as_str()).hint("`munshi tenant list` shows them all.")
    })
}

fn find_only(tx: &mut PlatformTx<'_>) -> Result<Tenant, OperationError> {
    let page = tenants::list(tx, &PageRequest::new(None, MOST))?;
    let more = page.next.is_some();
    let mut open = page.items.into_iter().filter(|tenant| tenant.status != TenantStatus::Archived);
    match (open.next(), open.next(), more) {
        (Some(tenant), None, false) => Ok(tenant),
        (None, _, false) => Err(OperationError::new(OperationErrorCode::NotFound, "There is no tenant yet.")
            .hint("Add one with `munshi tenant add NAME`.")),
        _ => Err(OperationError::new(OperationErrorCode::Invalid, "There are several tenants.")
            .hint("Choose one with --tenant NAME, or send its name as `x-munshi-tenant`.")),
    }
}
