//! `POST /v1/keys/{id}/revoke`: takes a key back.

use munshi_identity::keys::{self, KeySubject};
use munshi_identity::persons;
use munshi_store::Tx;
use munshi_types::KeyId;

use super::add::tell;
use crate::api::access::AuthorizedCaller;
use crate::api::ask::UrlPathParameter;
use crate::api::missing;
use crate::api::telling::ApiAuditContext;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::views::key::ApiKey;

/// Takes a key back, with all that were made with it: from then on they open nothing, on this node at once and elsewhere within two seconds. Also your own.
#[utoipa::path(post, path = "/v1/keys/{id}/revoke", tag = "keys",
    params(("id" = uuid::Uuid, Path, description = "Which one.")),
    responses((status = 200, description = "Revoked, now or before.", body = ApiKey)))]
pub(crate) async fn revoke_key(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<KeyId>,
) -> Result<Json<ApiKey>, ApiError> {
    let (db, tenant, now) = (key.api.db.clone(), key.tenant(), key.api.clock.now());
    let telling = ApiAuditContext::of(&key.caller, key.api.ids.clone(), now);
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let gone = || missing("key", &id.to_string());
        let role = match keys::find(tx, id)?.ok_or_else(gone)?.carries {
            KeySubject::Role(role) => Some(role),
            KeySubject::Person(person) => persons::find(tx, person)?.and_then(|person| person.role),
        };
        if !key.is_above(role) {
            return Err(ApiError::new(ApiErrorCode::Forbidden, "That key stands higher than this one.")
                .hint("Ask an owner of the workspace."));
        }
        let revoked = key.api.keys.revoke(tx, id, now)?.ok_or_else(gone)?;
        if revoked.changed {
            tell(tx, &telling, "api_key.revoked", &revoked.key)?;
        }
        for child in &revoked.made_with_it {
            tell(tx, &telling, "api_key.revoked", child)?;
        }
        Ok(revoked.key)
    };
    Ok(Json(db.write(tenant, unit).await?.into()))
}
