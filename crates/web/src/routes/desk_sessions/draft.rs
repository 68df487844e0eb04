//! `POST /account/desk/{id}/draft`: the agent proposes what could be said next. Whoever asked is shown it, and nobody else.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use munshi_operations::execute;
use munshi_operations::holds::DraftReply;
use munshi_operations::sessions::SessionInput;
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::page_error::HtmlPageError;

use super::desk_call::{is_of_script, open_desk, parse_session};
use super::show::render_desk_session;
use crate::app::App;

pub(crate) async fn draft_in_desk_session(
    State(app): State<App>,
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, headers, .. } = posted;
    let api = app.api()?;
    let call = open_desk(api, &who).await?;
    let input = SessionInput { id: parse_session(&id)? };
    let draft = execute::<DraftReply>(&call, input).await.map_err(ApiError::from)?;
    match is_of_script(&headers) {
        true => Ok(Json(draft).into_response()),
        false => render_desk_session((&call, api.address_terms()), &who, input, draft.text).await,
    }
}
