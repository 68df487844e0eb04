//! `GET /visit/{place}/messages`: what has come into the visitor's own thread since a page last looked.

use munshi_conversations::messages;
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::UrlQueryParameters;
use munshi_store::Tx;
use munshi_types::MessageId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::views::visit::VisitMessage;
use crate::visitor::page_visitor::PageVisitor;

/// As many as a screen or two: whoever has missed more reads the thread.
const MOST: u32 = 40;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListVisitMessagesQuery {
    /// The newest message the page shows.
    #[param(value_type = uuid::Uuid)]
    after: MessageId,
}

/// New messages.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct NewMessages {
    /// Oldest first.
    messages: Vec<VisitMessage>,
}

/// List messages in one's own session since the last poll: answers, and messages from others. Poll it every few
/// seconds.
#[utoipa::path(get, path = "/visit/{place}/messages", tag = "visit_messages",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.", example = "rangoli"), ListVisitMessagesQuery),
    responses((status = 200, description = "The new messages; usually none.", body = NewMessages)))]
pub(crate) async fn list_visit_messages(
    visitor: PageVisitor,
    UrlQueryParameters(than): UrlQueryParameters<ListVisitMessagesQuery>,
) -> Result<Json<NewMessages>, ApiError> {
    let Some((_, session)) = visitor.find_thread().await? else { return Ok(Json(NewMessages::default())) };
    let terms = visitor.api.address_terms();
    let read = move |tx: &mut Tx<'_>| {
        let newer = messages::list_after(tx, session.id, than.after, MOST)?;
        newer
            .into_iter()
            .map(|message| VisitMessage::build(tx, message, terms))
            .collect::<Result<Vec<_>, ApiError>>()
    };
    Ok(Json(NewMessages { messages: visitor.api.db.read(visitor.binding.tenant, read).await? }))
}
