//! Who opens a link to a connector's service: somebody who may let us in there, as they are known in this browser. The
//! link itself proves nothing: it may have been passed on, or stand in a conversation that others read.

use axum::http::{Extensions, HeaderMap};
use munshi_connectors::login::ConnectorLoginUser;
use munshi_identity::operators::OPERATORS;
use munshi_identity::{Person, Role, SecretToken, persons};
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::cookies::{self, OPENED};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::options::Peer;
use munshi_server::visitor::installation_access::is_keeper;
use munshi_server::visitor::token::VisitorToken;
use munshi_store::{PlatformTx, Tx, tenants};
use munshi_types::{PersonId, TenantId};

use crate::app::App;
use crate::app::api::ApiState;
use crate::visitor::page_visitor::{self, PageVisitorIdentity};

const FORM: &str = "connector.login.form";

/// Somebody who may let us into a tenant's connectors.
pub(crate) struct ConnectorAuthorizer {
    pub(crate) who: ConnectorLoginUser,
    browser: Browser,
}

/// What this browser is known by: its forms carry what follows from it.
enum Browser {
    SignedIn(Box<SignedInOperator>),
    Visitor(VisitorToken),
    /// Of whoever has said in their own conversation what it shows.
    Proved(SecretToken),
    /// Of the machine itself; its forms are known by where they come from.
    Here,
}

/// What is asked: by whom, of which tenant, and whom a link was sent to.
pub(crate) struct ConnectorLinkRequest<'a> {
    pub(crate) headers: &'a HeaderMap,
    pub(crate) extensions: &'a Extensions,
    pub(crate) tenant: TenantId,
    pub(crate) to: Option<PersonId>,
}

/// Why nobody opens it.
pub(crate) enum ConnectorLinkRefusal {
    /// Nobody is known here: they may sign in.
    Unknown,
    /// Whoever is signed in may not.
    NotTheirs,
}

impl ConnectorAuthorizer {
    /// An owner or admin of the tenant who is signed in; the very person whom the link was sent to, where they talk with
    /// us in this browser or have shown in their conversation that it is theirs, and are an owner or admin now; or whoever
    /// sits at the machine while nobody has an account.
    pub(crate) async fn find(
        app: &App,
        asked: &ConnectorLinkRequest<'_>,
    ) -> Result<Result<Self, ConnectorLinkRefusal>, ApiError> {
        let api = app.api()?;
        let signed_in = SignedInOperator::find(api, asked.headers).await?;
        if let Some(who) = &signed_in {
            let role = who.find_workspace(asked.tenant).await?.map(|workspace| workspace.role);
            if role.is_some_and(|role| role <= Role::Admin) {
                let browser = Browser::SignedIn(Box::new(who.clone()));
                return Ok(Ok(Self { who: ConnectorLoginUser::Operator(who.operator.id), browser }));
            }
        }
        if let Some(found) = find_person(app, asked).await? {
            return Ok(Ok(found));
        }
        if signed_in.is_some() {
            return Ok(Err(ConnectorLinkRefusal::NotTheirs));
        }
        match is_keeper(api, asked.extensions.get::<Peer>(), asked.headers).await? {
            true => Ok(Ok(Self { who: ConnectorLoginUser::Here, browser: Browser::Here })),
            false => Ok(Err(ConnectorLinkRefusal::Unknown)),
        }
    }

    /// What a form of this browser carries for this link, and no other's.
    pub(crate) fn form_token(&self, link: &SecretToken) -> String {
        match &self.browser {
            Browser::SignedIn(who) => who.form_token(),
            Browser::Visitor(token) => token.form_token(),
            Browser::Proved(token) => token.derive(FORM),
            Browser::Here => link.derive(FORM),
        }
    }
}

async fn find_person(
    app: &App,
    asked: &ConnectorLinkRequest<'_>,
) -> Result<Option<ConnectorAuthorizer>, ApiError> {
    let api = app.api()?;
    let Some(to) = asked.to else { return Ok(None) };
    if let Some(token) =
        VisitorToken::from_cookie(asked.headers, api.account.connection_security(asked.headers))
    {
        let proved = PageVisitorIdentity::Browser(token.clone());
        let find = move |tx: &mut Tx<'_>| -> Result<Option<PersonId>, ApiError> {
            let Some(person) = page_visitor::find_person(tx, &proved)? else { return Ok(None) };
            Ok(find_admin(tx, to)?.filter(|id| *id == person.id))
        };
        if let Some(id) = api.db.read(asked.tenant, find).await? {
            return Ok(Some(ConnectorAuthorizer {
                who: ConnectorLoginUser::Person(id),
                browser: Browser::Visitor(token),
            }));
        }
    }
    let (Some(token), Some(logins)) = (read_proof_cookie(api, asked.headers), &api.logins) else {
        return Ok(None);
    };
    let Some(person) = logins.find_verified_person(asked.tenant, &token).await.map_err(ApiError::internal)?
    else {
        return Ok(None);
    };
    let find = move |tx: &mut Tx<'_>| -> Result<Option<PersonId>, ApiError> {
        let person = persons::find_living(tx, person)?.map(|person| person.id);
        Ok(find_admin(tx, to)?.filter(|id| Some(*id) == person))
    };
    let found = api.db.read(asked.tenant, find).await?;
    Ok(found.map(|id| ConnectorAuthorizer {
        who: ConnectorLoginUser::Person(id),
        browser: Browser::Proved(token),
    }))
}

/// Whom a link was sent to, as long as they may let us in.
fn find_admin(tx: &mut Tx<'_>, to: PersonId) -> Result<Option<PersonId>, ApiError> {
    let may =
        |person: &Person| person.left_at.is_none() && matches!(person.role, Some(Role::Owner | Role::Admin));
    Ok(persons::find_living(tx, to)?.filter(may).map(|person| person.id))
}

/// Whether somebody can show in a conversation that a link is theirs.
pub(crate) async fn can_prove_in_chat(app: &App, asked: &ConnectorLinkRequest<'_>) -> Result<bool, ApiError> {
    let Some(to) = asked.to else { return Ok(false) };
    let found = app.api()?.db.read(asked.tenant, move |tx| find_admin(tx, to)).await?;
    Ok(found.is_some())
}

/// What a browser keeps that shows a code.
pub(crate) fn read_proof_cookie(api: &ApiState, headers: &HeaderMap) -> Option<SecretToken> {
    cookies::read(headers, OPENED, api.account.is_secure(headers)).and_then(SecretToken::parse)
}

/// What a tenant is called, for people.
pub(crate) async fn load_tenant_name(app: &App, tenant: TenantId) -> Result<String, ApiError> {
    let read = move |tx: &mut PlatformTx<'_>| tenants::find(tx, tenant);
    let found = app.api()?.db.platform(OPERATORS).read(read).await?;
    Ok(found.map(|tenant| tenant.name.to_string()).unwrap_or_default())
}

/// What somebody hears who may not.
pub(crate) fn forbidden_error() -> ApiError {
    ApiError::new(ApiErrorCode::Forbidden, "Only an owner or admin of this business can use this link.")
        .phrase("connector-not-yours")
        .hint("Sign in as one, then open the link again.")
}
