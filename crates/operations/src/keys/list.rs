//! Keys, newest first; never the keys themselves.

use munshi_identity::keys::{self, ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::KeyView;
use crate::{HouseCall, HouseServices};

pub struct ListKeys;

impl Operation<HouseServices> for ListKeys {
    type Input = ListInput;
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

    async fn run(call: &HouseCall, input: ListInput) -> Result<ListView<KeyView>, OperationError> {
        let (request, now) = (input.page_request()?, call.now);
        let page = call.read(move |tx| Ok(keys::list(tx, &request)?)).await?;
        Ok(ListView::from_page(page, |key| Some(KeyView::new(key, now))))
    }
}
