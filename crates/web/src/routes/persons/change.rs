//! `PATCH /v1/persons/{id}`: what is known of somebody changes.

use munshi_identity::keys::{self, KeySpeaker};
use munshi_identity::{Person, Role, persons};
use munshi_safety::audit::AuditEvent;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::{self, UrlPathParameter};
use munshi_store::Tx;
use munshi_types::{Language, PersonId};
use serde::{Deserialize, Deserializer};
use serde_json::json;
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::audit_context::ApiAuditContext;
use crate::views::person::{PersonWithAddresses, RoleView};

/// Fields to update; omitted fields are unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonChange {
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// The language for replies to them.
    #[schema(example = "ta")]
    language: Option<String>,
    /// Replaces all tags.
    #[schema(max_items = 50, example = json!(["customers"]))]
    tags: Option<Vec<String>>,
    /// `null` for somebody outside the business. Only owners and admins may set it, at most to their own role.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schema(value_type = Option<RoleView>)]
    role: Option<Option<RoleView>>,
}

/// Tells `null` from what is not there.
fn deserialize_present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<RoleView>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// A change that was looked at.
struct Change {
    name: Option<String>,
    language: Option<Language>,
    tags: Option<Vec<String>>,
    role: Option<Option<Role>>,
}

/// Update a person. A key can't update a person with a higher role, or demote the last owner.
#[utoipa::path(patch, path = "/v1/persons/{id}", tag = "persons",
    params(("id" = uuid::Uuid, Path, description = "The person.")),
    responses((status = 200, description = "The updated person.", body = PersonWithAddresses)))]
pub(crate) async fn change_person(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<PersonId>,
    Json(wish): Json<PersonChange>,
) -> Result<Json<PersonWithAddresses>, ApiError> {
    let change = Change {
        name: wish.name.as_deref().map(|name| parameters::parse_name("name", name)).transpose()?,
        language: wish.language.as_deref().map(parameters::parse_language).transpose()?,
        tags: wish.tags.as_deref().map(parameters::parse_tags).transpose()?,
        role: wish.role.map(|role| role.map(Into::into)),
    };
    let (db, tenant) = (key.api.db.clone(), key.tenant());
    let telling = ApiAuditContext::for_caller(&key.caller, key.api.ids.clone(), key.api.clock.now());
    let shown = db.write(tenant, move |tx| apply(tx, &key, id, change, &telling)).await?;
    Ok(Json(shown))
}

fn apply(
    tx: &mut Tx<'_>,
    key: &AuthorizedCaller,
    id: PersonId,
    change: Change,
    telling: &ApiAuditContext,
) -> Result<PersonWithAddresses, ApiError> {
    let before = persons::lock_living(tx, id)?.ok_or_else(|| not_found_error("person", &id.to_string()))?;
    if !key.covers_role(before.role) {
        return Err(ApiError::new(ApiErrorCode::Forbidden, "This person has a higher role than the key.")
            .hint("Ask an owner of the workspace."));
    }
    if before.left_at.is_some() {
        return Err(ApiError::new(ApiErrorCode::Conflict, "This person has left the workspace.")
            .hint("To reinstate them, run `munshi person set PERSON --back`."));
    }
    let role = change.role.unwrap_or(before.role);
    if role != before.role {
        check_role_change(key, before.role, role)?;
        if before.role == Some(Role::Owner) && persons::is_last_owner(tx, before.id)? {
            return Err(ApiError::new(
                ApiErrorCode::Conflict,
                "This is the last owner; a workspace needs at least one.",
            )
            .hint("Make another person an owner first."));
        }
    }
    let after = Person {
        name: change.name.unwrap_or_else(|| before.name.clone()),
        language: change.language.or(before.language),
        tags: change.tags.unwrap_or_else(|| before.tags.clone()),
        role,
        ..before.clone()
    };
    if after != before {
        persons::upsert(tx, &after)?;
    }
    let shown = PersonWithAddresses::load(tx, after.clone())?;
    record_changes(tx, &before, &after, telling)?;
    let revoked = keys::revoke_after_role_loss(tx, &before, &after, telling.now)?;
    for one in &revoked {
        let payload = json!({ "name": one.name, "why": "its maker lost the role that made it" });
        let event = "api_key.revoked".parse().map_err(ApiError::from)?;
        telling.record(tx, event, one.id.to_string(), payload)?;
    }
    let (known, ids) = (key.api.keys.clone(), revoked.iter().map(|one| one.id).collect::<Vec<_>>());
    tx.after_commit(move || known.invalidate(&ids));
    Ok(shown)
}

/// A role is told by itself, with what it was: it decides what somebody may.
fn record_changes(
    tx: &mut Tx<'_>,
    before: &Person,
    after: &Person,
    telling: &ApiAuditContext,
) -> Result<(), ApiError> {
    let id = after.id.to_string();
    if before.role != after.role {
        let payload = json!({ "from": before.role, "to": after.role });
        telling.record(tx, AuditEvent::PERSON_ROLE_CHANGED, id.clone(), payload)?;
    }
    let differs = [
        ("name", before.name != after.name),
        ("tags", before.tags != after.tags),
        ("language", before.language != after.language),
    ];
    let keys: Vec<&str> = differs.into_iter().filter_map(|(what, is)| is.then_some(what)).collect();
    if !keys.is_empty() {
        telling.record(tx, AuditEvent::PERSON_CHANGED, id, json!({ "keys": keys, "tags": after.tags }))?;
    }
    Ok(())
}

/// Roles are given and taken by owners and admins, and none above their own; not by programs, who could make themselves the
/// person that confirms what they write.
pub(crate) fn check_role_change(
    key: &AuthorizedCaller,
    before: Option<Role>,
    after: Option<Role>,
) -> Result<(), ApiError> {
    if key.caller.speaks_as == KeySpeaker::Program {
        return Err(ApiError::new(
            ApiErrorCode::Forbidden,
            "A key that speaks as a program can't change roles.",
        )
        .hint("Use the account page, `munshi person set`, or a key that speaks as a person."));
    }
    let may = matches!(key.role(), Some(Role::Owner | Role::Admin));
    if may && key.covers_role(before) && key.covers_role(after) {
        return Ok(());
    }
    Err(ApiError::new(ApiErrorCode::Forbidden, "This key may not assign or remove that role.")
        .hint("Owners and admins assign roles up to their own: ask an owner of the workspace."))
}
