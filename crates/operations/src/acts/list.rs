//! Acts, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
    build_page_request,
};
use munshi_safety::acts;
use munshi_store::Cursor;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ActView;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListActsInput {
    /// The `next` of the previous page.
    #[schema(value_type = Option<String>)]
    pub after: Option<Cursor>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

pub struct ListActs;

impl Operation<HouseServices> for ListActs {
    type Input = ListActsInput;
    type View = ListView<ActView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "acts",
        noun: "act",
        command: "acts",
        verb: "list",
        about: "List what agents did or were kept from doing, newest first.",
        needs: CallerClass::Member(Area::Runs, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/acts",
    };

    async fn run(call: &HouseCall, input: ListActsInput) -> Result<ListView<ActView>, OperationError> {
        let request = build_page_request(input.after, input.limit)?;
        let page = call.read(move |tx| Ok(acts::list(tx, &request)?)).await?;
        Ok(ListView::from_page(page, |act| {
            act.binding.is_none_or(|binding| call.caller.reaches(binding)).then(|| act.into())
        }))
    }
}
