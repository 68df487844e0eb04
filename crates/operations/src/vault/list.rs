//! The names of secrets.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::vault;
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::named_list::NameListInput;
use crate::{HouseCall, HouseServices};

/// What is told of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Secret)]
pub struct SecretView {
    pub name: String,
    pub version: i64,
    #[schema(value_type = String, format = DateTime)]
    pub set_at: Timestamp,
}

pub struct ListSecrets;

impl Operation<HouseServices> for ListSecrets {
    type Input = NameListInput;
    type View = ListView<SecretView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "secrets",
        noun: "secret",
        command: "vault",
        verb: "list",
        about: "List the names of secrets; values are never shown.",
        needs: CallerClass::MemberOrKeeper(Area::Vault, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/secrets",
    };

    async fn run(call: &HouseCall, input: NameListInput) -> Result<ListView<SecretView>, OperationError> {
        let all = vault::list(&call.db, call.tenant.id).await?;
        let all = all.into_iter().map(|one| SecretView {
            name: one.name,
            version: one.version,
            set_at: one.set_at,
        });
        input.paginate(all.collect(), |one| one.name.clone())
    }
}
