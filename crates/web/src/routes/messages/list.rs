//! `GET /v1/sessions/{id}/messages`: what was said, newest first.

use munshi_agent::messages;
use munshi_store::Cursor;
use munshi_types::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::api::ask::{ListLimit, ListResponse, UrlPathParameter, UrlQueryParameters, page};
use crate::error::ApiError;
use crate::json::Json;
use crate::routes::sessions::read::open_to;
use crate::views::message::MessageView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListMessagesQuery {
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// What was said in a conversation, newest first. What has gone to the archive is not here.
#[utoipa::path(get, path = "/v1/sessions/{id}/messages", tag = "messages",
    params(("id" = uuid::Uuid, Path, description = "Which conversation."), ListMessagesQuery),
    responses((status = 200, description = "Some of it.", body = ListResponse<MessageView>)))]
pub(crate) async fn list_messages(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<SessionId>,
    UrlQueryParameters(which): UrlQueryParameters<ListMessagesQuery>,
) -> Result<Json<ListResponse<MessageView>>, ApiError> {
    let session = open_to(&key, id).await?.id;
    let request = page(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| messages::list(tx, session, &request)).await?;
    Ok(Json(ListResponse::of(found, |message| Some(message.into()))))
}
