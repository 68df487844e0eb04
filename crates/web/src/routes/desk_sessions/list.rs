//! `GET /account/desk`: who waits for a person, and the latest conversations.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use munshi_conversations::human_requests::HumanRequestState;
use munshi_operations::human_requests::{LineEntry, LinePart, LineRequest, open_line};
use munshi_operations::sessions::{ListSessions, ListSessionsInput, SessionView};
use munshi_operations::{HouseCall, execute};
use munshi_server::account::frame::AccountFrame;
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::error::ApiError;
use munshi_server::html_page::render_uncached;
use munshi_server::page_error::HtmlPageError;
use munshi_store::ListCursor;
use munshi_types::PersonId;
use serde::Deserialize;

use super::desk_call::{load_names, open_desk, session_path};
use crate::app::App;

/// So many of each are shown.
const MOST: u32 = 50;

/// A further page of one part of the line.
#[derive(Clone, Copy, Default, Deserialize)]
pub(crate) struct DeskLineQuery {
    state: Option<HumanRequestState>,
    after: Option<ListCursor>,
}

#[derive(Template)]
#[template(path = "account/desk.html")]
struct DeskPage {
    frame: AccountFrame,
    line: Vec<LineSection>,
    latest: Vec<DeskRow>,
    /// When it was read, for the script.
    after: String,
}

/// Those of one state.
struct LineSection {
    title: String,
    rows: Vec<DeskRow>,
    /// Where the rest of them is; empty where there is none.
    next: String,
}

struct DeskRow {
    path: String,
    session: String,
    messages: i64,
    held_by: String,
    /// How it stands in the line, as the stream tells it; empty where it is in none.
    place: String,
    /// As the stream tells it, too; empty where nobody waits.
    waiting_since: String,
    unread: i64,
    name: String,
    /// Since when, and who talks to them.
    line: String,
    reason: String,
}

pub(crate) async fn list_desk_sessions(
    State(app): State<App>,
    asked: Result<Query<DeskLineQuery>, QueryRejection>,
    who: SignedInOperator,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let call = open_desk(api, &who).await?;
    // What can't be read asks for nothing.
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    // A cursor is of one list.
    let after = asked.state.and(asked.after);
    let line = open_line(&call, LineRequest { state: asked.state, after, most: MOST }).await;
    let line = line.map_err(ApiError::from)?;
    let latest = match asked.state {
        Some(_) => Vec::new(),
        None => list_latest(&call).await?,
    };
    let entries = line.iter().flat_map(|part| &part.items);
    let people = entries.flat_map(|entry| [Some(entry.session.person), entry.request.claimed_by]);
    let people = people.chain(latest.iter().flat_map(|session| [Some(session.person), session.held_by]));
    let names = load_names(&call, people.flatten().collect()).await?;
    let frame = AccountFrame::load(&who, "desk", None).await?;
    let line = line.iter().map(|part| LineSection::build(part, &names, &frame));
    // That nobody waits is said; that nobody is to be called back is not.
    let is_shown = |part: &LineSection| !part.rows.is_empty() || !part.next.is_empty();
    let line = line.enumerate().filter(|(place, part)| *place == 0 || is_shown(part));
    let line = line.map(|(_, part)| part).collect();
    let latest = latest.iter().map(|session| describe_session(session, &names, &frame)).collect();
    Ok(render_uncached(&DeskPage { frame, line, latest, after: call.now.to_string() }, StatusCode::OK))
}

async fn list_latest(call: &HouseCall) -> Result<Vec<SessionView>, ApiError> {
    let input =
        ListSessionsInput { binding: None, person: None, after: None, limit: Some(MOST), order: None };
    Ok(execute::<ListSessions>(call, input).await?.items)
}

fn name_of(names: &BTreeMap<PersonId, String>, person: Option<PersonId>) -> String {
    person.and_then(|person| names.get(&person)).cloned().unwrap_or_default()
}

/// Who it is, and how much of theirs was not read.
fn name_with_unread(session: &SessionView, names: &BTreeMap<PersonId, String>) -> String {
    let name = name_of(names, Some(session.person));
    match session.unread {
        None | Some(0) => name,
        Some(unread) => format!("{name} ({unread})"),
    }
}

/// Since when they wait; nothing where they do not.
fn describe_wait(session: &SessionView, frame: &AccountFrame) -> String {
    let wait = |since| frame.words.render_with("desk-waiting", "since", &frame.format_time(since));
    session.waiting_since.map(wait).unwrap_or_default()
}

impl LineSection {
    fn build(part: &LinePart, names: &BTreeMap<PersonId, String>, frame: &AccountFrame) -> Self {
        let title = match part.state {
            HumanRequestState::Callback => "desk-callbacks",
            HumanRequestState::Held => "desk-in-hand",
            _ => "desk-line",
        };
        let path = |next: ListCursor| format!("/account/desk?state={}&after={next}", part.state.as_str());
        Self {
            title: frame.words.render(title),
            rows: part.items.iter().map(|entry| describe_entry(entry, names, frame)).collect(),
            next: part.next.map(path).unwrap_or_default(),
        }
    }
}

fn describe_entry(
    LineEntry { request, session }: &LineEntry,
    names: &BTreeMap<PersonId, String>,
    frame: &AccountFrame,
) -> DeskRow {
    let since = frame.words.render_with("desk-since", "since", &frame.format_time(request.asked_at));
    let stands = match (request.state.as_str(), request.claimed_by) {
        ("callback", _) => frame.words.render("desk-callback"),
        (_, Some(_)) => frame.words.render_with("desk-held-by", "name", &name_of(names, request.claimed_by)),
        _ => String::new(),
    };
    let line = [since, stands, request.callback_to.clone().unwrap_or_default()];
    DeskRow {
        path: session_path(session.id),
        session: session.id.to_string(),
        messages: session.messages,
        held_by: session.held_by.map(|by| by.to_string()).unwrap_or_default(),
        place: request.state.clone(),
        waiting_since: session.waiting_since.map(|since| since.to_string()).unwrap_or_default(),
        unread: session.unread.unwrap_or_default(),
        name: name_with_unread(session, names),
        line: line.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "),
        reason: [Some(request.reason.clone()), request.note.clone()]
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn describe_session(
    session: &SessionView,
    names: &BTreeMap<PersonId, String>,
    frame: &AccountFrame,
) -> DeskRow {
    let last = frame.format_time(session.last_at);
    let held = session
        .held_by
        .map(|by| frame.words.render_with("desk-held-by", "name", &name_of(names, Some(by))))
        .unwrap_or_default();
    let line = [last, session.channel.as_str().to_owned(), held, describe_wait(session, frame)];
    DeskRow {
        path: session_path(session.id),
        session: session.id.to_string(),
        messages: session.messages,
        held_by: session.held_by.map(|by| by.to_string()).unwrap_or_default(),
        place: String::new(),
        waiting_since: session.waiting_since.map(|since| since.to_string()).unwrap_or_default(),
        unread: session.unread.unwrap_or_default(),
        name: name_with_unread(session, names),
        line: line.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "),
        reason: String::new(),
    }
}
