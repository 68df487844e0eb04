//! Stores the length and hash of every sound chain outside of the database.

use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::audit::anchors::AnchorTrigger;
use munshi_types::TenantId;
use serde_json::json;

use super::verify::{render, verify};
use super::{AuditVerificationView, VerifyAuditInput};
use crate::{HouseCall, HouseServices};

pub struct AnchorAudit;

impl Operation<HouseServices> for AnchorAudit {
    type Input = VerifyAuditInput;
    type View = AuditVerificationView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "audit",
        noun: "audit",
        command: "audit",
        verb: "anchor",
        about: "Verify every chain, then anchor those that are sound: store their length and hash outside the database.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["audit.anchor_requested"]),
        method: RouteMethod::Post,
        path: "/v1/audit/anchor",
    };

    async fn run(call: &HouseCall, _: VerifyAuditInput) -> Result<AuditVerificationView, OperationError> {
        let anchors = call.services.parts.open_anchors()?;
        let asked = call.write(|tx| {
            tx.note("audit.anchor_requested", "audit", json!({}));
            Ok(())
        });
        asked.await?;
        let survey = verify(call, &anchors).await?;
        let broken: Vec<TenantId> = survey.broken_chains().map(|chain| chain.tenant).collect();
        let written = anchors.anchor(AnchorTrigger::Moved, &broken).await?.len();
        render(call, survey, written).await
    }
}
