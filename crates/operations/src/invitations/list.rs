//! Open invitations, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::links;
use munshi_identity::operators::OPERATORS;
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::Cursor;
use munshi_types::Id;

use super::InvitationView;
use crate::{HouseCall, HouseServices};

pub struct ListInvitations;

impl Operation<HouseServices> for ListInvitations {
    type Input = ListInput;
    type View = ListView<InvitationView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "invitations",
        noun: "invitation",
        command: "invitation",
        verb: "list",
        about: "List a tenant's open invitations, or all of the installation, newest first.",
        needs: CallerClass::MemberOrKeeper(Area::Operators, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/invitations",
    };

    async fn run(call: &HouseCall, input: ListInput) -> Result<ListView<InvitationView>, OperationError> {
        let (tenant, now) = (call.tenant.clone(), call.now);
        let limit = input.page_size()? as usize;
        let page = call.read_platform(OPERATORS, move |tx| {
            let mut open = match tenant.is_installation() {
                true => links::list_all_invitations(tx, now)?,
                false => links::list_invitations(tx, tenant.id, now)?,
            };
            if let Some(after) = input.after {
                open.retain(|link| (link.made_at, link.id.as_uuid()) < (after.time, after.id));
            }
            let has_more = open.len() > limit;
            open.truncate(limit);
            let last = open.last().filter(|_| has_more);
            let next = last.map(|link| Cursor { time: link.made_at, id: link.id.as_uuid() }.to_string());
            let mut items = Vec::new();
            for link in open {
                items.extend(InvitationView::load(tx, link)?);
            }
            Ok(ListView { items, next })
        });
        page.await
    }
}
