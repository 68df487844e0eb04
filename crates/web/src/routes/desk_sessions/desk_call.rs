//! Who works at the desk: somebody of the open workspace who may write in its conversations.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use munshi_conversations::presence;
use munshi_identity::{Role, persons};
use munshi_operations::HouseCall;
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use munshi_store::Tx;
use munshi_types::{MessageId, PersonId, SessionId};

use crate::app::api::Api;
use crate::operations::build_colleague_call;

/// A call as the person whom they are in the open workspace.
pub(in crate::routes) async fn open_desk(
    api: &Api,
    who: &SignedInOperator,
) -> Result<HouseCall, HtmlPageError> {
    let forbidden = |words: &'static str| ApiError::new(ApiErrorCode::Forbidden, words);
    let workspace =
        who.find_open_workspace().await?.ok_or_else(|| forbidden("You have no role in any workspace."))?;
    if workspace.role > Role::Staff {
        return Err(forbidden("A viewer joins no conversation.").into());
    }
    Ok(build_colleague_call(api, who, &workspace).await?)
}

/// The session of a path.
pub(in crate::routes) fn parse_session(id: &str) -> Result<SessionId, ApiError> {
    id.parse().map_err(|_| ApiError::new(ApiErrorCode::NotFound, "No such session."))
}

/// Whether the page's script sent a form, which shows what came of it by itself.
pub(super) fn is_of_script(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).is_some_and(|accept| accept == "application/json")
}

pub(in crate::routes) fn session_path(id: SessionId) -> String {
    format!("/account/desk/{id}")
}

/// Notes that the reader has seen the conversation up to a message.
pub(super) async fn record_desk_read(
    call: &HouseCall,
    session: SessionId,
    newest: MessageId,
) -> Result<(), ApiError> {
    let Some(reader) = call.caller.person() else { return Ok(()) };
    let (tenant, now, upto) = (call.tenant.id, call.now, (reader, newest));
    if !call.db.read(tenant, move |tx| presence::has_read(tx, session, upto)).await? {
        call.db.write(tenant, move |tx| presence::record_read(tx, session, upto, now)).await?;
    }
    Ok(())
}

/// What people are called; an id where somebody has no name.
pub(super) async fn load_names(
    call: &HouseCall,
    people: Vec<PersonId>,
) -> Result<BTreeMap<PersonId, String>, ApiError> {
    let read = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let mut names = BTreeMap::new();
        for person in people {
            let name = persons::find(tx, person)?.map(|found| found.name);
            let name = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| person.to_string());
            names.insert(person, name);
        }
        Ok(names)
    };
    call.db.read(call.tenant.id, read).await
}

/// What those are called who may join a conversation, now or while it is looked at.
pub(super) async fn load_colleagues(call: &HouseCall) -> Result<BTreeMap<PersonId, String>, ApiError> {
    let members = call.db.read(call.tenant.id, persons::list_members).await?;
    let named = members.into_iter().filter(|member| !member.name.trim().is_empty());
    Ok(named.map(|member| (member.id, member.name)).collect())
}
