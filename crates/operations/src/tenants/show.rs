//! One tenant.

use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::tenants::TENANTS;
use munshi_types::TenantName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::TenantView;
use super::find::find_named;
use crate::{HouseCall, HouseServices};

/// The tenant that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantInput {
    /// The tenant's name.
    #[schema(value_type = String)]
    pub name: TenantName,
}

pub struct ShowTenant;

impl Operation<HouseServices> for ShowTenant {
    type Input = TenantInput;
    type View = TenantView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "tenants",
        noun: "tenant",
        command: "tenant",
        verb: "show",
        about: "Show a tenant.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/tenants/{name}",
    };

    async fn run(call: &HouseCall, input: TenantInput) -> Result<TenantView, OperationError> {
        Ok(call.read_platform(TENANTS, move |tx| find_named(tx, &input.name)).await?.into())
    }
}
