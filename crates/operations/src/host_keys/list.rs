//! A tenant's host keys, newest first.

use munshi_identity::hosts;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::HostKeyView;
use crate::named_list::NameListInput;
use crate::{HouseCall, HouseServices};

pub struct ListHostKeys;

impl Operation<HouseServices> for ListHostKeys {
    type Input = NameListInput;
    type View = ListView<HostKeyView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "host-keys",
        noun: "host key",
        command: "host-key",
        verb: "list",
        about: "List the keys that verify hosts' visitor tokens, by their id, including those that have ended.",
        needs: CallerClass::Member(Area::Keys, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/host-keys",
    };

    async fn run(call: &HouseCall, input: NameListInput) -> Result<ListView<HostKeyView>, OperationError> {
        let now = call.now;
        let all = call.read(|tx| Ok(hosts::list(tx)?)).await?;
        let shown = all.into_iter().map(|key| HostKeyView::new(key, now)).collect();
        input.paginate(shown, |key| key.kid.clone())
    }
}
