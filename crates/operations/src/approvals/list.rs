//! Approvals, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::approvals::{self, ApprovalFilter};
use munshi_types::{Id, SessionId};

use super::ApprovalView;
use super::find::is_reachable;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    #[derive(Copy, Default)]
    pub struct ListApprovalsInput: ListInput {
        /// Include answered and expired approvals.
        pub all: Option<bool>,
    }
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
        let request = input.page().page_request()?;
        let caller = call.caller.clone();
        let read = call.read(move |tx| {
            let page = approvals::list(tx, wanted, &request)?;
            let next = page.next_cursor().map(|next| next.to_string());
            let mut items = Vec::with_capacity(page.items.len());
            for approval in page.items {
                if is_reachable(tx, &caller, &approval)? {
                    items.push(ApprovalView::load(tx, &caller, approval)?);
                }
            }
            Ok(ListView { items, next })
        });
        read.await
    }
}

/// What somebody is asked in one session, newest first: however much is asked elsewhere.
pub async fn list_pending_in(
    call: &HouseCall,
    session: SessionId,
) -> Result<Vec<ApprovalView>, OperationError> {
    call.caller.authorize(<ListApprovals as Operation<HouseServices>>::SPEC.needs)?;
    let caller = call.caller.clone();
    let read = call.read(move |tx| {
        let mut found = Vec::new();
        for approval in approvals::list_pending(tx, session.as_uuid())? {
            if is_reachable(tx, &caller, &approval)? {
                found.push(ApprovalView::load(tx, &caller, approval)?);
            }
        }
        Ok(found)
    });
    read.await
}
