//! `POST /account/link/{token}`: the first operator, somebody invited, or another password. Once.

use axum::extract::Path;
use axum::response::Response;
use munshi_identity::SecretToken;
use munshi_identity::links::{self, InvitationScope, LinkPurpose};
use munshi_identity::login_backoff::SignInAttempt;
use munshi_identity::operators::{self, AddOperatorOutcome, NewOperator, OPERATORS, Operator, roles};
use munshi_identity::passwords::{Password, PasswordHash};
use munshi_identity::sign_ins::{self, SignInMethod};
use munshi_server::access::Access;
use munshi_server::account::audit_context::{AccountAuditContext, list_affected_tenants};
use munshi_server::account::browser_sign_in::{BrowserSignInContext, SignInCookies};
use munshi_server::account::form::PublicForm;
use munshi_server::account::signed_in_operator::client_address;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use munshi_server::page_phrases::PagePhrases;
use munshi_store::PlatformTx;
use munshi_types::{KeyId, OperatorId};
use serde::Deserialize;
use serde_json::json;

use super::show::{find_valid_link, render_page};

#[derive(Clone, Deserialize)]
pub(crate) struct RedeemLinkForm {
    #[serde(default)]
    email: String,
    #[serde(default)]
    name: String,
    password: String,
}

pub(crate) async fn redeem_link(
    Path(text): Path<String>,
    posted: PublicForm<RedeemLinkForm>,
) -> Result<Response, HtmlPageError> {
    let PublicForm { access, headers, extensions, form } = posted;
    let arrival = BrowserSignInContext::new(
        &access,
        &headers,
        client_address(&access, &extensions, &headers),
        SignInMethod::Link,
    );
    match redeem(&access, &text, form.clone(), arrival).await {
        Ok(came) => Ok(came.redirect_to("/account")),
        Err(fault) if fault.is_input_error() => {
            let told = fault.to_notice(PagePhrases::from_headers(&headers));
            render_page(&access, &headers, &text, (&form.email, &form.name), told).await
        }
        Err(fault) => Err(fault),
    }
}

fn link_gone_error() -> ApiError {
    ApiError::new(ApiErrorCode::Conflict, "This link was used or has expired.").phrase("link-used")
}

async fn redeem(
    access: &Access,
    text: &str,
    form: RedeemLinkForm,
    arrival: BrowserSignInContext,
) -> Result<SignInCookies, HtmlPageError> {
    let token = SecretToken::parse(text).ok_or_else(link_gone_error)?;
    let password = Password::new(&form.password);
    let (email, name) = load_identity(access, &token, &form).await?;
    password.validate_for(&email, &name)?;
    let hash = access.account.passwords.hash(password).await?;
    let inside = access.clone();
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let mut opened = find_valid_link(tx, &token, &inside)?.ok_or_else(link_gone_error)?;
        if let LinkPurpose::Recovery { operator } = opened.link.purpose {
            // A role given elsewhere at this moment takes the maker's right to make the link.
            operators::lock(tx, operator)?;
            opened = find_valid_link(tx, &token, &inside)?.ok_or_else(link_gone_error)?;
        }
        if !links::redeem(tx, opened.link.id, inside.clock.now())? {
            return Err(link_gone_error());
        }
        let is_proof = opened.link.proves_email();
        let mut ended = Vec::new();
        let operator = match opened.link.purpose {
            LinkPurpose::First => add_first_operator(tx, &inside, (&form.email, &form.name), hash)?,
            LinkPurpose::Invitation { email, place } => {
                add_invited_with_password(tx, &inside, (&email, &form.name), place, (hash, is_proof))?
            }
            LinkPurpose::Recovery { operator } => {
                if is_proof {
                    ended = prove_by_mail(tx, &inside, operator)?;
                } else if !opened.by_keeper {
                    // Whoever made the link may be the one who uses it: unless they keep the installation, the account's
                    // e-mail is to be proved anew.
                    operators::mark_unverified(tx, operator)?;
                }
                reset_password(tx, &inside, operator, &hash)?;
                operators::find(tx, operator)?.ok_or_else(link_gone_error)?
            }
        };
        let came = arrival.sign_in(tx, &inside, &operator)?;
        record_link_used(tx, &inside, &operator, opened.link.id)?;
        Ok((came, ended))
    };
    let (came, ended) = access.db.platform(OPERATORS).write(unit).await?;
    access.keys.invalidate(&ended);
    Ok(came)
}

/// The link was in the account's own mailbox and nowhere else: from the first time on, nobody who came in before is in it. Gives the keys
/// that end.
fn prove_by_mail(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    operator: OperatorId,
) -> Result<Vec<KeyId>, ApiError> {
    let Some(keys) = operators::mark_verified_revoking(tx, operator, access.clock.now())? else {
        return Ok(Vec::new());
    };
    let operator = operators::find(tx, operator)?.ok_or_else(link_gone_error)?;
    let telling = AccountAuditContext::for_operator(access, operator.id);
    let tenants = list_affected_tenants(tx, &operator)?;
    telling.record(tx, &tenants, "operator.proved", operator.id.to_string(), json!({ "how": "mail" }))?;
    telling.record_unproved_keys(tx, &keys)?;
    Ok(keys.iter().map(|(_, key)| key.id).collect())
}

/// Whose password it will be, before the link is used: so that an unfit one uses nothing up.
async fn load_identity(
    access: &Access,
    token: &SecretToken,
    form: &RedeemLinkForm,
) -> Result<(String, String), ApiError> {
    let (inside, token, form) = (access.clone(), token.clone(), form.clone());
    let read = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let opened = find_valid_link(tx, &token, &inside)?.ok_or_else(link_gone_error)?;
        Ok(match opened.link.purpose {
            LinkPurpose::First => (form.email, form.name),
            LinkPurpose::Invitation { email, .. } => (email, form.name),
            LinkPurpose::Recovery { operator } => {
                let operator = operators::find(tx, operator)?.ok_or_else(link_gone_error)?;
                (operator.email, operator.name)
            }
        })
    };
    access.db.platform(OPERATORS).read(read).await
}

fn add_first_operator(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    (email, name): (&str, &str),
    hash: PasswordHash,
) -> Result<Operator, ApiError> {
    let new = NewOperator {
        email: email.to_owned(),
        name: name.to_owned(),
        password: Some(hash),
        elsewhere: None,
        keeper: true,
        first: true,
        // The link was shown to whoever has the machine, who could prove any account.
        proved: true,
        home: None,
    };
    add_operator(tx, access, &new)
}

fn add_operator(tx: &mut PlatformTx<'_>, access: &Access, new: &NewOperator) -> Result<Operator, ApiError> {
    match operators::add(tx, &access.ids, new, access.clock.now())? {
        AddOperatorOutcome::Made(operator) => Ok(operator),
        AddOperatorOutcome::Taken => {
            Err(ApiError::new(ApiErrorCode::Conflict, "This e-mail has an account: sign in.")
                .phrase("has-account"))
        }
    }
}

/// Somebody new. Whoever has an account shows so by signing in: a link alone never opens it.
pub(crate) fn add_invited_operator(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    new: &NewOperator,
    place: InvitationScope,
) -> Result<Operator, ApiError> {
    let new = match place {
        // Only whoever keeps the installation invites to everything; that is their word for the e-mail.
        InvitationScope::Everywhere => NewOperator { keeper: true, proved: true, ..new.clone() },
        InvitationScope::Workspace { tenant, .. } => {
            NewOperator { keeper: false, home: Some(tenant), ..new.clone() }
        }
    };
    let operator = add_operator(tx, access, &new)?;
    apply_invitation(tx, access, &operator, place)?;
    Ok(operator)
}

/// Gives somebody who has an account what they were invited to; never less than they had.
pub(crate) fn apply_invitation(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    operator: &Operator,
    place: InvitationScope,
) -> Result<(), ApiError> {
    if let InvitationScope::Workspace { tenant, role } = place {
        let before = roles::find_granted(tx, operator.id, tenant)?;
        if before.is_none_or(|before| role < before) {
            roles::grant_invited(tx, operator.id, tenant, role, access.clock.now())?;
        }
    }
    Ok(())
}

fn add_invited_with_password(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    (email, name): (&str, &str),
    place: InvitationScope,
    (hash, proved): (PasswordHash, bool),
) -> Result<Operator, ApiError> {
    let new = NewOperator {
        email: email.to_owned(),
        name: name.to_owned(),
        password: Some(hash),
        elsewhere: None,
        keeper: false,
        first: false,
        proved,
        home: None,
    };
    add_invited_operator(tx, access, &new, place)
}

fn reset_password(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    operator: OperatorId,
    hash: &PasswordHash,
) -> Result<(), ApiError> {
    let operator = operators::find(tx, operator)?.ok_or_else(link_gone_error)?;
    operators::set_password(tx, operator.id, hash)?;
    sign_ins::end_all(tx, operator.id)?;
    SignInAttempt::new(&operator.email, None).record_success(tx, access.clock.now())?;
    Ok(())
}

pub(crate) fn record_link_used(
    tx: &mut PlatformTx<'_>,
    access: &Access,
    operator: &Operator,
    link: munshi_types::LinkId,
) -> Result<(), ApiError> {
    let telling = AccountAuditContext::for_operator(access, operator.id);
    let given = roles::list(tx, operator.id)?;
    let tenants: Vec<_> = given.iter().map(|(tenant, _)| *tenant).collect();
    let payload = json!({ "operator": operator.id, "keeper": operator.keeper });
    telling.record(tx, &tenants, "link.used", link.to_string(), payload)
}
