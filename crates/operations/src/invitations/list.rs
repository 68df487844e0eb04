//! Open invitations, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::links::{self, OneTimeLink};
use munshi_identity::operators::OPERATORS;
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::{Cursor, Page, SortOrder};
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
        let request = input.page_request()?;
        let page = call.read_platform(OPERATORS, move |tx| {
            let mut open = match tenant.is_installation() {
                true => links::list_all_invitations(tx, now)?,
                false => links::list_invitations(tx, tenant.id, now)?,
            };
            let after = (request.after.time, request.after.id);
            let place = |link: &OneTimeLink| (link.made_at, link.id.as_uuid());
            match request.order() {
                SortOrder::Descending => open.retain(|link| place(link) < after),
                SortOrder::Ascending => {
                    open.reverse();
                    open.retain(|link| place(link) > after);
                }
            }
            let page =
                Page::from_rows(open, &request, |link| Cursor { time: link.made_at, id: link.id.as_uuid() });
            let next = page.next_cursor().map(|next| next.to_string());
            let mut items = Vec::new();
            for link in page.items {
                items.extend(InvitationView::load(tx, link)?);
            }
            Ok(ListView { items, next })
        });
        page.await
    }
}
