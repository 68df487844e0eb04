//! `POST /v1/persons`: somebody new.

use axum::http::StatusCode;
use munshi_identity::{ContactAddress, ContactAddressError, Person, persons};
use munshi_safety::audit::AuditEvent;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::{self, field_error};
use munshi_store::Tx;
use munshi_types::Language;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::audit_context::ApiAuditContext;
use crate::routes::persons::change::check_role_change;
use crate::views::person::{PersonWithAddresses, RoleView};

/// A person to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPerson {
    #[schema(min_length = 1, max_length = 200, example = "Meera Sharma")]
    name: String,
    /// Default: none, for somebody outside the business. Only owners and admins may set it, at most to their own
    /// role.
    role: Option<RoleView>,
    /// Audiences they belong to. Each tag has letters, digits and dashes.
    #[serde(default)]
    #[schema(max_items = 50, example = json!(["customers"]))]
    tags: Vec<String>,
    #[schema(example = "hi")]
    language: Option<String>,
    /// A verified number, with its country code.
    #[schema(example = "+919812345678")]
    phone: Option<String>,
    #[schema(example = "meera@shop.example")]
    email: Option<String>,
    #[schema(example = "meera")]
    handle: Option<String>,
}

/// Add a person with their addresses. An address that belongs to another person is a `conflict`.
#[utoipa::path(post, path = "/v1/persons", tag = "persons",
    responses((status = 201, description = "Added.", body = PersonWithAddresses)))]
pub(crate) async fn add_person(
    key: AuthorizedCaller,
    Json(new): Json<NewPerson>,
) -> Result<(StatusCode, Json<PersonWithAddresses>), ApiError> {
    let role = new.role.map(Into::into);
    if role.is_some() {
        check_role_change(&key, None, role)?;
    }
    let name = parameters::parse_name("name", &new.name)?;
    let tags = parameters::parse_tags(&new.tags)?;
    let language: Option<Language> = new.language.as_deref().map(parameters::parse_language).transpose()?;
    let addresses = parse_addresses(&new)?;
    let (api, now) = (&key.api, key.api.clock.now());
    let person = Person { role, tags, language, ..Person::new(&api.ids, name, now) };
    let telling = ApiAuditContext::for_caller(&key.caller, api.ids.clone(), now);
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        persons::upsert(tx, &person)?;
        for address in &addresses {
            if persons::find_by_address(tx, address)?.is_some() {
                return Err(address_taken_error(address));
            }
            persons::add_address(tx, person.id, address)?;
        }
        let kinds: Vec<&str> = addresses.iter().map(|address| address.kind().as_str()).collect();
        let payload = json!({ "role": person.role, "tags": person.tags, "addresses": kinds });
        let id = person.id.to_string();
        let shown = PersonWithAddresses::load(tx, person)?;
        telling.record(tx, AuditEvent::PERSON_ADDED, id, payload)?;
        Ok(shown)
    };
    Ok((StatusCode::CREATED, Json(api.db.write(key.tenant(), unit).await?)))
}

fn parse_addresses(new: &NewPerson) -> Result<Vec<ContactAddress>, ApiError> {
    type Read = fn(&str) -> Result<ContactAddress, ContactAddressError>;
    let given: [(&str, &Option<String>, Read); 3] = [
        ("phone", &new.phone, ContactAddress::phone),
        ("email", &new.email, ContactAddress::email),
        ("handle", &new.handle, ContactAddress::handle),
    ];
    let read = given.into_iter().filter_map(|(field, text, read)| {
        let text = text.as_deref()?;
        Some(read(text).map_err(|error| field_error(field, &error.to_string())))
    });
    read.collect()
}

fn address_taken_error(address: &ContactAddress) -> ApiError {
    ApiError::new(
        ApiErrorCode::Conflict,
        format!("This {} belongs to another person.", address.kind().as_str()),
    )
    .hint("An address belongs to one person; find them with GET /v1/persons.")
}
