//! `GET /account/link/{token}`: what a one-time link is for. Looking uses nothing up.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use munshi_identity::SecretToken;
use munshi_identity::links::{self, InvitationScope, LinkPurpose, OneTimeLink};
use munshi_identity::operators::{self, OPERATORS, OperatorAuthority};
use munshi_identity::passwords::SHORTEST;
use munshi_lang::PlaceholderValue;
use munshi_server::access::Access;
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::error::ApiError;
use munshi_server::html_page::{PageNotice, render_uncached};
use munshi_server::local_path;
use munshi_server::page_error::HtmlPageError;
use munshi_server::page_phrases::PagePhrases;
use munshi_store::{PlatformTx, tenants};

use crate::app::App;

/// What is shown of a link.
pub(crate) struct LinkDetails {
    pub(crate) link: OneTimeLink,
    /// The tenant it invites to, by name.
    pub(super) place: Option<String>,
    /// Whether its e-mail has an account.
    pub(super) has_account: bool,
    /// Whether whoever keeps the installation has made it, at the machine, with their account or with a key of theirs.
    pub(super) by_keeper: bool,
}

#[derive(Template)]
#[template(path = "account/link.html")]
struct LinkPage {
    words: PagePhrases,
    path: String,
    view: View,
    told: Option<PageNotice>,
    email: String,
    name: String,
    /// What an invitation is to.
    about: String,
    shortest: usize,
    service: Option<String>,
    service_link: String,
    sign_in_link: String,
}

#[derive(PartialEq, Eq)]
enum View {
    /// It is not good, or not any more.
    Gone,
    First,
    /// Somebody without an account.
    Invited,
    /// Somebody who has one and is signed in with it; what the form carries.
    Accept(String),
    /// Somebody who has one.
    SignIn,
    Recovery,
}

pub(crate) async fn show_link(
    State(app): State<App>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HtmlPageError> {
    render_page(app.access()?, &headers, &token, ("", ""), None).await
}

/// The link of a token, if it is good now: also by what its maker may do at this moment.
pub(crate) fn find_valid_link(
    tx: &mut PlatformTx<'_>,
    token: &SecretToken,
    access: &Access,
) -> Result<Option<LinkDetails>, ApiError> {
    let Some(link) = links::find(tx, token)? else { return Ok(None) };
    if !link.is_open(access.clock.now()) || (link.purpose == LinkPurpose::First && operators::has_any(tx)?) {
        return Ok(None);
    }
    let Some(maker) = OperatorAuthority::find_of_link(tx, &link, access.clock.now())? else {
        return Ok(None);
    };
    if !maker.can_make_link(tx, &link.purpose)? {
        return Ok(None);
    }
    let by_keeper = maker.is_keeper();
    let (mut place, mut has_account) = (None, false);
    if let LinkPurpose::Invitation { email, place: to } = &link.purpose {
        has_account = operators::find_by_email(tx, email)?.is_some();
        if let InvitationScope::Workspace { tenant, .. } = to {
            place = tenants::find(tx, *tenant)?.map(|tenant| tenant.name.to_string());
        }
    }
    Ok(Some(LinkDetails { link, place, has_account, by_keeper }))
}

/// The page, with what was written before and why it was not taken.
pub(super) async fn render_page(
    access: &Access,
    headers: &HeaderMap,
    text: &str,
    (email, name): (&str, &str),
    told: Option<PageNotice>,
) -> Result<Response, HtmlPageError> {
    let opened = match SecretToken::parse(text) {
        None => None,
        Some(token) => {
            let inside = access.clone();
            let read = move |tx: &mut PlatformTx<'_>| find_valid_link(tx, &token, &inside);
            access.db.platform(OPERATORS).read(read).await?
        }
    };
    let status = match (&opened, &told) {
        (None, _) => StatusCode::GONE,
        (Some(_), Some(_)) => StatusCode::UNPROCESSABLE_ENTITY,
        (Some(_), None) => StatusCode::OK,
    };
    let path = format!("/account/link/{text}");
    let mut page = LinkPage {
        words: PagePhrases::from_headers(headers),
        view: View::Gone,
        told,
        email: email.to_owned(),
        name: name.to_owned(),
        about: String::new(),
        shortest: SHORTEST,
        service: access.account.oidc.as_ref().map(|service| service.name().to_owned()),
        service_link: format!("/account/oidc/start?next={}", local_path::percent_encode(&path)),
        sign_in_link: format!("/account/sign-in?next={}", local_path::percent_encode(&path)),
        path,
    };
    if let Some(opened) = opened {
        page.fill(opened, SignedInOperator::find(access, headers).await?.as_ref());
    }
    Ok(render_uncached(&page, status))
}

impl LinkPage {
    fn fill(&mut self, opened: LinkDetails, who: Option<&SignedInOperator>) {
        self.view = match opened.link.purpose {
            LinkPurpose::First => View::First,
            LinkPurpose::Recovery { .. } => View::Recovery,
            LinkPurpose::Invitation { email, place } => {
                self.about = match place {
                    InvitationScope::Everywhere => {
                        self.words.render_with("invited-everywhere", "email", &email)
                    }
                    InvitationScope::Workspace { role, .. } => {
                        let (role, name) = (self.words.role_name(&role), opened.place.unwrap_or_default());
                        let fills = [("place", name.as_str()), ("role", &role), ("email", &email)];
                        self.words.render_filled(
                            "invited-about",
                            &fills.map(|(slot, text)| (slot, PlaceholderValue::Text(text))),
                        )
                    }
                };
                let own = who.filter(|who| who.operator.email == email);
                self.email = email;
                match (own, opened.has_account) {
                    (Some(who), _) => View::Accept(who.form_token()),
                    (None, true) => View::SignIn,
                    (None, false) => View::Invited,
                }
            }
        };
    }

    fn form_token(&self) -> &str {
        match &self.view {
            View::Accept(token) => token,
            _ => "",
        }
    }

    fn is_view(&self, view: &str) -> bool {
        let word = match self.view {
            View::Gone => "gone",
            View::First => "first",
            View::Invited => "invited",
            View::Accept(_) => "accept",
            View::SignIn => "sign-in",
            View::Recovery => "recovery",
        };
        word == view
    }
}
