//! `POST /account/desk/{id}/whisper`: the agent is told something that the visitor does not see.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_operations::whispers::{WhisperInSession, WhisperInSessionInput};
use munshi_server::account::form::SignedInForm;
use munshi_server::page_error::HtmlPageError;

use super::desk_call::{is_of_script, open_desk, parse_session, session_path};
use super::desk_form::{DeskWordsForm, execute_form};
use crate::app::App;

pub(crate) async fn whisper_in_desk_session(
    State(app): State<App>,
    Path(id): Path<String>,
    posted: SignedInForm<DeskWordsForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, headers, form } = posted;
    let mut call = open_desk(app.api()?, &who).await?;
    let id = parse_session(&id)?;
    let input = || WhisperInSessionInput { id, text: form.text() };
    execute_form::<WhisperInSession>(&mut call, &form, input).await?;
    Ok(match is_of_script(&headers) {
        true => StatusCode::NO_CONTENT.into_response(),
        false => Redirect::to(&session_path(id)).into_response(),
    })
}
