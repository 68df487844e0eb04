//! `POST /account/keys/{id}/revoke`

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::ApiError;
use munshi_server::html_page::PageNotice;
use munshi_server::page_error::HtmlPageError;
use munshi_store::Tx;

use super::add::{build_audit_context, load_managed_key};
use super::list::render_page;
use crate::routes::keys::add::record_key_event;

pub(crate) async fn revoke_account_key(
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let who = posted.who;
    let workspace = who.load_managed_workspace().await?;
    let (access, telling, inside) = (who.access.clone(), build_audit_context(&who), workspace.clone());
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let key = load_managed_key(tx, &inside, &id)?;
        let revoked = access.keys.revoke(tx, key.id, telling.now)?;
        for one in revoked.iter().filter(|one| one.changed).map(|one| &one.key) {
            record_key_event(tx, &telling, "api_key.revoked", one)?;
        }
        for child in revoked.iter().flat_map(|one| &one.made_with_it) {
            record_key_event(tx, &telling, "api_key.revoked", child)?;
        }
        Ok(key.name)
    };
    let name = who.access.db.write(workspace.tenant.id, unit).await?;
    let told = PageNotice::success(who.words.render_with("key-revoked", "name", &name));
    render_page(&who, &workspace, None, told, StatusCode::OK).await
}
