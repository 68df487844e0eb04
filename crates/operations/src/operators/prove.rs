//! A keeper's word that an account's e-mail is its holder's.

use munshi_identity::operators::{self, OPERATORS};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::OperatorId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::OperatorInput;
use super::rules::{check_may_let_in, find_anywhere, list_chains, list_tenants, note_revoked_keys};
use crate::{HouseCall, HouseServices};

/// A proved account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ProvedOperator)]
pub struct ProvedOperatorView {
    #[schema(value_type = uuid::Uuid)]
    pub id: OperatorId,
    pub email: String,
    /// False if it was proved earlier: then nothing has ended.
    pub first: bool,
}

pub struct ProveOperator;

impl Operation<HouseServices> for ProveOperator {
    type Input = OperatorInput;
    type View = ProvedOperatorView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "operators",
        noun: "operator",
        command: "operator",
        verb: "prove",
        about: "Confirm that an account's e-mail belongs to its holder. The first time, its password, sign-ins, links \
                and keys are revoked.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["operator.proved", "api_key.revoked"]),
        method: RouteMethod::Post,
        path: "/v1/operators/{id}/prove",
    };

    async fn run(call: &HouseCall, input: OperatorInput) -> Result<ProvedOperatorView, OperationError> {
        check_may_let_in(&call.caller)?;
        let (known, now) = (call.services.keys.clone(), call.now);
        let proved = call.write_platform(OPERATORS, move |tx| {
            let operator = find_anywhere(tx, &input.id)?;
            let ended = operators::mark_verified_revoking(tx, operator.id, now)?;
            let first = ended.is_some();
            if let Some(keys) = ended {
                let chains = list_chains(list_tenants(tx, &operator)?);
                tx.note(chains, "operator.proved", operator.id.to_string(), json!({ "how": "keeper" }));
                note_revoked_keys(tx, &known, keys);
            }
            Ok(ProvedOperatorView { id: operator.id, email: operator.email, first })
        });
        proved.await
    }
}
