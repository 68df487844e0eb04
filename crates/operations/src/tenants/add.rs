//! Another tenant.

use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_store::tenants::{self, TENANTS};
use munshi_types::{Tenant, TenantName, TenantStatus, Zone};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::TenantView;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewTenant)]
pub struct AddTenantInput {
    /// 1 to 63 lowercase letters, digits and hyphens, unique in the installation.
    #[schema(value_type = String, example = "sharma-kirana")]
    pub name: TenantName,
    /// Time zone for days and schedules. Default: Asia/Kolkata.
    #[schema(value_type = Option<String>)]
    pub zone: Option<Zone>,
}

pub struct AddTenant;

impl Operation<HouseServices> for AddTenant {
    type Input = AddTenantInput;
    type View = TenantView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "tenants",
        noun: "tenant",
        command: "tenant",
        verb: "add",
        about: "Add a tenant.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["tenant.added"]),
        method: RouteMethod::Create,
        path: "/v1/tenants",
    };

    async fn run(call: &HouseCall, input: AddTenantInput) -> Result<TenantView, OperationError> {
        let tenant = Tenant {
            id: call.ids.next(),
            name: input.name,
            zone: input.zone.unwrap_or_default(),
            status: TenantStatus::Active,
            created_at: call.now,
        };
        let added = call.write_platform(TENANTS, move |tx| {
            tenants::add(tx, &tenant).map_err(|error| match error {
                munshi_store::Error::Conflict { .. } => taken(&tenant.name),
                error => error.into(),
            })?;
            let payload = json!({ "status": tenant.status, "zone": tenant.zone });
            tx.note([tenant.id], "tenant.added", tenant.name.as_str(), payload);
            Ok(tenant)
        });
        Ok(added.await?.into())
    }
}

fn taken(name: &TenantName) -> OperationError {
    OperationError::new(OperationErrorCode::Conflict, format!("Tenant {name} already exists."))
        .hint("Choose another name; an archived tenant keeps its name.")
}
