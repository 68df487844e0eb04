//! The line as the desk shows it: who waits first, whoever came after whom, and below them who is to be called back and who is talked to.

use munshi_conversations::human_requests::{self, HumanRequest, HumanRequestState};
use munshi_conversations::session_waits;
use munshi_conversations::sessions::{self, Session};
use munshi_pack::operation::{ListInput, Operation, OperationCaller, OperationError};
use munshi_store::{ListCursor, SortOrder, Tx};
use munshi_types::SessionId;
use serde_json::json;

use super::{HumanRequestView, ListHumanRequests};
use crate::sessions::SessionView;
use crate::{HouseCall, HouseServices};

/// The states of the line, in the order in which somebody is needed.
const STATES: [HumanRequestState; 3] =
    [HumanRequestState::Waiting, HumanRequestState::Callback, HumanRequestState::Held];

/// Which part of the line is wanted.
#[derive(Clone, Copy, Debug)]
pub struct LineRequest {
    /// Of this state alone; of each where none is named.
    pub state: Option<HumanRequestState>,
    /// The `next` of the page before.
    pub after: Option<ListCursor>,
    /// So many of each state.
    pub most: u32,
}

/// Those of one state, who came first.
#[derive(Clone, Debug)]
pub struct LinePart {
    pub state: HumanRequestState,
    pub items: Vec<LineEntry>,
    pub next: Option<ListCursor>,
}

/// Somebody's place in the line, and their conversation.
#[derive(Clone, Debug)]
pub struct LineEntry {
    pub request: HumanRequestView,
    pub session: SessionView,
}

/// Reads the line, one look of the audit for all of it.
pub async fn open_line(call: &HouseCall, wanted: LineRequest) -> Result<Vec<LinePart>, OperationError> {
    call.caller.authorize(<ListHumanRequests as Operation<HouseServices>>::SPEC.needs)?;
    let caller = call.caller.clone();
    let read = call.read_audited(move |tx| {
        let states = STATES.into_iter().filter(|state| wanted.state.is_none_or(|only| only == *state));
        let mut parts = Vec::new();
        for state in states {
            parts.push(read_part(tx, &caller, state, wanted)?);
        }
        let opened: Vec<_> = parts.iter().flat_map(|part| &part.items).map(|one| one.session.id).collect();
        tx.note("line.opened", "line", json!({ "sessions": opened }));
        Ok(parts)
    });
    read.await
}

fn read_part(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    state: HumanRequestState,
    wanted: LineRequest,
) -> Result<LinePart, OperationError> {
    let order = Some(SortOrder::Ascending);
    let request = ListInput { after: wanted.after, limit: Some(wanted.most), order }.page_request()?;
    let page = human_requests::list_in_state(tx, state, &request)?;
    let next = page.next_cursor();
    let mut found: Vec<(HumanRequest, Session)> = Vec::with_capacity(page.items.len());
    for one in page.items {
        let session = sessions::find_current(tx, one.session)?;
        let Some(session) = session.filter(|session| caller.reaches(session.binding)) else { continue };
        found.push((one, session));
    }
    let ids: Vec<SessionId> = found.iter().map(|(_, session)| session.id).collect();
    let attention = session_waits::load_attention(tx, caller.person(), &ids)?;
    let entry = |(request, session): (HumanRequest, Session)| {
        let attention = attention.get(&session.id).copied().unwrap_or_default();
        LineEntry { request: request.into(), session: SessionView::new(session, attention) }
    };
    let items = found.into_iter().map(entry).collect();
    Ok(LinePart { state, items, next })
}
