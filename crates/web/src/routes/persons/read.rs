//! `GET /v1/persons/{id}`: one person and how they are reached.

use munshi_identity::persons;
use munshi_server::error::ApiError;
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_store::Tx;
use munshi_types::PersonId;

use crate::api::access::AuthorizedCaller;
use crate::views::person::PersonWithAddresses;

/// Get a person and their addresses. The id of a merged person leads to the merged record.
#[utoipa::path(get, path = "/v1/persons/{id}", tag = "persons",
    params(("id" = uuid::Uuid, Path, description = "The person.")),
    responses((status = 200, description = "The person.", body = PersonWithAddresses)))]
pub(crate) async fn read_person(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<PersonId>,
) -> Result<Json<PersonWithAddresses>, ApiError> {
    let read = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let person =
            persons::find_living(tx, id)?.ok_or_else(|| not_found_error("person", &id.to_string()))?;
        PersonWithAddresses::load(tx, person)
    };
    Ok(Json(key.api.db.read(key.tenant(), read).await?))
}
