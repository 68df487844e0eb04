//! Keys, newest first; never the keys themselves.

use munshi_identity::keys::{self, ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
    build_page_request,
};
use munshi_store::Cursor;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::KeyView;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListKeysInput {
    /// The `next` of the previous page.
    #[schema(value_type = Option<String>)]
    pub after: Option<Cursor>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

pub struct ListKeys;

impl Operation<HouseServices> for ListKeys {
    type Input = ListKeysInput;
    type View = ListView<KeyView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "keys",
        noun: "key",
        command: "key",
        verb: "list",
        about: "List keys, newest first, including revoked and expired ones.",
        needs: CallerClass::Member(Area::Keys, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/keys",
    };

    async fn run(call: &HouseCall, input: ListKeysInput) -> Result<ListView<KeyView>, OperationError> {
        let (request, now) = (build_page_request(input.after, input.limit)?, call.now);
        let page = call.read(move |tx| Ok(keys::list(tx, &request)?)).await?;
        Ok(ListView::from_page(page, |key| Some(KeyView::new(key, now))))
    }
}
