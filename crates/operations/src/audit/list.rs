//! Entries of one chain, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::audit;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AuditEntryView;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAuditInput {
    /// Only entries of this event, such as tenant.paused.
    pub event: Option<String>,
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
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
        let limit = ListInput { after: None, limit: input.limit }.page_size()?;
        let before = match &input.after {
            None => i64::MAX,
            Some(text) => {
                text.parse().map_err(|_| OperationError::field("after", "is no `next` of a page"))?
            }
        };
        let event = input.event;
        let found =
            call.read(move |tx| Ok(audit::list_before(tx, before, event.as_deref(), limit + 1)?)).await?;
        let has_more = found.len() > limit as usize;
        let items = found.into_iter().take(limit as usize).map(AuditEntryView::new);
        let items = items.collect::<Result<Vec<_>, _>>()?;
        let next = items.last().filter(|_| has_more).map(|entry| entry.seq.to_string());
        Ok(ListView { items, next })
    }
}
