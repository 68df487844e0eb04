//! Pausing, resuming and archiving a tenant.

use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::PlatformAdminTx;
use munshi_store::tenants::{self, TENANTS};
use munshi_types::{Tenant, TenantName, TenantStatus};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::find::find_named;
use super::{TenantInput, TenantView};
use crate::{HouseCall, HouseServices};

/// A tenant after its status was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChangedTenant)]
pub struct ChangedTenantView {
    #[serde(flatten)]
    pub tenant: TenantView,
    /// False when it was so already.
    pub changed: bool,
}

macro_rules! status_operation {
    ($name:ident, $verb:literal, $event:literal, $path:literal, $status:expr, $about:literal) => {
        pub struct $name;

        impl Operation<HouseServices> for $name {
            type Input = TenantInput;
            type View = ChangedTenantView;

            const SPEC: OperationSpec = OperationSpec {
                resource: "tenants",
                noun: "tenant",
                command: "tenant",
                verb: $verb,
                about: $about,
                needs: CallerClass::Keeper,
                effect: OperationEffect::Write(&[$event]),
                method: RouteMethod::Post,
                path: $path,
            };

            async fn run(call: &HouseCall, input: TenantInput) -> Result<ChangedTenantView, OperationError> {
                call.write_platform(TENANTS, move |tx| set(tx, &input.name, $status, $event)).await
            }
        }
    };
}

status_operation!(
    PauseTenant,
    "pause",
    "tenant.paused",
    "/v1/tenants/{name}/pause",
    TenantStatus::Paused,
    "Pause a tenant: it answers nobody and runs no jobs until resumed."
);
status_operation!(
    ResumeTenant,
    "resume",
    "tenant.resumed",
    "/v1/tenants/{name}/resume",
    TenantStatus::Active,
    "Resume a paused tenant."
);
status_operation!(
    ArchiveTenant,
    "archive",
    "tenant.archived",
    "/v1/tenants/{name}/archive",
    TenantStatus::Archived,
    "Archive a tenant permanently; its data and name are kept."
);

fn set(
    tx: &mut PlatformAdminTx<'_, '_>,
    name: &TenantName,
    status: TenantStatus,
    event: &'static str,
) -> Result<ChangedTenantView, OperationError> {
    let tenant = find_named(tx, name)?;
    if tenant.status == status {
        return Ok(ChangedTenantView { tenant: tenant.into(), changed: false });
    }
    // Whether its bindings answer depends on it.
    munshi_tiers::mark_tenant_changed(tx, tenant.id)?;
    if !tenants::set_status(tx, tenant.id, status)? {
        return Err(OperationError::archived(name));
    }
    let tenant = Tenant { status, ..tenant };
    let payload = json!({ "status": tenant.status, "zone": tenant.zone });
    tx.note([tenant.id], event, tenant.name.as_str(), payload);
    Ok(ChangedTenantView { tenant: tenant.into(), changed: true })
}
