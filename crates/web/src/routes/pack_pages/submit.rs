//! `POST /pages/{tenant}/{pack}/{path}`: a form of a pack's page, carried out once.

use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::authorize;
use munshi_pack::{PackForm, PackFormKeys, PackFormOutcome, PackPageContent, PackPageRequest};
use munshi_safety::audit::{AuditActor, AuditActorKind, AuditStamp, administer};
use munshi_safety::policy;
use munshi_safety::requests::{RequestClaim, RequestStanding};
use munshi_server::account::form::SignedInForm;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::local_path;
use munshi_server::page_error::HtmlPageError;
use munshi_store::AdminTx;
use serde_json::json;

use super::show::{ClosedPage, find_principal, find_tenant, render_content};
use crate::app::App;

/// Our own fields, which the pack does not see.
const TOKEN: &str = "form";
const ONCE: &str = "once";

type Fields = Vec<(String, String)>;

/// Why nothing was changed.
enum SubmitStop {
    /// The page once more.
    Invalid(Box<PackPageContent>),
    Closed,
    Fault(Box<ApiError>),
}

impl<E: Into<ApiError>> From<E> for SubmitStop {
    fn from(error: E) -> Self {
        Self::Fault(Box::new(error.into()))
    }
}

pub(crate) async fn submit_first_page(
    state: State<App>,
    Path((tenant, pack)): Path<(String, String)>,
    uri: Uri,
    posted: SignedInForm<Fields>,
) -> Result<Response, HtmlPageError> {
    submit_pack_page(state, Path((tenant, pack, String::new())), uri, posted).await
}

pub(crate) async fn submit_pack_page(
    State(app): State<App>,
    Path((tenant_name, pack, path)): Path<(String, String, String)>,
    uri: Uri,
    posted: SignedInForm<Fields>,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let SignedInForm { who, headers, form } = posted;
    let closed = || Ok(ClosedPage::respond(true, &headers, &uri));
    let Some(tenant) = find_tenant(api, &tenant_name).await? else { return closed() };
    let Some((page, rest)) = api.visitor_services.packs.find_page(&pack, &path) else { return closed() };
    let Some(scope) = page.write_scope() else { return closed() };
    let (own, fields): (Fields, Fields) =
        form.into_iter().partition(|(name, _)| name == TOKEN || name == ONCE);
    let once = own.into_iter().find(|(name, _)| name == ONCE).map(|(_, value)| value).unwrap_or_default();
    let caller = format!("operator {}", who.operator.id);
    let claim = RequestClaim::new(&caller, &once, format!("page {pack}/{path}"), &json!(fields))
        .map_err(|_| stale_form_error("This form was not loaded from this page."))?;
    let now = api.clock.now();
    let visit = PackPageRequest {
        principal: find_principal(Some(&who), &tenant).await?,
        rest: rest.to_owned(),
        query: serde_urlencoded::from_str(uri.query().unwrap_or_default()).unwrap_or_default(),
        language: None,
        now,
        zone: tenant.zone.clone(),
        form: Some(PackFormKeys::new(who.form_token(), once)),
    };
    let actor = AuditActor::new(AuditActorKind::Operator, caller);
    let stamp = AuditStamp { actor, ids: api.ids.clone(), now, claim: None };
    let (page, form, of_pack) = (page.clone(), PackForm::new(fields), pack.clone());
    let unit = move |tx: &mut AdminTx<'_, '_>| -> Result<String, SubmitStop> {
        let (_, policy) = policy::load_current(tx)?;
        let may = authorize(&visit.principal, &policy.roles, scope, true, page.reach()).is_ok();
        if !may || !policy.packs.has(&of_pack) {
            return Err(SubmitStop::Closed);
        }
        if !claim.take(tx, now)? {
            return find_earlier(claim.find(tx)?);
        }
        match page.submit(tx, &visit, &form)? {
            PackFormOutcome::Redirect(path) => {
                claim.keep_answer(tx, Some(&json!(path)), now)?;
                Ok(path)
            }
            PackFormOutcome::Invalid(shown) => Err(SubmitStop::Invalid(Box::new(shown))),
            PackFormOutcome::Gone => Err(SubmitStop::Closed),
        }
    };
    match administer(&api.db, tenant.id, stamp, unit).await {
        Ok(path) => Ok(Redirect::to(&build_location(&tenant_name, &pack, &path)).into_response()),
        Err(SubmitStop::Invalid(shown)) => {
            let mut response = render_content(*shown);
            *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(response)
        }
        Err(SubmitStop::Closed) => closed(),
        Err(SubmitStop::Fault(error)) => Err((*error).into()),
    }
}

/// Where the same form led when it was carried out.
fn find_earlier(standing: RequestStanding) -> Result<String, SubmitStop> {
    match standing {
        RequestStanding::Answered(Some(path)) if path.is_string() => {
            Ok(path.as_str().unwrap_or_default().to_owned())
        }
        _ => Err(stale_form_error("This form was sent before, with something else in it.").into()),
    }
}

fn stale_form_error(words: &'static str) -> ApiError {
    ApiError::new(ApiErrorCode::Conflict, words).hint("Reload the page and fill it in again.")
}

/// A path below the pack and its query, whatever stands in them.
fn build_location(tenant: &str, pack: &str, target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parts = ["pages", tenant, pack]
        .into_iter()
        .chain(path.split('/').filter(|part| !matches!(*part, "" | "." | "..")));
    let path: String = parts.map(|part| format!("/{}", local_path::percent_encode(part))).collect();
    let query: Fields = serde_urlencoded::from_str(query).unwrap_or_default();
    let pairs = query.iter().enumerate().map(|(at, (name, value))| {
        let (name, value) = (local_path::percent_encode(name), local_path::percent_encode(value));
        format!("{}{name}={value}", if at == 0 { '?' } else { '&' })
    });
    path + &pairs.collect::<String>()
}
