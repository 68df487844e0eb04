//! Approvals, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::approvals::{self, ApprovalFilter};
use munshi_store::Cursor;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ApprovalView;
use super::find::is_reachable;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListApprovalsInput {
    /// Include answered and expired approvals.
    pub all: Option<bool>,
    /// The `next` of the previous page.
    #[schema(value_type = Option<String>)]
    pub after: Option<Cursor>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

pub struct ListApprovals;

impl Operation<HouseServices> for ListApprovals {
    type Input = ListApprovalsInput;
    type View = ListView<ApprovalView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "approvals",
        noun: "approval",
        command: "approvals",
        verb: "list",
        about: "List pending approvals, newest first.",
        needs: CallerClass::Member(Area::Approvals, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/approvals",
    };

    async fn run(
        call: &HouseCall,
        input: ListApprovalsInput,
    ) -> Result<ListView<ApprovalView>, OperationError> {
        let wanted = if input.all == Some(true) { ApprovalFilter::All } else { ApprovalFilter::Pending };
        let request = ListInput { after: input.after, limit: input.limit }.page_request()?;
        let caller = call.caller.clone();
        let read = call.read(move |tx| {
            let page = approvals::list(tx, wanted, &request)?;
            let mut items = Vec::with_capacity(page.items.len());
            for approval in page.items {
                if is_reachable(tx, &caller, &approval)? {
                    items.push(ApprovalView::load(tx, &caller, approval)?);
                }
            }
            Ok(ListView { items, next: page.next.map(|next| next.to_string()) })
        });
        read.await
    }
}
