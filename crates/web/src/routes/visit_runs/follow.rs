//! `GET /visit/{place}/runs/{id}/stream`: the events of one's own turn, from the beginning or from where they broke off.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use munshi_types::RunId;

use crate::api::ask::UrlPathParameterPair;
use crate::api::stream::{self, RunStreamSource};
use crate::app::App;
use crate::error::ApiError;
use crate::routes::visit_messages::send::seen_by_visitors;
use crate::views::event::ServerEvent;
use crate::views::outcome::DetailLevel;
use crate::visitor::guest::PageVisitor;
use crate::visitor::heard::{VisitEventTranslator, voice_of};
use crate::visitor::words;

/// The events of one's own turn. With the id of the last one that was seen come exactly the others.
#[utoipa::path(get, path = "/visit/{place}/runs/{id}/stream", tag = "visit_runs",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "Which turn."),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event you saw."),
    ),
    responses((status = 200, description = "The events.", body = ServerEvent, content_type = "text/event-stream")))]
pub(crate) async fn follow_visit_run(
    app: State<App>,
    guest: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, RunId>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = stream::seen(id, &headers, None)?;
    let run = guest.run(id).await?;
    let language =
        guest.thread().await?.and_then(|(_, session)| session.language.as_ref().and_then(voice_of));
    let voice = language.unwrap_or_else(|| words::greeting(&guest.place, &headers));
    let following = guest.api.engine.follow(guest.place.tenant, id, after).await?;
    let told = RunStreamSource {
        tenant: guest.place.tenant,
        person: run.person,
        run: id,
        // The ear tells visitors less than staff hears, but it needs tools' results: attachments stand in them.
        insides: DetailLevel::Shown,
        first: None,
    };
    let view = seen_by_visitors(VisitEventTranslator::new(&guest.api, voice));
    Ok(stream::respond_as(&guest.api, told, following, app.stopping().clone(), view))
}
