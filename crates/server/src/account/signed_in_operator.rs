//! Who has this browser.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::FutureExt;
use munshi_identity::operators::{OPERATORS, Operator, roles};
use munshi_identity::sign_ins::{self, SignIn};
use munshi_identity::{Role, SecretToken};
use munshi_store::PlatformTx;
use munshi_types::{Tenant, TenantId};

use crate::access::{Access, AccessSource, AccessState};
use crate::cookies::{self, SIGN_IN};
use crate::error::{ApiError, ApiErrorCode};
use crate::local_path;
use crate::options::Peer;
use crate::page_error::HtmlPageError;
use crate::page_phrases::PagePhrases;

/// What tokens of forms are derived for.
const FORM: &str = "form";

/// An operator in their browser.
#[derive(Clone)]
pub struct SignedInOperator {
    pub access: Access,
    pub operator: Operator,
    pub sign_in: SignIn,
    /// What pages say to them.
    pub words: PagePhrases,
    token: SecretToken,
}

/// A tenant whose pages are open, and what the operator is there.
#[derive(Clone, Debug)]
pub struct OpenWorkspace {
    pub tenant: Tenant,
    pub role: Role,
}

impl SignedInOperator {
    /// Whoever's cookie it is; none without one, or where it ended.
    pub async fn find(access: &Access, headers: &HeaderMap) -> Result<Option<Self>, ApiError> {
        let secure = access.account.is_secure(headers);
        let Some(token) = cookies::read(headers, SIGN_IN, secure).and_then(SecretToken::parse) else {
            return Ok(None);
        };
        let (asked, now) = (token.clone(), access.clock.now());
        let read = move |tx: &mut PlatformTx<'_>| sign_ins::find(tx, &asked, now);
        let Some((sign_in, operator)) = access.db.platform(OPERATORS).read(read).await? else {
            return Ok(None);
        };
        if sign_ins::should_record_seen(&sign_in, now) {
            let id = sign_in.id;
            let noted =
                access.db.platform(OPERATORS).write(move |tx| sign_ins::record_seen(tx, id, now)).await;
            // Whoever is signed in stays so when this can't be written.
            if let Err(error) = noted {
                tracing::warn!(%error, sign_in = %id, "failed to record last use of a sign-in");
            }
        }
        Ok(Some(Self {
            access: access.clone(),
            operator,
            sign_in,
            words: PagePhrases::from_headers(headers),
            token,
        }))
    }

    /// What a form of this browser carries, and no other's.
    pub fn form_token(&self) -> String {
        self.token.derive(FORM)
    }

    pub fn is_own_form(&self, token: &str) -> bool {
        self.token.verify_derived(FORM, token)
    }

    /// The tenants they look after.
    pub async fn list_workspaces(&self) -> Result<Vec<OpenWorkspace>, ApiError> {
        let operator = self.operator.clone();
        let read = move |tx: &mut PlatformTx<'_>| roles::list_workspaces(tx, &operator);
        let found = self.access.db.platform(OPERATORS).read(read).await?;
        Ok(found.into_iter().map(|one| OpenWorkspace { tenant: one.tenant, role: one.role }).collect())
    }

    /// The tenant whose pages are open: the one that was chosen, or the first. None for who looks after none.
    pub async fn find_open_workspace(&self) -> Result<Option<OpenWorkspace>, ApiError> {
        match self.sign_in.workspace {
            Some(tenant) => match self.find_workspace(tenant).await? {
                Some(found) => Ok(Some(found)),
                None => Ok(self.list_workspaces().await?.into_iter().next()),
            },
            None => Ok(self.list_workspaces().await?.into_iter().next()),
        }
    }

    /// The open tenant, for somebody who stands high enough to manage it.
    pub async fn load_managed_workspace(&self) -> Result<OpenWorkspace, HtmlPageError> {
        let lacking = || {
            HtmlPageError::from(ApiError::new(ApiErrorCode::Forbidden, "You have no role in any workspace."))
        };
        let workspace = self.find_open_workspace().await?.ok_or_else(lacking)?;
        if workspace.role <= Role::Admin {
            return Ok(workspace);
        }
        let words = format!("A {} of {} may not manage access.", workspace.role, workspace.tenant.name);
        Err(ApiError::new(ApiErrorCode::Forbidden, words)
            .hint("Ask an owner or admin of the workspace.")
            .into())
    }

    pub async fn find_workspace(&self, tenant: TenantId) -> Result<Option<OpenWorkspace>, ApiError> {
        let operator = self.operator.clone();
        let read = move |tx: &mut PlatformTx<'_>| roles::find_effective(tx, &operator, tenant);
        let found = self.access.db.platform(OPERATORS).read(read).await?;
        Ok(found.map(|(tenant, role)| OpenWorkspace { tenant, role }))
    }
}

/// Sends a browser to the sign-in, and back here after it.
pub struct SignInRedirect(String);

impl SignInRedirect {
    /// Back to a path of ours.
    pub fn new(path: String) -> Self {
        Self(path)
    }

    /// Where that is.
    pub fn to_url(&self) -> String {
        format!("/account/sign-in?next={}", local_path::percent_encode(&self.0))
    }
}

impl IntoResponse for SignInRedirect {
    fn into_response(self) -> Response {
        Redirect::to(&self.to_url()).into_response()
    }
}

/// Why there is nobody.
pub enum SignInRejection {
    First(SignInRedirect),
    Fault(HtmlPageError),
}

impl IntoResponse for SignInRejection {
    fn into_response(self) -> Response {
        match self {
            Self::First(first) => first.into_response(),
            Self::Fault(fault) => fault.into_response(),
        }
    }
}

impl<S: AccessSource> FromRequestParts<S> for SignedInOperator {
    type Rejection = SignInRejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, SignInRejection> {
        // Boxed, so that its code is not part of every handler's.
        Self::extract(parts, state.access()).boxed().await
    }
}

impl SignedInOperator {
    /// Whoever is signed in; sends everybody else to the sign-in.
    pub(super) async fn extract(
        parts: &Parts,
        access: Result<&Access, ApiError>,
    ) -> Result<Self, SignInRejection> {
        let fault = |error: ApiError| SignInRejection::Fault(error.into());
        let found = Self::find(access.map_err(fault)?, &parts.headers).await.map_err(fault)?;
        let path = parts.uri.path_and_query().map_or("/account", |path| path.as_str());
        // A form can't be sent again after the sign-in: its page is shown instead.
        let back = if parts.method.is_safe() { path } else { "/account" };
        found.ok_or_else(|| SignInRejection::First(SignInRedirect(back.to_owned())))
    }
}

/// The address a request comes from, as a proxy that the settings name tells it; for the list of somebody's browsers. Wrong
/// passwords are counted by [`AccessState::throttle_address`].
pub fn client_address(
    access: &AccessState,
    extensions: &axum::http::Extensions,
    headers: &HeaderMap,
) -> Option<std::net::IpAddr> {
    access.client_address(extensions.get::<Peer>(), headers)
}
