//! `GET /v1/persons/{id}`: one person and how they are reached.

use munshi_identity::persons;
use munshi_store::Tx;
use munshi_types::PersonId;

use crate::api::access::AuthorizedCaller;
use crate::api::ask::UrlPathParameter;
use crate::api::missing;
use crate::error::ApiError;
use crate::json::Json;
use crate::views::person::PersonWithAddresses;

/// One person and how they are reached. An old id leads to whom they have become.
#[utoipa::path(get, path = "/v1/persons/{id}", tag = "persons",
    params(("id" = uuid::Uuid, Path, description = "Who.")),
    responses((status = 200, description = "The person.", body = PersonWithAddresses)))]
pub(crate) async fn read_person(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<PersonId>,
) -> Result<Json<PersonWithAddresses>, ApiError> {
    let read = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let person = persons::living(tx, id)?.ok_or_else(|| missing("person", &id.to_string()))?;
        PersonWithAddresses::of(tx, person)
    };
    Ok(Json(key.api.db.read(key.tenant(), read).await?))
}
