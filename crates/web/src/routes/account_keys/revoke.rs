//! `POST /account/keys/{id}/revoke`

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_store::Tx;

use super::add::{reached, telling};
use super::list::page;
use crate::account::fault::HtmlPageError;
use crate::account::form::{EmptyForm, SignedInForm};
use crate::account::frame::PageNotice;
use crate::error::ApiError;
use crate::routes::keys::add::tell;

pub(crate) async fn revoke_account_key(
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let who = posted.who;
    let workspace = who.managed().await?;
    let (api, telling, inside) = (who.api.clone(), telling(&who), workspace.clone());
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let key = reached(tx, &inside, &id)?;
        let revoked = api.keys.revoke(tx, key.id, telling.now)?;
        for one in revoked.iter().filter(|one| one.changed).map(|one| &one.key) {
            tell(tx, &telling, "api_key.revoked", one)?;
        }
        for child in revoked.iter().flat_map(|one| &one.made_with_it) {
            tell(tx, &telling, "api_key.revoked", child)?;
        }
        Ok(key.name)
    };
    let name = who.api.db.write(workspace.tenant.id, unit).await?;
    let told = PageNotice::done(who.words.with("key-revoked", "name", &name));
    page(&who, &workspace, None, told, StatusCode::OK).await
}
