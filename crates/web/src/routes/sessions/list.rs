//! `GET /v1/sessions`: conversations, the last spoken in first.

use munshi_agent::sessions::{self, Session, SessionFilter};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{ListLimit, ListResponse, UrlQueryParameters, build_page_request};
use munshi_store::Cursor;
use munshi_types::{BindingId, PersonId};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::views::session::SessionView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListSessionsQuery {
    /// Only sessions with this binding, by its id.
    #[param(value_type = Option<uuid::Uuid>)]
    binding: Option<BindingId>,
    /// Only sessions of this person.
    #[param(value_type = Option<uuid::Uuid>)]
    person: Option<PersonId>,
    /// The `next` of the previous page.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// Page size; default 25.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// List sessions, most recently active first.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(ListSessionsQuery),
    responses((status = 200, description = "A page of sessions.", body = ListResponse<SessionView>)))]
pub(crate) async fn list_sessions(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListSessionsQuery>,
) -> Result<Json<ListResponse<SessionView>>, ApiError> {
    let wanted = match (which.person, which.binding) {
        (Some(person), _) => SessionFilter::Person(person),
        (None, Some(binding)) => SessionFilter::Binding(binding),
        (None, None) => SessionFilter::All,
    };
    let request = build_page_request(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| sessions::list(tx, wanted, &request)).await?;
    let shown = |session: Session| {
        let fits = which.binding.is_none_or(|binding| session.binding == binding);
        (fits && key.reaches(session.binding)).then(|| session.into())
    };
    Ok(Json(ListResponse::from_page(found, shown)))
}
