//! `POST /v1/keys/{id}/revoke`: takes a key back.

use munshi_identity::keys::{self, KeySubject};
use munshi_identity::persons;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_store::Tx;
use munshi_types::KeyId;

use super::add::record_key_event;
use crate::api::access::AuthorizedCaller;
use crate::api::audit_context::ApiAuditContext;
use crate::views::key::ApiKey;

/// Revoke a key, including your own, and all keys created with it. This node rejects them at once, other nodes within
/// two seconds.
#[utoipa::path(post, path = "/v1/keys/{id}/revoke", tag = "keys",
    params(("id" = uuid::Uuid, Path, description = "The key.")),
    responses((status = 200, description = "Revoked, now or earlier.", body = ApiKey)))]
pub(crate) async fn revoke_key(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<KeyId>,
) -> Result<Json<ApiKey>, ApiError> {
    let (db, tenant, now) = (key.api.db.clone(), key.tenant(), key.api.clock.now());
    let telling = ApiAuditContext::for_caller(&key.caller, key.api.ids.clone(), now);
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let gone = || not_found_error("key", &id.to_string());
        let role = match keys::find(tx, id)?.ok_or_else(gone)?.carries {
            KeySubject::Role(role) => Some(role),
            KeySubject::Person(person) => persons::find(tx, person)?.and_then(|person| person.role),
        };
        if !key.covers_role(role) {
            return Err(ApiError::new(ApiErrorCode::Forbidden, "That key has a higher role than this one.")
                .hint("Ask an owner of the workspace."));
        }
        let revoked = key.api.keys.revoke(tx, id, now)?.ok_or_else(gone)?;
        if revoked.changed {
            record_key_event(tx, &telling, "api_key.revoked", &revoked.key)?;
        }
        for child in &revoked.made_with_it {
            record_key_event(tx, &telling, "api_key.revoked", child)?;
        }
        Ok(revoked.key)
    };
    Ok(Json(db.write(tenant, unit).await?.into()))
}
