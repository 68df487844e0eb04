//! `GET /account/oidc/back`: somebody comes back from the other service.

use axum::extract::{Query, Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use munshi_identity::keys::ApiKeyRecord;
use munshi_identity::links::{self, InvitationScope, LinkPurpose};
use munshi_identity::operators::{self, NewOperator, OPERATORS, Operator};
use munshi_identity::sign_ins::SignInMethod;
use munshi_identity::{ContactAddress, SecretToken};
use munshi_server::access::{Access, AccessState};
use munshi_server::account::audit_context::{AccountAuditContext, list_affected_tenants};
use munshi_server::account::browser_sign_in::BrowserSignInContext;
use munshi_server::account::signed_in_operator::client_address;
use munshi_server::cookies::{self, ELSEWHERE};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::local_path;
use munshi_server::oidc::{OidcError, OidcIdentity};
use munshi_server::page_error::HtmlPageError;
use munshi_store::{PlatformTx, tenants};
use munshi_types::{LinkId, TenantId};
use serde::Deserialize;
use serde_json::json;

use super::start::{callback_url, get_client, to_page_error};
use crate::app::App;
use crate::routes::link::redeem::{add_invited_operator, apply_invitation, record_link_used};
use crate::routes::link::show::find_valid_link;

#[derive(Deserialize)]
pub(crate) struct OidcCallback {
    #[serde(default)]
    code: String,
    #[serde(default)]
    state: String,
    error: Option<String>,
}

pub(crate) async fn finish_oidc(
    State(app): State<App>,
    Query(brought): Query<OidcCallback>,
    request: Request,
) -> Result<Response, HtmlPageError> {
    let access = app.access()?.clone();
    let (headers, from) =
        (request.headers(), client_address(&access, request.extensions(), request.headers()));
    let (token, next) = read_state_cookie(&access, headers).ok_or_else(|| to_page_error(OidcError::State))?;
    if let Some(error) = brought.error {
        return Err(to_page_error(OidcError::Refused(error)));
    }
    let pair = (brought.code.as_str(), brought.state.as_str());
    let finished =
        get_client(&access)?.finish(&token, pair, &callback_url(&access, headers), access.clock.now()).await;
    let who = finished.map_err(to_page_error)?;
    let arrival = BrowserSignInContext::new(&access, headers, from, SignInMethod::Oidc);
    let invitation = next.strip_prefix("/account/link/").and_then(SecretToken::parse);
    let inside = access.clone();
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let (operator, by, ended) = resolve_operator(tx, &inside, &who, invitation.as_ref())?;
        let came = arrival.sign_in(tx, &inside, &operator)?;
        if let Some(keys) = &ended {
            record_proved(tx, &inside, &operator, keys)?;
        }
        match by {
            By::Account => {}
            By::Invitation(link) => record_link_used(tx, &inside, &operator, link)?,
            By::Newcomer(tenant) => {
                let payload = json!({ "how": "newcomer" });
                let telling = AccountAuditContext::for_operator(&inside, operator.id);
                telling.record(tx, &[tenant], "operator.joined", operator.id.to_string(), payload)?;
            }
        }
        let ended = ended.unwrap_or_default();
        Ok((came, ended.iter().map(|(_, key)| key.id).collect::<Vec<_>>()))
    };
    let (came, ended) = access.db.platform(OPERATORS).write(unit).await?;
    access.keys.invalidate(&ended);
    let next =
        if next.starts_with("/account/link/") { "/account" } else { local_path::sanitize(Some(&next)) };
    Ok(came.redirect_to(next))
}

fn record_proved(
    tx: &mut PlatformTx<'_>,
    access: &AccessState,
    operator: &Operator,
    ended: &[(TenantId, ApiKeyRecord)],
) -> Result<(), ApiError> {
    let (telling, tenants) =
        (AccountAuditContext::for_operator(access, operator.id), list_affected_tenants(tx, operator)?);
    telling.record(tx, &tenants, "operator.proved", operator.id.to_string(), json!({ "how": "oidc" }))?;
    telling.record_unproved_keys(tx, ended)
}

/// What the browser was sent away with.
fn read_state_cookie(access: &AccessState, headers: &HeaderMap) -> Option<(SecretToken, String)> {
    let text = cookies::read(headers, ELSEWHERE, access.account.is_secure(headers))?;
    let (token, next) = text.split_once('.')?;
    let pair = format!("next={next}");
    let read: Vec<(String, String)> = serde_urlencoded::from_str(&pair).ok()?;
    let next = read.into_iter().next().map(|(_, next)| next)?;
    Some((SecretToken::parse(token)?, local_path::sanitize(Some(&next)).to_owned()))
}

/// Keys that an account made before it was proved, each with its tenant.
type Ended = Vec<(TenantId, ApiKeyRecord)>;

/// What let somebody in besides the service's word.
enum By {
    /// They had an account.
    Account,
    Invitation(LinkId),
    /// The settings let newcomers into this tenant.
    Newcomer(TenantId),
}

/// The account of somebody another service knows: the one that is tied to them, the one with their e-mail, or a new one
/// where they were invited or newcomers are let in. Where this first proves the account's e-mail, with the keys that end.
fn resolve_operator(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    who: &OidcIdentity,
    invitation: Option<&SecretToken>,
) -> Result<(Operator, By, Option<Ended>), ApiError> {
    let tied = operators::find_by_subject(tx, &who.issuer, &who.subject)?;
    let found = match (tied, &who.email) {
        (Some(operator), _) => Some(operator),
        (None, Some(email)) => claim_by_email(tx, who, email)?,
        (None, None) => None,
    };
    let ended = match &found {
        Some(operator) => prove_email(tx, access, who, operator)?,
        None => None,
    };
    let invited = match invitation {
        Some(token) => redeem_invitation(tx, access, who, token)?,
        None => None,
    };
    match (found, invited) {
        (Some(operator), Some((link, place))) => {
            if place == InvitationScope::Everywhere {
                operators::make_keeper(tx, operator.id)?;
            }
            apply_invitation(tx, access, &operator, place)?;
            Ok((operator, By::Invitation(link), ended))
        }
        (Some(operator), None) => Ok((operator, By::Account, ended)),
        (None, Some((link, place))) => {
            Ok((add_invited_operator(tx, access, &new_operator(who), place)?, By::Invitation(link), None))
        }
        (None, None) => add_newcomer(tx, access, who).map(|(operator, by)| (operator, by, None)),
    }
}

/// The service has verified the account's own e-mail: from the first time on, nobody who came in otherwise is in it.
fn prove_email(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    who: &OidcIdentity,
    operator: &Operator,
) -> Result<Option<Ended>, ApiError> {
    match who.email.as_deref().and_then(|email| ContactAddress::email(email).ok()) {
        Some(email) if email.as_str() == operator.email => {
            Ok(operators::mark_verified_revoking(tx, operator.id, access.clock.now())?)
        }
        _ => Ok(None),
    }
}

/// An account with the e-mail that the service has verified becomes theirs, unless it is tied to somebody else there.
fn claim_by_email(
    tx: &mut PlatformTx<'_>,
    who: &OidcIdentity,
    email: &str,
) -> Result<Option<Operator>, ApiError> {
    let Some(operator) = operators::find_by_email(tx, email)? else { return Ok(None) };
    if operators::link_subject(tx, operator.id, &who.issuer, &who.subject)? {
        return Ok(Some(operator));
    }
    Err(ApiError::new(
        ApiErrorCode::Forbidden,
        "The account with this e-mail belongs to another user of the sign-in service.",
    )
    .hint("Ask whoever runs this server."))
}

fn redeem_invitation(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    who: &OidcIdentity,
    token: &SecretToken,
) -> Result<Option<(LinkId, InvitationScope)>, ApiError> {
    let Some(opened) = find_valid_link(tx, token, access)? else { return Ok(None) };
    let LinkPurpose::Invitation { email, place } = opened.link.purpose else { return Ok(None) };
    if who.email.as_deref() != Some(email.as_str()) {
        return Ok(None);
    }
    let won = links::redeem(tx, opened.link.id, access.clock.now())?;
    Ok(won.then_some((opened.link.id, place)))
}

fn add_newcomer(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    who: &OidcIdentity,
) -> Result<(Operator, By), ApiError> {
    let uninvited = || {
        ApiError::new(ApiErrorCode::Forbidden, "No account here matches your account at the sign-in service.")
            .hint("Ask an owner of the workspace to invite you.")
    };
    let service = get_client(access)?;
    let (name, role) = service.newcomers().filter(|_| who.email.is_some()).ok_or_else(uninvited)?;
    let tenant = tenants::find_by_name(tx, name)?.ok_or_else(uninvited)?;
    let operator = add_invited_operator(
        tx,
        access,
        &new_operator(who),
        InvitationScope::Workspace { tenant: tenant.id, role: *role },
    )?;
    Ok((operator, By::Newcomer(tenant.id)))
}

fn new_operator(who: &OidcIdentity) -> NewOperator {
    let email = who.email.clone().unwrap_or_default();
    let given = who.name.as_deref().map(str::trim).unwrap_or_default();
    let shown: String = given.chars().filter(|c| !munshi_types::is_invisible(*c)).take(100).collect();
    let name = if shown.trim().is_empty() { email.chars().take(100).collect() } else { shown };
    NewOperator {
        name,
        email,
        password: None,
        elsewhere: Some((who.issuer.clone(), who.subject.clone())),
        keeper: false,
        first: false,
        proved: true,
        home: None,
    }
}
