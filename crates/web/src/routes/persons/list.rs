//! `GET /v1/persons`: people, newest first.

use munshi_identity::persons::{self, PersonFilter};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{ListLimit, ListResponse, UrlQueryParameters, build_page_request};
use munshi_store::Cursor;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::views::person::PersonView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListPersonsQuery {
    /// Include people who have left.
    everybody: Option<bool>,
    /// The `next` of the previous page.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// Page size; default 25.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// List people, newest first: staff and others.
#[utoipa::path(get, path = "/v1/persons", tag = "persons", params(ListPersonsQuery),
    responses((status = 200, description = "A page of people.", body = ListResponse<PersonView>)))]
pub(crate) async fn list_persons(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListPersonsQuery>,
) -> Result<Json<ListResponse<PersonView>>, ApiError> {
    let wanted = if which.everybody == Some(true) { PersonFilter::Everybody } else { PersonFilter::Here };
    let request = build_page_request(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| persons::list(tx, wanted, &request)).await?;
    Ok(Json(ListResponse::from_page(found, |person| Some(person.into()))))
}
