//! `GET /visit/{place}`: a place, and the visitor's own thread there.

use axum::http::HeaderMap;
use munshi_conversations::runs::{self, RunFilter, RunView};
use munshi_conversations::sessions::Session;
use munshi_conversations::{RunState, messages};
use munshi_identity::Person;
use munshi_lang::Locale;
use munshi_safety::{approvals, consents};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::UrlQueryParameters;
use munshi_server::phrases;
use munshi_server::phrases::to_locale;
use munshi_server::visitor::binding_lookup;
use munshi_store::{Cursor, Page, PageRequest, Tx};
use munshi_types::tier::Channel;
use munshi_types::{Id, RunId};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::routes::visit_approvals::read::is_answerable;
use crate::views::visit::{VisitApproval, VisitMessage, VisitView};
use crate::visitor::page_visitor::PageVisitor;

/// As many as a screen or two.
const MESSAGES: u32 = 40;
/// More turns of one thread are not under way at once.
const RUNS: u32 = 8;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowVisitQuery {
    /// The `before` of the previous response, for earlier messages.
    #[param(value_type = Option<String>)]
    before: Option<Cursor>,
}

/// What the thread holds at this moment.
#[derive(Default)]
struct Thread {
    messages: Vec<VisitMessage>,
    before: Option<String>,
    running: Vec<RunId>,
    approvals: Vec<VisitApproval>,
    consents: bool,
}

/// Get a place and the visitor's own session there. This creates no visitor: the first message does.
#[utoipa::path(get, path = "/visit/{place}", tag = "visits",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.", example = "rangoli"), ShowVisitQuery),
    responses((status = 200, description = "The place.", body = VisitView)))]
pub(crate) async fn read_visit(
    visitor: PageVisitor,
    headers: HeaderMap,
    UrlQueryParameters(which): UrlQueryParameters<ShowVisitQuery>,
) -> Result<Json<VisitView>, ApiError> {
    let person = visitor.find_person().await?;
    let is_member = person.as_ref().is_some_and(|person| person.role.is_some());
    let open = is_member || !binding_lookup::is_members_only(&visitor.binding);
    let found = visitor.find_thread().await?;
    let language = found.as_ref().and_then(|(_, session)| session.language.as_ref()).and_then(to_locale);
    let voice = language.unwrap_or_else(|| phrases::choose_locale(&visitor.binding, &headers));
    let by_phone = !visitor.proved.is_vouched()
        && visitor.api.senders.iter().any(|sender| sender.channel() == Channel::Whatsapp);
    let link = by_phone && found.as_ref().is_some_and(|(person, _)| person.visitor && person.role.is_none());
    let thread = match found {
        Some((person, session)) => load_thread(&visitor, (person, session), voice, which.before).await?,
        None => Thread::default(),
    };
    Ok(Json(VisitView {
        place: binding_lookup::public_name(&visitor.binding),
        name: binding_lookup::display_name(&visitor.binding, open).to_owned(),
        voice: voice.code(),
        open,
        largest_file: visitor.api.files.limits().file_bytes,
        link,
        consents: thread.consents,
        messages: thread.messages,
        before: thread.before,
        running: thread.running,
        approvals: thread.approvals,
    }))
}

/// Neither ended nor waiting for a person.
fn is_running(run: &RunView) -> bool {
    run.ended_at.is_none() && run.state != RunState::WaitingApproval
}

async fn load_thread(
    visitor: &PageVisitor,
    (person, session): (Person, Session),
    voice: Locale,
    before: Option<Cursor>,
) -> Result<Thread, ApiError> {
    let (act_services, tools) =
        (visitor.api.act_services.clone(), visitor.api.visitor_services.tools.clone());
    let (terms, proved, now) = (visitor.api.address_terms(), visitor.proved.clone(), visitor.api.clock.now());
    let read = move |tx: &mut Tx<'_>| {
        let page = messages::list(tx, session.id, &PageRequest::new(before, MESSAGES))?;
        let Page { items, next, .. } = page;
        let newest = PageRequest::new(None, RUNS);
        let runs = runs::list(tx, RunFilter::Session(session.id), &newest)?.items;
        let running = runs.into_iter().filter(is_running).map(|run| run.id);
        let mut waiting = Vec::new();
        for approval in approvals::list_pending(tx, session.id.as_uuid())? {
            let yours = is_answerable(tx, &act_services, &approval, (&person, &proved))?;
            waiting.push(VisitApproval::new(&approval, yours, (&tools, voice)));
        }
        let build = |message| VisitMessage::build(tx, message, terms);
        let mut messages = items.into_iter().map(build).collect::<Result<Vec<_>, _>>()?;
        messages.reverse();
        let before = next.map(|next| next.to_string());
        let consents = !consents::list_open(tx, person.id, now)?.is_empty();
        Ok::<_, ApiError>(Thread {
            messages,
            before,
            running: running.collect(),
            approvals: waiting,
            consents,
        })
    };
    visitor.api.db.read(visitor.binding.tenant, read).await
}
