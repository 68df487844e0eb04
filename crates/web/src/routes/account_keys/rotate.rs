//! `POST /account/keys/{id}/rotate`: another secret; the one before opens for a day longer.

use std::time::Duration;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::keys::{self, KeyMaker};
use munshi_identity::links;
use munshi_store::Tx;

use super::add::{reached, telling};
use super::list::{CreatedKeyNotice, page};
use crate::account::fault::HtmlPageError;
use crate::account::form::{EmptyForm, SignedInForm};
use crate::error::{ApiError, ApiErrorCode};
use crate::routes::keys::add::tell;

/// Time to change the programs that use it.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) async fn rotate_account_key(
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let who = posted.who;
    let workspace = who.managed().await?;
    let maker = KeyMaker::named(links::by_operator(who.operator.id));
    let (api, telling, inside) = (who.api.clone(), telling(&who), workspace.clone());
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let key = reached(tx, &inside, &id)?;
        let rotated = api.keys.rotate(tx, api.random.as_ref(), key.id, GRACE, telling.now)?;
        let ended = || ApiError::new(ApiErrorCode::Conflict, "This key was revoked, or has ended.");
        let made = rotated.ok_or_else(ended)?;
        keys::hand_over(tx, made.key.id, &maker)?;
        tell(tx, &telling, "api_key.rotated", &made.key)?;
        Ok(made)
    };
    let made = who.api.db.write(workspace.tenant.id, unit).await?;
    let made = CreatedKeyNotice { name: made.key.name, text: made.text.reveal().to_owned() };
    page(&who, &workspace, Some(made), None, StatusCode::OK).await
}
