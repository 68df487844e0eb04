//! `GET /v1/persons`: people, newest first.

use munshi_identity::persons::{self, PersonFilter};
use munshi_store::Cursor;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::api::ask::{ListLimit, ListResponse, UrlQueryParameters, page};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::person::PersonView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListPersonsQuery {
    /// Those who have left too.
    everybody: Option<bool>,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// People, newest first: those who work here and those who don't.
#[utoipa::path(get, path = "/v1/persons", tag = "persons", params(ListPersonsQuery),
    responses((status = 200, description = "Some of them.", body = ListResponse<PersonView>)))]
pub(crate) async fn list_persons(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListPersonsQuery>,
) -> Result<Json<ListResponse<PersonView>>, ApiError> {
    let wanted = if which.everybody == Some(true) { PersonFilter::Everybody } else { PersonFilter::Here };
    let request = page(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| persons::list(tx, wanted, &request)).await?;
    Ok(Json(ListResponse::of(found, |person| Some(person.into()))))
}
