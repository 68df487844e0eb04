//! One act.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::acts;
use munshi_types::ActId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ActView;
use crate::{HouseCall, HouseServices};

/// The act that is meant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ActInput {
    /// The act.
    #[schema(value_type = uuid::Uuid)]
    pub id: ActId,
}

pub struct ShowAct;

impl Operation<HouseServices> for ShowAct {
    type Input = ActInput;
    type View = ActView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "acts",
        noun: "act",
        command: "acts",
        verb: "show",
        about: "Show one call of a tool: what was proposed, what was decided and what came of it.",
        needs: CallerClass::Member(Area::Runs, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/acts/{id}",
    };

    async fn run(call: &HouseCall, input: ActInput) -> Result<ActView, OperationError> {
        let found = call.read(move |tx| Ok(acts::find(tx, input.id)?)).await?;
        let found = found.filter(|act| act.binding.is_none_or(|binding| call.caller.reaches(binding)));
        found.map(ActView::from).ok_or_else(|| OperationError::not_found("act", &input.id.to_string()))
    }
}
