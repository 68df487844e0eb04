//! `POST /v1/keys`: another key, shown this once.

use axum::http::StatusCode;
use munshi_identity::keys::{self, ApiAccess, ApiKeyRecord, AreaGrant, KeySpeaker, KeySubject, NewApiKey};
use munshi_identity::{Role, persons};
use munshi_safety::audit::AuditEvent;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::field_error;
use munshi_store::Tx;
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_types::{BindingId, Id, PersonId, Timestamp};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::audit_context::ApiAuditContext;
use crate::views::key::{KeySpeakerView, MadeKey};
use crate::views::person::RoleView;

/// A key to create. Set either `role` or `person`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewKey)]
pub(crate) struct AddKeyRequest {
    /// A name for lists, such as the program that uses the key.
    #[schema(min_length = 1, max_length = 100, example = "till")]
    name: String,
    /// At most your own role.
    role: Option<RoleView>,
    /// The person the key acts as, with the role they have when the key is used.
    #[schema(value_type = Option<uuid::Uuid>)]
    person: Option<PersonId>,
    /// Who writes what is sent: `person` if somebody types it, otherwise `program`. Writes requested by a program
    /// need a person's approval.
    speaks_as: KeySpeakerView,
    /// The areas it may access: `chat`, `sessions`, `runs`, `persons`, `bindings`, `tiers`, `approvals`, `usage`,
    /// `keys`, `test`, each optionally with `:read`. Default: all that its role allows, limited to your own key's
    /// areas.
    #[schema(max_items = 20, example = json!(["chat", "persons:read"]))]
    areas: Option<Vec<String>>,
    /// The names of the bindings it may access. Default: all that your own key may access.
    #[schema(value_type = Option<Vec<String>>, max_items = 100, example = json!(["counter"]))]
    bindings: Option<Vec<TierName>>,
    /// Expiry time. Default: none; the key is valid until revoked.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

/// Create a key. Only this response contains its text. It never has more access than your own key.
#[utoipa::path(post, path = "/v1/keys", tag = "keys",
    responses((status = 201, description = "Created; the text is shown only once.", body = MadeKey)))]
pub(crate) async fn add_key(
    key: AuthorizedCaller,
    Json(new): Json<AddKeyRequest>,
) -> Result<(StatusCode, Json<MadeKey>), ApiError> {
    let bindings = resolve_bindings(&key, new.bindings.as_deref()).await?;
    let wanted = NewApiKey {
        name: new.name,
        carries: parse_subject(new.role, new.person)?,
        areas: parse_areas(&key, new.areas)?,
        bindings,
        // None outlives the key it is made with.
        expires_at: [new.expires_at, key.caller.until].into_iter().flatten().min(),
        speaks_as: resolve_speaker(&key, new.speaks_as)?,
        made_by: String::new(),
        maker: key.resolve_maker()?,
    };
    let (db, tenant, now) = (key.api.db.clone(), key.tenant(), key.api.clock.now());
    let telling = ApiAuditContext::for_caller(&key.caller, key.api.ids.clone(), now);
    let wanted = NewApiKey { made_by: telling.actor_id().to_owned(), ..wanted };
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        check_subject(tx, &key, wanted.carries)?;
        let made = keys::add(tx, &key.api.ids, key.api.random.as_ref(), &wanted, now)?;
        record_key_event(tx, &telling, "api_key.made", &made.key)?;
        Ok(made)
    };
    Ok((StatusCode::CREATED, Json(db.write(tenant, unit).await?.into())))
}

/// Which key, never its text.
pub(crate) fn record_key_event(
    tx: &mut Tx<'_>,
    telling: &ApiAuditContext,
    event: &str,
    key: &ApiKeyRecord,
) -> Result<(), ApiError> {
    let handles: Vec<&str> = key.secrets.iter().map(|secret| secret.handle.as_str()).collect();
    let payload = json!({
        "name": key.name,
        "carries": key.carries,
        "areas": key.areas,
        "bindings": key.bindings,
        "speaks_as": key.speaks_as,
        "expires_at": key.expires_at,
        "handles": handles,
    });
    let event: AuditEvent = event.parse().map_err(ApiError::from)?;
    telling.record(tx, event, key.id.to_string(), payload)
}

fn parse_subject(role: Option<RoleView>, person: Option<PersonId>) -> Result<KeySubject, ApiError> {
    match (role, person) {
        (Some(role), None) => Ok(KeySubject::Role(role.into())),
        (None, Some(person)) => Ok(KeySubject::Person(person)),
        _ => Err(field_error("role", "set either `role` or `person`")),
    }
}

/// A program makes no key with which its words would be a person's.
fn resolve_speaker(key: &AuthorizedCaller, wanted: KeySpeakerView) -> Result<KeySpeaker, ApiError> {
    if key.caller.speaks_as == KeySpeaker::Program && wanted == KeySpeakerView::Person {
        let what = "A key that speaks as a program can create only such keys.";
        return Err(ApiError::new(ApiErrorCode::Forbidden, what)
            .hint("Create it on the account page, or with `munshi key add --speaks-as person`."));
    }
    Ok(wanted.into())
}

fn check_subject(tx: &mut Tx<'_>, key: &AuthorizedCaller, carries: KeySubject) -> Result<(), ApiError> {
    let role: Option<Role> = match carries {
        KeySubject::Role(role) => Some(role),
        KeySubject::Person(id) => {
            persons::find(tx, id)?.ok_or_else(|| not_found_error("person", &id.to_string()))?.role
        }
    };
    if key.covers_role(role) {
        return Ok(());
    }
    Err(ApiError::new(ApiErrorCode::Forbidden, "A key can't create a key with a higher role than its own.")
        .hint("Ask an owner of the workspace."))
}

/// None wider than one's own.
fn parse_areas(
    key: &AuthorizedCaller,
    wanted: Option<Vec<String>>,
) -> Result<Option<Vec<AreaGrant>>, ApiError> {
    let Some(wanted) = wanted else { return Ok(key.caller.areas.clone()) };
    let mut grants = Vec::new();
    for text in wanted {
        let grant: AreaGrant =
            text.parse().map_err(|error: keys::AreaGrantError| field_error("areas", &error.to_string()))?;
        let own = key.caller.areas.as_ref();
        if own.is_some_and(|own| !own.iter().any(|have| have.opens(grant.area, grant.access))) {
            return Err(ApiError::new(
                ApiErrorCode::Forbidden,
                format!("This key has no access to {grant} itself."),
            )
            .hint("Ask an owner of the workspace for a key with this access."));
        }
        grants.push(grant);
    }
    // Reading is part of writing.
    grants.sort_unstable();
    grants.dedup();
    let wide: Vec<_> =
        grants.iter().filter(|one| one.access == ApiAccess::Write).map(|one| one.area).collect();
    grants.retain(|one| one.access == ApiAccess::Write || !wide.contains(&one.area));
    Ok(Some(grants))
}

/// By name, as people know them; a key keeps their ids.
async fn resolve_bindings(
    key: &AuthorizedCaller,
    names: Option<&[TierName]>,
) -> Result<Option<Vec<BindingId>>, ApiError> {
    let Some(names) = names else { return Ok(key.caller.bindings.clone()) };
    let tenant = key.api.load_tenant(key.tenant()).await?;
    let tiers = history::list_tiers(&key.api.db, &tenant.name).await?;
    let id = |name: &TierName| {
        let found = tiers.iter().find(|tier| {
            tier.kind == TierKind::Binding && tier.status == TierStatus::Active && tier.name == *name
        });
        let id = found.map(|tier| BindingId::from_uuid(tier.id.as_uuid()));
        id.filter(|id| key.reaches(*id)).ok_or_else(|| {
            field_error("bindings", &format!("no binding {name} exists, or this key has no access to it"))
                .hint("List the accessible ones with GET /v1/bindings.")
        })
    };
    names.iter().map(id).collect::<Result<_, _>>().map(Some)
}
