//! Stores a secret.

use std::fmt;

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::vault::VaultSecret;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;
use zeroize::Zeroizing;

use super::{audit_context, parse_name};
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewSecret)]
pub struct SetSecretInput {
    /// Name, such as razorpay.key; refer to it as vault:razorpay.key.
    pub name: String,
    /// The secret itself.
    #[schema(value_type = String)]
    pub value: SecretText,
}

/// A secret on its way in; `{:?}` does not show it.
#[derive(Clone)]
pub struct SecretText(Zeroizing<String>);

impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Zeroizing::new(text)))
    }
}

impl SecretText {
    pub fn new(text: Zeroizing<String>) -> Self {
        Self(text)
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

/// A secret that was stored: everything but its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = StoredSecret)]
pub struct StoredSecretView {
    pub name: String,
    pub version: i64,
    /// How settings and connectors refer to it.
    #[schema(example = "vault:razorpay.key")]
    pub reference: String,
}

pub struct SetSecret;

impl Operation<HouseServices> for SetSecret {
    type Input = SetSecretInput;
    type View = StoredSecretView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "secrets",
        noun: "secret",
        command: "vault",
        verb: "set",
        about: "Store a secret; one of the same name is replaced. It is never shown again.",
        needs: CallerClass::MemberOrKeeper(Area::Vault, ApiAccess::Write),
        effect: OperationEffect::Write(&["secret.set"]),
        method: RouteMethod::Post,
        path: "/v1/secrets/{name}",
    };

    async fn run(call: &HouseCall, input: SetSecretInput) -> Result<StoredSecretView, OperationError> {
        let name = parse_name(&input.name)?;
        let secret = VaultSecret::new(input.value.0.to_string())?;
        let vault = call.services.parts.open_vault().await?;
        let version = vault.set(call.tenant.id, &name, secret, audit_context(call)).await?;
        Ok(StoredSecretView { name: name.name().to_owned(), version, reference: name.to_string() })
    }
}
