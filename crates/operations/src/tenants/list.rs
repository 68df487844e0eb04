//! Tenants, newest first.

use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::tenants::{self, TENANTS};

use super::TenantView;
use crate::{HouseCall, HouseServices};

pub struct ListTenants;

impl Operation<HouseServices> for ListTenants {
    type Input = ListInput;
    type View = ListView<TenantView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "tenants",
        noun: "tenant",
        command: "tenant",
        verb: "list",
        about: "List tenants, newest first.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/tenants",
    };

    async fn run(call: &HouseCall, input: ListInput) -> Result<ListView<TenantView>, OperationError> {
        let request = input.page_request()?;
        let page = call.read_platform(TENANTS, move |tx| Ok(tenants::list(tx, &request)?)).await?;
        Ok(ListView::from_page(page, |tenant| Some(tenant.into())))
    }
}
