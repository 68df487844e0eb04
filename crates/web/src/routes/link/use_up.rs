//! `POST /account/link/{token}`: the first operator, somebody invited, or another password. Once.

use axum::extract::Path;
use axum::response::Response;
use munshi_identity::SecretToken;
use munshi_identity::links::{self, InvitationScope, LinkPurpose};
use munshi_identity::operators::{self, AddOperatorOutcome, NewOperator, OPERATORS, Operator, roles};
use munshi_identity::passwords::{Password, PasswordHash};
use munshi_identity::pauses::SignInAttempt;
use munshi_identity::sign_ins::{self, SignInMethod};
use munshi_store::PlatformTx;
use serde::Deserialize;
use serde_json::json;

use super::show::{open, page};
use crate::account::come_in::{BrowserSignInContext, SignInCookies};
use crate::account::fault::HtmlPageError;
use crate::account::form::PublicForm;
use crate::account::signed_in::address;
use crate::account::telling::AccountAuditContext;
use crate::account::words::PagePhrases;
use crate::api::Api;
use crate::error::{ApiError, ApiErrorCode};

#[derive(Clone, Deserialize)]
pub(crate) struct RedeemLinkForm {
    #[serde(default)]
    email: String,
    #[serde(default)]
    name: String,
    password: String,
}

pub(crate) async fn use_link(
    Path(text): Path<String>,
    posted: PublicForm<RedeemLinkForm>,
) -> Result<Response, HtmlPageError> {
    let PublicForm { api, headers, extensions, form } = posted;
    let arrival =
        BrowserSignInContext::of(&api, &headers, address(&api, &extensions, &headers), SignInMethod::Link);
    match answer(&api, &text, form.clone(), arrival).await {
        Ok(came) => Ok(came.go_on("/account")),
        Err(fault) if fault.is_about_input() => {
            let told = fault.told(PagePhrases::of(&headers));
            page(&api, &headers, &text, (&form.email, &form.name), told).await
        }
        Err(fault) => Err(fault),
    }
}

fn gone() -> ApiError {
    ApiError::new(ApiErrorCode::Conflict, "This link was used, or its time is over.").phrase("link-used")
}

async fn answer(
    api: &Api,
    text: &str,
    form: RedeemLinkForm,
    arrival: BrowserSignInContext,
) -> Result<SignInCookies, HtmlPageError> {
    let token = SecretToken::parse(text).ok_or_else(gone)?;
    let password = Password::new(&form.password);
    let (email, name) = known(api, &token, &form).await?;
    password.fit_for(&email, &name)?;
    let hash = api.account.passwords.hash(password).await?;
    let inside = api.clone();
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let mut opened = open(tx, &token, &inside)?.ok_or_else(gone)?;
        if let LinkPurpose::Recovery { operator } = opened.link.purpose {
            // A role given elsewhere at this moment takes the maker's right to make the link.
            operators::hold(tx, operator)?;
            opened = open(tx, &token, &inside)?.ok_or_else(gone)?;
        }
        if !links::use_up(tx, opened.link.id, inside.clock.now())? {
            return Err(gone());
        }
        let operator = match opened.link.purpose {
            LinkPurpose::First => first(tx, &inside, (&form.email, &form.name), hash)?,
            LinkPurpose::Invitation { email, place } => {
                invited(tx, &inside, (&email, &form.name), place, hash)?
            }
            LinkPurpose::Recovery { operator } => {
                recovered(tx, &inside, operator, &hash)?;
                // Whoever made the link may be the one who uses it: unless they keep the installation, the account's
                // e-mail is to be proved anew.
                if !opened.by_keeper {
                    operators::unprove(tx, operator)?;
                }
                operators::find(tx, operator)?.ok_or_else(gone)?
            }
        };
        let came = arrival.begin(tx, &inside, &operator)?;
        tell_used(tx, &inside, &operator, opened.link.id)?;
        Ok(came)
    };
    Ok(api.db.platform(OPERATORS).write(unit).await?)
}

/// Whose password it will be, before the link is used: so that an unfit one uses nothing up.
async fn known(api: &Api, token: &SecretToken, form: &RedeemLinkForm) -> Result<(String, String), ApiError> {
    let (inside, token, form) = (api.clone(), token.clone(), form.clone());
    let read = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let opened = open(tx, &token, &inside)?.ok_or_else(gone)?;
        Ok(match opened.link.purpose {
            LinkPurpose::First => (form.email, form.name),
            LinkPurpose::Invitation { email, .. } => (email, form.name),
            LinkPurpose::Recovery { operator } => {
                let operator = operators::find(tx, operator)?.ok_or_else(gone)?;
                (operator.email, operator.name)
            }
        })
    };
    api.db.platform(OPERATORS).read(read).await
}

fn first(
    tx: &mut PlatformTx<'_>,
    api: &Api,
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
    made(tx, api, &new)
}

fn made(tx: &mut PlatformTx<'_>, api: &Api, new: &NewOperator) -> Result<Operator, ApiError> {
    match operators::add(tx, &api.ids, new, api.clock.now())? {
        AddOperatorOutcome::Made(operator) => Ok(operator),
        AddOperatorOutcome::Taken => {
            Err(ApiError::new(ApiErrorCode::Conflict, "This e-mail has an account: sign in with it.")
                .phrase("has-account"))
        }
    }
}

/// Somebody new. Whoever has an account shows so by signing in: a link alone never opens it.
pub(crate) fn join(
    tx: &mut PlatformTx<'_>,
    api: &Api,
    new: &NewOperator,
    place: InvitationScope,
) -> Result<Operator, ApiError> {
    let new = match place {
        // Only whoever has the machine invites to everything; that is their word for the e-mail.
        InvitationScope::Everywhere => NewOperator { keeper: true, proved: true, ..new.clone() },
        InvitationScope::Workspace { tenant, .. } => {
            NewOperator { keeper: false, home: Some(tenant), ..new.clone() }
        }
    };
    let operator = made(tx, api, &new)?;
    accept(tx, api, &operator, place)?;
    Ok(operator)
}

/// Gives somebody who has an account what they were invited to; never less than they had.
pub(crate) fn accept(
    tx: &mut PlatformTx<'_>,
    api: &Api,
    operator: &Operator,
    place: InvitationScope,
) -> Result<(), ApiError> {
    if let InvitationScope::Workspace { tenant, role } = place {
        let before = roles::given(tx, operator.id, tenant)?;
        if before.is_none_or(|before| role < before) {
            roles::give(tx, operator.id, tenant, role, api.clock.now())?;
        }
    }
    Ok(())
}

fn invited(
    tx: &mut PlatformTx<'_>,
    api: &Api,
    (email, name): (&str, &str),
    place: InvitationScope,
    hash: PasswordHash,
) -> Result<Operator, ApiError> {
    let new = NewOperator {
        email: email.to_owned(),
        name: name.to_owned(),
        password: Some(hash),
        elsewhere: None,
        keeper: false,
        first: false,
        proved: false,
        home: None,
    };
    join(tx, api, &new, place)
}

fn recovered(
    tx: &mut PlatformTx<'_>,
    api: &Api,
    operator: munshi_types::OperatorId,
    hash: &PasswordHash,
) -> Result<(), ApiError> {
    let operator = operators::find(tx, operator)?.ok_or_else(gone)?;
    operators::set_password(tx, operator.id, hash)?;
    sign_ins::end_all(tx, operator.id)?;
    SignInAttempt::of(&operator.email, None).right(tx, api.clock.now())?;
    Ok(())
}

pub(crate) fn tell_used(
    tx: &mut PlatformTx<'_>,
    api: &Api,
    operator: &Operator,
    link: munshi_types::LinkId,
) -> Result<(), ApiError> {
    let telling = AccountAuditContext::of(api, operator.id);
    let given = roles::roles_of(tx, operator.id)?;
    let tenants: Vec<_> = given.iter().map(|(tenant, _)| *tenant).collect();
    let payload = json!({ "operator": operator.id, "keeper": operator.keeper });
    telling.tell(tx, &tenants, "link.used", link.to_string(), payload)
}
