//! Stores a secret.

use std::fmt;

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::vault::{VAULT, VaultSecret};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use utoipa::ToSchema;
use zeroize::Zeroizing;

use super::parse_name;
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
        // What was given in its place may be the secret, so it is not repeated.
        String::deserialize(deserializer)
            .map(|text| Self(Zeroizing::new(text)))
            .map_err(|_| serde::de::Error::custom("a secret is a string"))
    }
}

impl SecretText {
    pub fn new(text: Zeroizing<String>) -> Self {
        Self(text)
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
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

    const KEEPS_VIEW: bool = false;

    /// Of the secret not even a hash is kept outside of the vault.
    fn describe_request(input: &SetSecretInput) -> serde_json::Result<Value> {
        Ok(json!({ "name": input.name }))
    }

    async fn run(call: &HouseCall, input: SetSecretInput) -> Result<StoredSecretView, OperationError> {
        let name = parse_name(&input.name)?;
        let secret = VaultSecret::new(input.value.0.to_string()).map_err(munshi_safety::Error::from)?;
        let vault = call.services.parts.open_vault().await?;
        let (asked, tenant, now) = (name.clone(), call.tenant.id, call.now);
        let stored =
            call.write_platform(VAULT, move |tx| Ok(vault.administer_set(tx, tenant, &asked, &secret, now)?));
        let version = stored.await?;
        Ok(StoredSecretView { name: name.name().to_owned(), version, reference: name.to_string() })
    }
}
