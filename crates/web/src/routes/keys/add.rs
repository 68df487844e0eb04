//! `POST /v1/keys`: another key, shown this once.

use axum::http::StatusCode;
use munshi_identity::keys::{
    self, ApiAccess, ApiKeyRecord as Stored, AreaGrant, KeySpeaker as Speaks, KeySubject, NewApiKey as Wanted,
};
use munshi_identity::{Role as Stands, persons};
use munshi_safety::audit::AuditEvent;
use munshi_store::Tx;
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_types::{BindingId, Id, PersonId, Timestamp};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::ask::invalid;
use crate::api::missing;
use crate::api::telling::ApiAuditContext;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::views::key::{KeySpeakerView, MadeKey};
use crate::views::person::RoleView;

/// A key to be made. It stands for a role or for a person: one of the two.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewKey)]
pub(crate) struct AddKeyRequest {
    /// What it is called in lists, such as the program that uses it.
    #[schema(min_length = 1, max_length = 100, example = "till")]
    name: String,
    /// None above your own.
    role: Option<RoleView>,
    /// Somebody whose standing it carries, as it is when the key is used.
    #[schema(value_type = Option<uuid::Uuid>)]
    person: Option<PersonId>,
    /// For whom it talks: `person` where somebody types what is sent, else `program`. What a program wants written is
    /// confirmed by a person.
    speaks_as: KeySpeakerView,
    /// What it opens: `chat`, `sessions`, `runs`, `persons`, `bindings`, `tiers`, `approvals`, `usage`, `keys`, `test`,
    /// each also with `:read`. Without it, all that its standing reaches, or as much as your own key opens.
    #[schema(max_items = 20, example = json!(["chat", "persons:read"]))]
    areas: Option<Vec<String>>,
    /// The names of the bindings it reaches. Without it all, or those your own key reaches.
    #[schema(value_type = Option<Vec<String>>, max_items = 100, example = json!(["counter"]))]
    bindings: Option<Vec<TierName>>,
    /// When it ends; without it, when it is revoked.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

/// Another key. Its text is in the answer and nowhere else. It never opens more than your own.
#[utoipa::path(post, path = "/v1/keys", tag = "keys",
    responses((status = 201, description = "Made; the text is shown this once.", body = MadeKey)))]
pub(crate) async fn add_key(
    key: AuthorizedCaller,
    Json(new): Json<AddKeyRequest>,
) -> Result<(StatusCode, Json<MadeKey>), ApiError> {
    let bindings = bindings(&key, new.bindings.as_deref()).await?;
    let wanted = Wanted {
        name: new.name,
        carries: carries(new.role, new.person)?,
        areas: areas(&key, new.areas)?,
        bindings,
        // None outlives the key it is made with.
        expires_at: [new.expires_at, key.caller.until].into_iter().flatten().min(),
        speaks_as: may_speak(&key, new.speaks_as)?,
        made_by: String::new(),
        maker: key.maker()?,
    };
    let (db, tenant, now) = (key.api.db.clone(), key.tenant(), key.api.clock.now());
    let telling = ApiAuditContext::of(&key.caller, key.api.ids.clone(), now);
    let wanted = Wanted { made_by: telling.who().to_owned(), ..wanted };
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        may_carry(tx, &key, wanted.carries)?;
        let made = keys::add(tx, &key.api.ids, key.api.random.as_ref(), &wanted, now)?;
        tell(tx, &telling, "api_key.made", &made.key)?;
        Ok(made)
    };
    Ok((StatusCode::CREATED, Json(db.write(tenant, unit).await?.into())))
}

/// Which key, never its text.
pub(crate) fn tell(
    tx: &mut Tx<'_>,
    telling: &ApiAuditContext,
    event: &str,
    key: &Stored,
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
    telling.tell(tx, event, key.id.to_string(), payload)
}

fn carries(role: Option<RoleView>, person: Option<PersonId>) -> Result<KeySubject, ApiError> {
    match (role, person) {
        (Some(role), None) => Ok(KeySubject::Role(role.into())),
        (None, Some(person)) => Ok(KeySubject::Person(person)),
        _ => Err(invalid("role", "say whose standing the key carries: either `role` or `person`")),
    }
}

/// A program makes no key with which its words would be a person's.
fn may_speak(key: &AuthorizedCaller, wanted: KeySpeakerView) -> Result<Speaks, ApiError> {
    if key.caller.speaks_as == Speaks::Program && wanted == KeySpeakerView::Person {
        let what = "A key of a program makes keys for programs alone.";
        return Err(ApiError::new(ApiErrorCode::Forbidden, what)
            .hint("Make it on the account page, or with `munshi key add --speaks-as person`."));
    }
    Ok(wanted.into())
}

fn may_carry(tx: &mut Tx<'_>, key: &AuthorizedCaller, carries: KeySubject) -> Result<(), ApiError> {
    let role: Option<Stands> = match carries {
        KeySubject::Role(role) => Some(role),
        KeySubject::Person(id) => {
            persons::find(tx, id)?.ok_or_else(|| missing("person", &id.to_string()))?.role
        }
    };
    if key.is_above(role) {
        return Ok(());
    }
    Err(ApiError::new(ApiErrorCode::Forbidden, "A key can't make one that stands higher than itself.")
        .hint("Ask an owner of the workspace."))
}

/// None wider than one's own.
fn areas(key: &AuthorizedCaller, wanted: Option<Vec<String>>) -> Result<Option<Vec<AreaGrant>>, ApiError> {
    let Some(wanted) = wanted else { return Ok(key.caller.areas.clone()) };
    let mut grants = Vec::new();
    for text in wanted {
        let grant: AreaGrant =
            text.parse().map_err(|error: keys::AreaGrantError| invalid("areas", &error.to_string()))?;
        let own = key.caller.areas.as_ref();
        if own.is_some_and(|own| !own.iter().any(|have| have.opens(grant.area, grant.access))) {
            return Err(ApiError::new(
                ApiErrorCode::Forbidden,
                format!("This key does not open {grant} itself."),
            )
            .hint("Ask an owner of the workspace for a key that does."));
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
async fn bindings(
    key: &AuthorizedCaller,
    names: Option<&[TierName]>,
) -> Result<Option<Vec<BindingId>>, ApiError> {
    let Some(names) = names else { return Ok(key.caller.bindings.clone()) };
    let tenant = key.api.tenant(key.tenant()).await?;
    let tiers = history::tiers(&key.api.db, &tenant.name).await?;
    let id = |name: &TierName| {
        let found = tiers.iter().find(|tier| {
            tier.kind == TierKind::Binding && tier.status == TierStatus::Active && tier.name == *name
        });
        let id = found.map(|tier| BindingId::from_uuid(tier.id.as_uuid()));
        id.filter(|id| key.reaches(*id)).ok_or_else(|| {
            invalid("bindings", &format!("there is no binding {name} that this key reaches"))
                .hint("GET /v1/bindings lists those it does.")
        })
    };
    names.iter().map(id).collect::<Result<_, _>>().map(Some)
}
