//! `GET /v1/persons`: people, newest first.

use munshi_identity::persons::{self, Wanted};
use munshi_store::Cursor;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::Key;
use crate::api::ask::{Asked, Limit, Listed, page};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::person::Person;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Those who have left too.
    everybody: Option<bool>,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<Limit>,
}

/// People, newest first: those who work here and those who don't.
#[utoipa::path(get, path = "/v1/persons", tag = "persons", params(Which),
    responses((status = 200, description = "Some of them.", body = Listed<Person>)))]
pub(crate) async fn list_persons(
    key: Key,
    Asked(which): Asked<Which>,
) -> Result<Json<Listed<Person>>, ApiError> {
    let wanted = if which.everybody == Some(true) { Wanted::Everybody } else { Wanted::Here };
    let request = page(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| persons::list(tx, wanted, &request)).await?;
    Ok(Json(Listed::of(found, |person| Some(person.into()))))
}
