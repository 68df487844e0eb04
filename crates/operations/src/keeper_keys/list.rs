//! Keepers' keys, newest first.

use munshi_identity::keys::{KEYS, list_keeper_keys};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::KeeperKeyView;
use crate::{HouseCall, HouseServices};

pub struct ListKeeperKeys;

impl Operation<HouseServices> for ListKeeperKeys {
    type Input = ListInput;
    type View = ListView<KeeperKeyView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "keeper-keys",
        noun: "keeper key",
        command: "keeper-key",
        verb: "list",
        about: "List keepers' keys, newest first, including revoked and expired ones.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/keeper-keys",
    };

    async fn run(call: &HouseCall, input: ListInput) -> Result<ListView<KeeperKeyView>, OperationError> {
        let (request, now) = (input.page_request()?, call.now);
        let page = call.read_platform(KEYS, move |tx| Ok(list_keeper_keys(tx, &request)?)).await?;
        Ok(ListView::from_page(page, |key| Some(KeeperKeyView::new(key, now))))
    }
}
