//! `POST /account/desk/{id}/take`: somebody takes a conversation over.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_operations::execute;
use munshi_operations::holds::TakeSession;
use munshi_operations::sessions::SessionInput;
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::ApiError;
use munshi_server::page_error::HtmlPageError;

use super::desk_call::{open_desk, parse_session, session_path};
use crate::app::App;

pub(crate) async fn take_desk_session(
    State(app): State<App>,
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let call = open_desk(app.api()?, &posted.who).await?;
    let input = SessionInput { id: parse_session(&id)? };
    let session = execute::<TakeSession>(&call, input).await.map_err(ApiError::from)?.session;
    Ok(Redirect::to(&session_path(session)).into_response())
}
