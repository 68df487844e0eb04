//! Receipts, newest first.

use munshi_erasure::{ErasureReceipt, rows};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::ErasureView;
use crate::{HouseCall, HouseServices};

pub struct ListErasures;

impl Operation<HouseServices> for ListErasures {
    type Input = ListInput;
    type View = ListView<ErasureView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "erasures",
        noun: "erasure",
        command: "erasure",
        verb: "list",
        about: "List who was forgotten, newest first, as receipts that name nobody.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/erasures",
    };

    async fn run(call: &HouseCall, input: ListInput) -> Result<ListView<ErasureView>, OperationError> {
        let (request, packs) = (input.page_request()?, call.services.parts.packs()?);
        let page = call.read(move |tx| Ok(rows::list(tx, &request)?)).await?;
        Ok(ListView::from_page(page, |erasure| Some(ErasureReceipt::of(erasure, &packs).into())))
    }
}
