//! `GET /visit/{place}`: a place, and the visitor's own thread there.

use axum::http::HeaderMap;
use munshi_conversations::human_requests::{self, HumanRequestState};
use munshi_conversations::messages::Message;
use munshi_conversations::session_changes::{self, SessionPulse};
use munshi_conversations::sessions::Session;
use munshi_conversations::{messages, presence};
use munshi_identity::{Person, persons};
use munshi_lang::Locale;
use munshi_live::MessageCursor;
use munshi_safety::{approvals, consents};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::UrlQueryParameters;
use munshi_server::phrases;
use munshi_server::phrases::to_locale;
use munshi_server::visitor::binding_lookup;
use munshi_store::{Cursor, Page, PageRequest, Tx};
use munshi_types::{BindingId, Id, PersonId, RunId, SessionId, Timestamp};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::routes::persons::link::CODE_CHANNELS;
use crate::routes::visit_approvals::read::is_answerable;
use crate::views::visit::{
    TypingPersonView, VisitApproval, VisitLineView, VisitMessage, VisitView, find_name,
};
use crate::visitor::page_visitor::PageVisitor;

/// As many as a screen or two.
const MESSAGES: u32 = 40;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowVisitQuery {
    /// The `before` of the previous response, for earlier messages.
    #[param(value_type = Option<String>)]
    before: Option<Cursor>,
}

/// So many messages are told at once on a page's stream.
pub(crate) const LIVE_MESSAGES: u32 = 40;

/// Which messages of a thread are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ThreadPart {
    /// The newest before a cursor.
    Newest(Option<Cursor>),
    /// Those behind a message; where none is named, those behind the newest.
    Behind(Option<MessageCursor>),
}

/// A visit as it was read.
pub(crate) struct LoadedVisit {
    pub(crate) view: VisitView,
    /// The thread, and how far it was by then; none for somebody who has none.
    pub(crate) at: Option<(SessionId, SessionPulse)>,
    pub(crate) voice: Locale,
}

/// What the thread holds at this moment.
#[derive(Default)]
struct Thread {
    at: Option<(SessionId, SessionPulse)>,
    cursor: Option<String>,
    seen: i64,
    typing: Vec<TypingPersonView>,
    messages: Vec<VisitMessage>,
    before: Option<String>,
    running: Vec<RunId>,
    approvals: Vec<VisitApproval>,
    consents: bool,
    line: Option<VisitLineView>,
    is_held: bool,
    /// None for somebody without a name.
    held_by: Option<String>,
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
    let fallback = phrases::choose_locale(&visitor.binding, &headers);
    Ok(Json(load_visit(&visitor, fallback, ThreadPart::Newest(which.before)).await?.view))
}

/// A place and the visitor's own thread there; `fallback` is the voice where the thread has no language yet.
pub(crate) async fn load_visit(
    visitor: &PageVisitor,
    fallback: Locale,
    part: ThreadPart,
) -> Result<LoadedVisit, ApiError> {
    let person = visitor.find_person().await?;
    let is_member = person.as_ref().is_some_and(|person| person.role.is_some());
    let open = is_member || !binding_lookup::is_members_only(&visitor.binding);
    let found = visitor.find_thread().await?;
    let language = found.as_ref().and_then(|(_, session)| session.language.as_ref()).and_then(to_locale);
    let voice = language.unwrap_or(fallback);
    let link_with = match &found {
        Some((person, session))
            if !visitor.proved.is_vouched() && person.visitor && person.role.is_none() =>
        {
            list_link_kinds(visitor, session.binding).await
        }
        _ => Vec::new(),
    };
    let thread = match found {
        Some((person, session)) => load_thread(visitor, (person, session), voice, part).await?,
        None => Thread::default(),
    };
    let name = binding_lookup::display_name(&visitor.binding, open);
    // Who has no name speaks for the place.
    let held_by = thread.is_held.then(|| thread.held_by.unwrap_or_else(|| name.to_owned()));
    let view = VisitView {
        session: thread.at.map(|(session, _)| session),
        place: binding_lookup::public_name(&visitor.binding),
        name: name.to_owned(),
        voice: voice.code(),
        open,
        largest_file: visitor.api.files.limits().file_bytes,
        link: !link_with.is_empty(),
        link_with,
        consents: thread.consents,
        messages: thread.messages,
        before: thread.before,
        cursor: thread.cursor,
        seen: thread.seen,
        typing: thread.typing,
        running: thread.running,
        approvals: thread.approvals,
        shows_typing: thread.is_held,
        held_by,
        line: thread.line,
    };
    Ok(LoadedVisit { view, at: thread.at, voice })
}

/// By what a visitor can become known here: what a code reaches.
async fn list_link_kinds(visitor: &PageVisitor, binding: BindingId) -> Vec<&'static str> {
    let channels = CODE_CHANNELS.map(|(_, channel)| channel);
    let served = visitor.api.senders.list_served(visitor.binding.tenant, binding, &channels).await;
    let kinds = CODE_CHANNELS.iter().filter(|(_, channel)| served.contains(channel));
    kinds.map(|(kind, _)| kind.as_str()).collect()
}

async fn load_thread(
    visitor: &PageVisitor,
    (person, session): (Person, Session),
    voice: Locale,
    part: ThreadPart,
) -> Result<Thread, ApiError> {
    let (act_services, tools) =
        (visitor.api.act_services.clone(), visitor.api.visitor_services.tools.clone());
    let (terms, proved, now) = (visitor.api.address_terms(), visitor.proved.clone(), visitor.api.clock.now());
    let read = move |tx: &mut Tx<'_>| {
        let Some(pulse) = session_changes::find_pulse(tx, session.id)? else { return Ok(Thread::default()) };
        let (said, before) = list_messages(tx, session.id, part, pulse)?;
        let open = session_changes::list_open_runs(tx, session.id)?;
        let running = open.into_iter().rev().filter(|run| !run.is_waiting).map(|run| run.id);
        let mut waiting = Vec::new();
        for approval in approvals::list_pending(tx, session.id.as_uuid())? {
            let yours = is_answerable(tx, &act_services, &approval, (&person, &proved))?;
            waiting.push(VisitApproval::new(&approval, yours, (&tools, voice)));
        }
        let build = |message| VisitMessage::build(tx, message, terms);
        let messages = said.into_iter().map(build).collect::<Result<Vec<_>, _>>()?;
        let newest = messages.last().map_or(pulse.messages, |last| last.number);
        let consents = !consents::list_open(tx, person.id, now)?.is_empty();
        let held_by = match session.hold {
            Some(hold) => find_name(tx, hold.by)?,
            None => None,
        };
        Ok::<_, ApiError>(Thread {
            at: Some((session.id, pulse)),
            cursor: Some(MessageCursor::new(pulse.renumbered, newest).to_string()),
            seen: presence::find_read(tx, session.id, person.id)?,
            typing: list_typing(tx, session.id, person.id, now)?,
            messages,
            before,
            running: running.collect(),
            approvals: waiting,
            consents,
            line: find_line(tx, session.id, now)?,
            is_held: session.hold.is_some(),
            held_by,
        })
    };
    visitor.api.db.read(visitor.binding.tenant, read).await
}

/// Where the visitor stands in the line for a person.
fn find_line(tx: &mut Tx<'_>, session: SessionId, now: Timestamp) -> Result<Option<VisitLineView>, ApiError> {
    let open = human_requests::find_open(tx, session)?;
    let Some(request) = open.filter(|request| request.state == HumanRequestState::Waiting) else {
        return Ok(None);
    };
    let place = human_requests::count_before(tx, &request)? + 1;
    let wait = human_requests::estimate_wait(tx, now)?;
    let minutes = wait.map(|wait| wait.as_secs().div_ceil(60).max(1));
    Ok(Some(VisitLineView { place, minutes }))
}

/// The messages, the oldest first, and the cursor of earlier ones.
fn list_messages(
    tx: &mut Tx<'_>,
    session: SessionId,
    part: ThreadPart,
    pulse: SessionPulse,
) -> Result<(Vec<Message>, Option<String>), ApiError> {
    match part {
        ThreadPart::Newest(before) => {
            let page = messages::list(tx, session, &PageRequest::new(before, MESSAGES))?;
            let Page { mut items, next, .. } = page;
            items.reverse();
            Ok((items, next.map(|next| next.to_string())))
        }
        ThreadPart::Behind(cursor) => {
            let number = cursor.map_or(pulse.messages, MessageCursor::number);
            Ok((session_changes::list_messages_after(tx, session, number, LIVE_MESSAGES)?, None))
        }
    }
}

/// Who else types in the thread.
fn list_typing(
    tx: &mut Tx<'_>,
    session: SessionId,
    visitor: PersonId,
    now: Timestamp,
) -> Result<Vec<TypingPersonView>, ApiError> {
    let mut typing = Vec::new();
    for (person, until) in presence::list_typing(tx, session, now)? {
        let found = persons::find_living(tx, person)?.filter(|found| found.id != visitor);
        typing.extend(found.map(|found| TypingPersonView { name: found.name, until }));
    }
    Ok(typing)
}
