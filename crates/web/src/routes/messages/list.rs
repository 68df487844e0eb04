//! `GET /v1/sessions/{id}/messages`: what was said, newest first.

use munshi_agent::messages;
use munshi_store::Cursor;
use munshi_types::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::Key;
use crate::api::ask::{Asked, At, Limit, Listed, page};
use crate::error::ApiError;
use crate::json::Json;
use crate::routes::sessions::read::open_to;
use crate::views::message::Message;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<Limit>,
}

/// What was said in a conversation, newest first. What has gone to the archive is not here.
#[utoipa::path(get, path = "/v1/sessions/{id}/messages", tag = "messages",
    params(("id" = uuid::Uuid, Path, description = "Which conversation."), Which),
    responses((status = 200, description = "Some of it.", body = Listed<Message>)))]
pub(crate) async fn list_messages(
    key: Key,
    At(id): At<SessionId>,
    Asked(which): Asked<Which>,
) -> Result<Json<Listed<Message>>, ApiError> {
    let session = open_to(&key, id).await?.id;
    let request = page(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| messages::list(tx, session, &request)).await?;
    Ok(Json(Listed::of(found, |message| Some(message.into()))))
}
