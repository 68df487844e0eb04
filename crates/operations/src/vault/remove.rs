//! Removes a secret.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::vault::VAULT;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::parse_name;
use crate::{HouseCall, HouseServices};

/// The secret that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretInput {
    /// Its name.
    pub name: String,
}

/// A secret that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RemovedSecret)]
pub struct RemovedSecretView {
    pub name: String,
    pub removed: bool,
}

pub struct RemoveSecret;

impl Operation<HouseServices> for RemoveSecret {
    type Input = SecretInput;
    type View = RemovedSecretView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "secrets",
        noun: "secret",
        command: "vault",
        verb: "remove",
        about: "Remove a secret.",
        needs: CallerClass::MemberOrKeeper(Area::Vault, ApiAccess::Write),
        effect: OperationEffect::Write(&["secret.removed"]),
        method: RouteMethod::Post,
        path: "/v1/secrets/{name}/remove",
    };

    async fn run(call: &HouseCall, input: SecretInput) -> Result<RemovedSecretView, OperationError> {
        let name = parse_name(&input.name)?;
        let vault = call.services.parts.open_vault().await?;
        let (asked, tenant) = (name.clone(), call.tenant.id);
        let removed = call.write_platform(VAULT, move |tx| Ok(vault.administer_remove(tx, tenant, &asked)?));
        if !removed.await? {
            return Err(OperationError::not_found("secret", name.name())
                .hint("`munshi vault list` shows them all; with --tenant, a tenant's."));
        }
        Ok(RemovedSecretView { name: name.name().to_owned(), removed: true })
    }
}
