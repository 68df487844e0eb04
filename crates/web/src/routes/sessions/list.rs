//! `GET /v1/sessions`: conversations, the last spoken in first.

use munshi_agent::sessions::{self, Session as Stored, Wanted};
use munshi_store::Cursor;
use munshi_types::{BindingId, PersonId};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::Key;
use crate::api::ask::{Asked, Limit, Listed, page};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::session::Session;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those with this binding, by its id.
    #[param(value_type = Option<uuid::Uuid>)]
    binding: Option<BindingId>,
    /// Only those of this person.
    #[param(value_type = Option<uuid::Uuid>)]
    person: Option<PersonId>,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<Limit>,
}

/// Conversations, the last spoken in first.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(Which),
    responses((status = 200, description = "Some of them.", body = Listed<Session>)))]
pub(crate) async fn list_sessions(
    key: Key,
    Asked(which): Asked<Which>,
) -> Result<Json<Listed<Session>>, ApiError> {
    let wanted = match (which.person, which.binding) {
        (Some(person), _) => Wanted::Person(person),
        (None, Some(binding)) => Wanted::Binding(binding),
        (None, None) => Wanted::All,
    };
    let request = page(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| sessions::list(tx, wanted, &request)).await?;
    let shown = |session: Stored| {
        let fits = which.binding.is_none_or(|binding| session.binding == binding);
        (fits && key.reaches(session.binding)).then(|| session.into())
    };
    Ok(Json(Listed::of(found, shown)))
}
