//! `GET /visit/{place}/runs/{id}/stream`: the events of one's own turn, from the beginning or from where they broke off.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use munshi_server::error::ApiError;
use munshi_server::parameters::UrlPathParameterPair;
use munshi_server::phrases;
use munshi_server::phrases::to_locale;
use munshi_types::RunId;

use crate::api::stream::{self, RunStreamSource};
use crate::api::turn_errors::convert_turn_error;
use crate::app::App;
use crate::routes::visit_messages::send::build_event_renderer;
use crate::views::event::ServerEvent;
use crate::views::outcome::DetailLevel;
use crate::views::visit_event::VisitEventTranslator;
use crate::visitor::page_visitor::PageVisitor;

/// Stream the events of one's own run. With the last event id you get exactly the rest.
#[utoipa::path(get, path = "/visit/{place}/runs/{id}/stream", tag = "visit_runs",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "The run."),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event you received."),
    ),
    responses((status = 200, description = "The event stream.", body = ServerEvent, content_type = "text/event-stream")))]
pub(crate) async fn follow_visit_run(
    app: State<App>,
    visitor: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, RunId>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = stream::parse_last_event_id(id, &headers, None)?;
    let run = visitor.load_run(id).await?;
    let missing = || convert_turn_error(munshi_conversations::Error::NoConversation(id));
    let person = run.person.ok_or_else(missing)?;
    let language =
        visitor.find_thread().await?.and_then(|(_, session)| session.language.as_ref().and_then(to_locale));
    let voice = language.unwrap_or_else(|| phrases::choose_locale(&visitor.binding, &headers));
    let following =
        visitor.api.engine.follow(visitor.binding.tenant, id, after).await.map_err(convert_turn_error)?;
    let told = RunStreamSource {
        tenant: visitor.binding.tenant,
        person: Some(person),
        run: id,
        // The ear tells visitors less than staff hears, but it needs tools' results: attachments stand in them.
        insides: DetailLevel::Shown,
        client: visitor.client.clone(),
        first: None,
    };
    let view = build_event_renderer(VisitEventTranslator::new(&visitor.api, voice));
    Ok(stream::respond_with(&visitor.api, told, following, app.shutdown_token().clone(), view))
}
