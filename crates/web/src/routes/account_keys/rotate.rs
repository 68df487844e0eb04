//! `POST /account/keys/{id}/rotate`: another secret; the one before opens for a day longer.

use std::time::Duration;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::keys::{self, KeyMaker};
use munshi_identity::links;
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use munshi_store::Tx;

use super::add::{build_audit_context, load_managed_key};
use super::list::{CreatedKeyNotice, render_page};
use crate::routes::keys::add::record_key_event;

/// Time to change the programs that use it.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) async fn rotate_account_key(
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let who = posted.who;
    let workspace = who.load_managed_workspace().await?;
    let maker = KeyMaker::from_name(links::render_maker(who.operator.id));
    let (access, telling, inside) = (who.access.clone(), build_audit_context(&who), workspace.clone());
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let key = load_managed_key(tx, &inside, &id)?;
        let rotated = access.keys.rotate(tx, access.random.as_ref(), key.id, GRACE, telling.now)?;
        let ended = || ApiError::new(ApiErrorCode::Conflict, "This key was revoked or has expired.");
        let made = rotated.ok_or_else(ended)?;
        keys::transfer_maker(tx, made.key.id, &maker)?;
        record_key_event(tx, &telling, "api_key.rotated", &made.key)?;
        Ok(made)
    };
    let made = who.access.db.write(workspace.tenant.id, unit).await?;
    let made = CreatedKeyNotice { name: made.key.name, text: made.text.reveal().to_owned() };
    render_page(&who, &workspace, Some(made), None, StatusCode::OK).await
}
