//! `GET /v1/sessions/{id}/messages`: what was said, newest first.

use munshi_agent::messages;
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{
    ListLimit, ListResponse, UrlPathParameter, UrlQueryParameters, build_page_request,
};
use munshi_store::Cursor;
use munshi_types::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::routes::sessions::read::load_session;
use crate::views::message::MessageView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListMessagesQuery {
    /// The `next` of the previous page.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// Page size; default 25.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// List the messages of a session, newest first. Archived messages are not included.
#[utoipa::path(get, path = "/v1/sessions/{id}/messages", tag = "messages",
    params(("id" = uuid::Uuid, Path, description = "The session."), ListMessagesQuery),
    responses((status = 200, description = "A page of messages.", body = ListResponse<MessageView>)))]
pub(crate) async fn list_messages(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<SessionId>,
    UrlQueryParameters(which): UrlQueryParameters<ListMessagesQuery>,
) -> Result<Json<ListResponse<MessageView>>, ApiError> {
    let session = load_session(&key, id).await?.id;
    let request = build_page_request(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| messages::list(tx, session, &request)).await?;
    Ok(Json(ListResponse::from_page(found, |message| Some(message.into()))))
}
