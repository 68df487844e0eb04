//! Another key of a host.

use munshi_identity::hosts::{self, HostKeyValueKind, NewHostKey};
use munshi_identity::jwt::{self, Jwk, JwtAlgorithm, VerificationKey};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_safety::vault::SecretRef;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{HostKeyView, note};
use crate::{HouseCall, HouseServices};

/// One of `secret`, `public_key` and `jwks` is given.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewHostKey)]
pub struct AddHostKeyInput {
    /// Key id in tokens (`kid`).
    pub kid: String,
    /// Host whose visitors it verifies; rotated keys share it. Default: host.
    pub host: Option<String>,
    /// HS256, RS256, ES256 or EdDSA. Default: derived from a public key.
    #[schema(value_type = Option<String>)]
    pub algorithm: Option<JwtAlgorithm>,
    /// Name of a shared secret in the tenant's vault, at least 32 random characters (HS256).
    pub secret: Option<String>,
    /// A public key: PEM or JWK.
    pub public_key: Option<String>,
    /// HTTPS URL of the host's JWKS.
    pub jwks: Option<String>,
}

pub struct AddHostKey;

impl Operation<HouseServices> for AddHostKey {
    type Input = AddHostKeyInput;
    type View = HostKeyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "host-keys",
        noun: "host key",
        command: "host-key",
        verb: "add",
        about: "Add a key that verifies a host's visitor tokens; a host can have two at once, for rotation.",
        needs: CallerClass::KeeperOfTenant,
        effect: OperationEffect::Write(&["host_key.added"]),
        method: RouteMethod::Create,
        path: "/v1/host-keys",
    };

    async fn run(call: &HouseCall, input: AddHostKeyInput) -> Result<HostKeyView, OperationError> {
        let (algorithm, holds, value) = resolve_value(call, &input).await?;
        let host = input.host.unwrap_or_else(|| "host".to_owned());
        let new = NewHostKey { kid: input.kid, host, algorithm, holds, value };
        let now = call.now;
        let added = call.write(move |tx| {
            let added = hosts::add(tx, &new, now)?;
            note(tx, "host_key.added", &added);
            Ok(added)
        });
        Ok(HostKeyView::new(added.await?, now))
    }
}

async fn resolve_value(
    call: &HouseCall,
    input: &AddHostKeyInput,
) -> Result<(JwtAlgorithm, HostKeyValueKind, String), OperationError> {
    let invalid = |what: &str, hint: &str| OperationError::new(OperationErrorCode::Invalid, what).hint(hint);
    match (&input.secret, &input.public_key, &input.jwks) {
        (Some(name), None, None) => {
            let name = SecretRef::from_name(name.strip_prefix("vault:").unwrap_or(name))?;
            let vault = call.services.parts.open_vault().await?;
            let secret = vault.open(call.tenant.id, &name).await?;
            if VerificationKey::from_secret(secret.expose().as_bytes()).is_none() {
                return Err(invalid(
                    "The secret is too short: it needs at least 32 characters.",
                    "Create one with `openssl rand -base64 32`.",
                ));
            }
            let algorithm = input.algorithm.unwrap_or(JwtAlgorithm::Hs256);
            Ok((algorithm, HostKeyValueKind::Secret, name.name().to_owned()))
        }
        (None, Some(text), None) => {
            let jwk: Option<Jwk> = jwt::from_pem(text).or_else(|| serde_json::from_str(text).ok());
            let key = jwk.as_ref().and_then(Jwk::to_verification_key);
            let (Some(jwk), Some(key)) = (jwk, key) else {
                return Err(invalid(
                    "This is no supported public key.",
                    "Supported: RSA, P-256 and Ed25519; export one with `openssl pkey -in private.pem -pubout`.",
                ));
            };
            let value = serde_json::to_string(&jwk).map_err(OperationError::internal)?;
            Ok((input.algorithm.unwrap_or_else(|| key.algorithm()), HostKeyValueKind::Public, value))
        }
        (None, None, Some(address)) => {
            let algorithm = input.algorithm.ok_or_else(|| {
                invalid("A JWKS needs an algorithm.", "Add --algorithm RS256, ES256 or EdDSA.")
            })?;
            Ok((algorithm, HostKeyValueKind::Address, address.clone()))
        }
        _ => Err(invalid("Give one key.", "Use --secret, --public-key or --jwks.")),
    }
}
