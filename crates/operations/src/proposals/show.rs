//! One change that a program asked for.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::proposals::{self, ProposedOperation};
use munshi_store::Tx;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ProposalView;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposalInput {
    /// The proposal's id.
    pub id: String,
}

pub struct ShowProposal;

impl Operation<HouseServices> for ShowProposal {
    type Input = ProposalInput;
    type View = ProposalView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "proposals",
        noun: "proposal",
        command: "proposals",
        verb: "show",
        about: "Show a change that a program asked for, and what came of it.",
        needs: CallerClass::MemberOrKeeper(Area::Administration, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/proposals/{id}",
    };

    async fn run(call: &HouseCall, input: ProposalInput) -> Result<ProposalView, OperationError> {
        let found = call.read(move |tx| find(tx, &input.id)).await?;
        Ok(ProposalView::new(call, &call.services.parts.pack_operations()?, found))
    }
}

pub(super) fn find(tx: &mut Tx<'_>, id: &str) -> Result<ProposedOperation, OperationError> {
    let found = id.parse().ok().map(|id| proposals::find(tx, id)).transpose()?.flatten();
    found.ok_or_else(|| OperationError::not_found("proposal", id))
}
