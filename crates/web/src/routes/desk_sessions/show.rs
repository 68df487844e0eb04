//! `GET /account/desk/{id}`: one conversation, with what its agent was told and what it waits for.

use std::collections::{BTreeMap, HashMap};

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use munshi_agent::entities::SessionEntities;
use munshi_live::MessageCursor;
use munshi_operations::approvals::{ApprovalView, list_pending_in};
use munshi_operations::handoffs::{HandoffView, ListHandoffs, ListHandoffsInput};
use munshi_operations::holds::{HeldDraftView, ShowHeldDraft};
use munshi_operations::messages::{ListMessages, ListMessagesInput, MessageView};
use munshi_operations::sessions::{SessionInput, SessionView, ShowSession};
use munshi_operations::whispers::{ListWhispers, ListWhispersInput, WhisperView};
use munshi_operations::{HouseCall, execute};
use munshi_server::account::frame::AccountFrame;
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::error::ApiError;
use munshi_server::html_page::render_uncached;
use munshi_server::page_error::HtmlPageError;
use munshi_types::{PersonId, RunId};

use super::desk_call::{
    load_colleagues, load_names, open_desk, parse_session, record_desk_read, session_path,
};
use super::desk_form::make_form_key;
use super::desk_thread::{DeskThread, ThreadAct, ThreadItem, list_delivery_phrases, load_acts, load_files};
use crate::app::App;
use crate::live::find_newest;
use crate::views::file::AddressTerms;

/// So many messages are shown, the newest last.
const MOST: u32 = 100;
/// Among so many handings on, the newest, stands why they asked for a person.
const MOST_HANDOFFS: u32 = 5;
/// So many things that were spoken of are named.
const MOST_ENTITIES: usize = 12;

#[derive(Template)]
#[template(path = "account/desk_session.html")]
struct DeskSessionPage {
    frame: AccountFrame,
    path: String,
    session: String,
    name: String,
    /// Who answers.
    stands: String,
    is_held: bool,
    is_own: bool,
    /// Whether the reader may take it over: in their own they are the customer.
    is_theirs: bool,
    /// Why they asked for a person; empty where they did not.
    reason: String,
    summary: String,
    /// What was spoken of.
    entities: String,
    items: Vec<ThreadItem>,
    /// What somebody is asked here.
    questions: Vec<Question>,
    /// What the agent proposes to say; empty where nobody asked it and the team wants none.
    draft: String,
    /// What is sent by a form of this page is sent under it.
    key: String,
    /// For the script: who reads, the cursor of the newest message, what is asked, who has it, what people are called.
    own: String,
    after: MessageCursor,
    approvals: String,
    held_by: String,
    /// Behind which message the agent proposes something to the reader.
    proposed: String,
    /// How much no turn was told yet.
    whispers: usize,
    people: String,
    types: String,
    /// How far a message has come.
    deliveries: String,
}

struct Question {
    id: String,
    words: String,
    digest: String,
}

/// What the page is made of.
struct Loaded {
    session: SessionView,
    messages: Vec<MessageView>,
    /// Behind the newest of them.
    cursor: MessageCursor,
    whispers: Vec<WhisperView>,
    approvals: Vec<ApprovalView>,
    acts: HashMap<RunId, Vec<ThreadAct>>,
    handoffs: Vec<HandoffView>,
    /// What is proposed to the reader, who has it in hand.
    proposed: Option<HeldDraftView>,
    names: BTreeMap<PersonId, String>,
    form_key: String,
}

pub(crate) async fn show_desk_session(
    State(app): State<App>,
    Path(id): Path<String>,
    who: SignedInOperator,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let call = open_desk(api, &who).await?;
    let input = SessionInput { id: parse_session(&id)? };
    render_desk_session((&call, api.address_terms()), &who, input, String::new()).await
}

/// The page, with what the agent proposes to say.
pub(super) async fn render_desk_session(
    (call, terms): (&HouseCall, AddressTerms),
    who: &SignedInOperator,
    input: SessionInput,
    draft: String,
) -> Result<Response, HtmlPageError> {
    let mut loaded = load(call, input).await?;
    if let Some(newest) = loaded.messages.last() {
        record_desk_read(call, loaded.session.id, newest.id).await?;
    }
    let frame = AccountFrame::load(who, "desk", None).await?;
    let thread = DeskThread {
        messages: &loaded.messages,
        whispers: &loaded.whispers,
        names: &loaded.names,
        acts: std::mem::take(&mut loaded.acts),
        files: load_files(call, &loaded.messages, terms).await?,
    };
    let items = thread.list_items(&frame);
    let page = DeskSessionPage::build(&loaded, frame, (items, draft), call.caller.person());
    Ok(render_uncached(&page, StatusCode::OK))
}

impl DeskSessionPage {
    fn build(
        loaded: &Loaded,
        frame: AccountFrame,
        (items, asked): (Vec<ThreadItem>, String),
        own: Option<PersonId>,
    ) -> Self {
        let session = &loaded.session;
        let proposed = loaded.proposed.as_ref();
        let draft = match asked.is_empty() {
            true => proposed.and_then(|proposed| proposed.text.clone()).unwrap_or_default(),
            false => asked,
        };
        let name_of = |person: PersonId| loaded.names.get(&person).cloned().unwrap_or_default();
        let is_own = own.is_some() && session.held_by == own;
        let stands = match session.held_by {
            Some(_) if is_own => frame.words.render("desk-yours"),
            Some(by) => frame.words.render_with("desk-held-by", "name", &name_of(by)),
            None => frame.words.render("desk-agent"),
        };
        let mut approvals: Vec<String> = loaded.approvals.iter().map(|one| one.id.to_string()).collect();
        approvals.sort();
        let people: BTreeMap<String, &String> =
            loaded.names.iter().map(|(id, name)| (id.to_string(), name)).collect();
        Self {
            path: session_path(session.id),
            session: session.id.to_string(),
            name: name_of(session.person),
            stands,
            is_held: session.held_by.is_some(),
            is_own,
            is_theirs: own == Some(session.person),
            reason: find_reason(&loaded.handoffs),
            summary: session.summary.clone().unwrap_or_default(),
            entities: list_entities(session),
            items,
            questions: loaded.approvals.iter().map(Question::from).collect(),
            draft,
            key: loaded.form_key.clone(),
            own: own.map(|own| own.to_string()).unwrap_or_default(),
            after: loaded.cursor,
            approvals: approvals.join(" "),
            held_by: session.held_by.map(|by| by.to_string()).unwrap_or_default(),
            proposed: proposed
                .and_then(|proposed| proposed.after)
                .map(|after| after.to_string())
                .unwrap_or_default(),
            whispers: loaded.whispers.iter().filter(|whisper| whisper.used_by.is_none()).count(),
            // Texts always become JSON.
            people: serde_json::to_string(&people).unwrap_or_default(),
            deliveries: serde_json::to_string(&list_delivery_phrases(&frame)).unwrap_or_default(),
            types: frame.words.render_with("desk-typing", "name", "{name}"),
            frame,
        }
    }
}

impl From<&ApprovalView> for Question {
    fn from(asked: &ApprovalView) -> Self {
        Self { id: asked.id.to_string(), words: asked.words.clone(), digest: asked.digest.clone() }
    }
}

/// Why they asked for a person, as the agent that handed them on wrote it down.
fn find_reason(handoffs: &[HandoffView]) -> String {
    let asked = handoffs.iter().find(|handoff| handoff.destination == "person");
    asked.map(|handoff| handoff.reason.clone()).unwrap_or_default()
}

fn list_entities(session: &SessionView) -> String {
    let entities = SessionEntities::from_stored(&session.entities);
    let named =
        entities.known().take(MOST_ENTITIES).map(|entity| format!("{} ({})", entity.name, entity.kind));
    named.collect::<Vec<_>>().join(", ")
}

async fn load(call: &HouseCall, input: SessionInput) -> Result<Loaded, ApiError> {
    let session = execute::<ShowSession>(call, input).await?;
    // An old id leads to what the session became part of.
    let id = session.id;
    // Before the messages: numbers that they get meanwhile are not of this numbering, and the stream says so.
    let start = find_newest(&call.db, call.tenant.id, id).await?;
    let wanted = ListMessagesInput { id, after: None, limit: Some(MOST), order: None };
    let mut messages = execute::<ListMessages>(call, wanted).await?.items;
    messages.reverse();
    let newest = messages.last().map_or(0, |last| last.number);
    let cursor = start.map_or(MessageCursor::at_number(newest), |start| start.with_number(newest));
    let whispers = match call.caller.person() == Some(session.person) {
        // There they are the customer.
        true => Vec::new(),
        false => {
            let wanted = ListWhispersInput { id, after: None, limit: Some(MOST), order: None };
            let mut whispers = execute::<ListWhispers>(call, wanted).await?.items;
            whispers.reverse();
            whispers
        }
    };
    let approvals = list_pending_in(call, id).await?;
    let wanted = ListHandoffsInput { id, after: None, limit: Some(MOST_HANDOFFS), order: None };
    let handoffs = execute::<ListHandoffs>(call, wanted).await?.items;
    let acts = load_acts(call, &messages).await?;
    let is_own = call.caller.person().is_some() && session.held_by == call.caller.person();
    let proposed = match is_own {
        true => Some(execute::<ShowHeldDraft>(call, SessionInput { id }).await?),
        false => None,
    };
    let people = [Some(session.person), session.held_by].into_iter().flatten();
    let people = people.chain(messages.iter().filter_map(|message| message.colleague));
    let people = people.chain(whispers.iter().map(|whisper| whisper.author)).collect();
    let mut names = load_colleagues(call).await?;
    names.extend(load_names(call, people).await?);
    let form_key = make_form_key(call);
    Ok(Loaded { session, messages, cursor, whispers, approvals, acts, handoffs, proposed, names, form_key })
}
