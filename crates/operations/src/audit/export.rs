//! A chain as lines, the oldest entry first. Who takes it out is written down.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::audit;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AuditExportRequest)]
pub struct ExportAuditInput {
    /// The `next` of the previous page.
    pub after: Option<i64>,
    /// Lines in one answer; default 25.
    #[schema(minimum = 2, maximum = 500)]
    pub limit: Option<u32>,
}

/// A part of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditExport)]
pub struct AuditExportView {
    /// One entry each, as canonical JSON.
    pub lines: Vec<String>,
    /// Where the next part begins; null at the end.
    pub next: Option<i64>,
}

pub struct ExportAudit;

impl Operation<HouseServices> for ExportAudit {
    type Input = ExportAuditInput;
    type View = AuditExportView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "audit",
        noun: "audit",
        command: "audit",
        verb: "export",
        about: "Take the audit log out as lines of JSON, the oldest entry first. Each part that is taken is itself \
                written to the log.",
        needs: CallerClass::MemberOrKeeper(Area::Audit, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["audit.exported"]),
        method: RouteMethod::Get,
        path: "/v1/audit/export",
    };

    async fn run(call: &HouseCall, input: ExportAuditInput) -> Result<AuditExportView, OperationError> {
        let limit = ListInput { limit: input.limit, ..ListInput::default() }.page_size()?;
        // Each page adds an entry, so one of a single line would never come to the end.
        if limit < 2 {
            return Err(OperationError::field("limit", "must be from 2 to 500"));
        }
        let found = call.write(move |tx| {
            let found = audit::list_after(tx, input.after.unwrap_or(i64::MIN), limit + 1)?;
            tx.note("audit.exported", "audit", json!({ "after": input.after, "limit": limit }));
            Ok(found)
        });
        let found = found.await?;
        let has_more = found.len() > limit as usize;
        let found = &found[..found.len().min(limit as usize)];
        let next = found.last().filter(|_| has_more).map(|entry| entry.seq);
        Ok(AuditExportView { lines: found.iter().map(audit::AuditEntry::to_line).collect(), next })
    }
}
