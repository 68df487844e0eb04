//! Closes an account for good.

use munshi_identity::operators::{self, OPERATORS, roles};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::OperatorId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::OperatorInput;
use super::rules::{end_operator_holds, find_anywhere, list_chains, list_tenants, note_revoked_keys};
use crate::{HouseCall, HouseServices};

/// A closed account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RemovedOperator)]
pub struct RemovedOperatorView {
    #[schema(value_type = uuid::Uuid)]
    pub id: OperatorId,
    pub email: String,
    /// The names of keys that they created and that are revoked with the account.
    pub revoked: Vec<String>,
}

pub struct RemoveOperator;

impl Operation<HouseServices> for RemoveOperator {
    type Input = OperatorInput;
    type View = RemovedOperatorView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "operators",
        noun: "operator",
        command: "operator",
        verb: "remove",
        about: "Delete an operator's account permanently, with its roles, links and keys.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["operator.removed", "api_key.revoked", "conversation.given_back"]),
        method: RouteMethod::Post,
        path: "/v1/operators/{id}/remove",
    };

    async fn run(call: &HouseCall, input: OperatorInput) -> Result<RemovedOperatorView, OperationError> {
        let (known, now) = (call.services.keys.clone(), call.now);
        let removed = call.write_platform(OPERATORS, move |tx| {
            let operator = find_anywhere(tx, &input.id)?;
            let chains = list_chains(list_tenants(tx, &operator)?);
            let workspaces = roles::list_workspaces(tx, &operator)?;
            let keys = operators::remove(tx, operator.id, now)?.unwrap_or_default();
            for workspace in workspaces {
                end_operator_holds(tx, (operator.id, workspace.tenant.id), now)?;
            }
            let payload = json!({ "keeper": operator.keeper });
            tx.note(chains, "operator.removed", operator.id.to_string(), payload);
            let revoked = note_revoked_keys(tx, &known, keys);
            Ok(RemovedOperatorView { id: operator.id, email: operator.email, revoked })
        });
        removed.await
    }
}
