//! Entries of one chain, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::audit::{self, AuditListRequest};
use munshi_store::SortOrder;

use super::AuditEntryView;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    #[derive(Default)]
    pub struct ListAuditInput: NameListInput {
        /// Only entries of this event, such as tenant.paused.
        pub event: Option<String>,
    }
}

pub struct ListAudit;

impl Operation<HouseServices> for ListAudit {
    type Input = ListAuditInput;
    type View = ListView<AuditEntryView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "audit",
        noun: "audit",
        command: "audit",
        verb: "list",
        about: "List the entries of the audit log, newest first.",
        needs: CallerClass::MemberOrKeeper(Area::Audit, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/audit",
    };

    async fn run(
        call: &HouseCall,
        input: ListAuditInput,
    ) -> Result<ListView<AuditEntryView>, OperationError> {
        const NEWEST_FIRST: SortOrder = SortOrder::Descending;
        let limit = input.page().page_size()?;
        let order = input.order.unwrap_or(NEWEST_FIRST);
        let after = input.after.as_deref().map(|cursor| order.parse_cursor(NEWEST_FIRST, cursor));
        let after = after.transpose()?.map(str::parse).transpose();
        let after = after.map_err(|_| OperationError::field("after", "is no `next` of a page"))?;
        let request = AuditListRequest { order, after, event: input.event, count: limit + 1 };
        let found = call.read(move |tx| Ok(audit::list(tx, &request)?)).await?;
        let has_more = found.len() > limit as usize;
        let items = found.into_iter().take(limit as usize).map(AuditEntryView::new);
        let items = items.collect::<Result<Vec<_>, _>>()?;
        let next = items
            .last()
            .filter(|_| has_more)
            .map(|entry| order.render_cursor(NEWEST_FIRST, &entry.seq.to_string()));
        Ok(ListView { items, next })
    }
}
