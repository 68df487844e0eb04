//! What sign-in and hosts have proved of somebody at a page.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::HeaderMap;
use munshi_identity::hosts::{HostError, HostTokenVerifier, HostVisitor};
use munshi_identity::operators::{OPERATORS, Operator, roles};
use munshi_identity::{ContactAddress, Person, SecretToken, persons, sign_ins};
use munshi_store::{Db, PlatformTx, Tx};
use munshi_types::{Clock, IdGenerator, PersonId, TenantId};

use crate::access::authenticator::{VisitorAuthenticator, VisitorSeat};
use crate::access::is_secure;
use crate::account::origin::{self, RequestOrigin};
use crate::cookies::{self, SIGN_IN};
use crate::error::{ApiError, ApiErrorCode};

/// Asks the store who is signed in, and hosts' keys whom a host vouches for.
pub struct SignInAuthenticator {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
    pub hosts: HostTokenVerifier,
    /// The same that [`SignInServices`](crate::access::SignInServices) has.
    pub public_url: Option<String>,
}

#[async_trait]
impl VisitorAuthenticator for SignInAuthenticator {
    async fn authenticate_host_token(
        &self,
        tenant: TenantId,
        binding: &str,
        token: &str,
    ) -> Result<PersonId, ApiError> {
        let now = self.clock.now();
        let visitor = self.hosts.verify(tenant, binding, token, now).await.map_err(convert_error)?;
        let ids = self.ids.clone();
        let unit = move |tx: &mut Tx<'_>| -> Result<PersonId, ApiError> {
            let addresses = addresses(&visitor);
            let name = visitor.name.clone().unwrap_or_default();
            let met = persons::find_or_add(tx, &ids, &addresses, &name, now)?;
            if met.person.role.is_some() || met.person.left_at.is_some() {
                return Err(ApiError::new(
                    ApiErrorCode::Forbidden,
                    "The host's token identifies a member of staff, or somebody who has left.",
                )
                .hint("Staff sign in themselves; omit their phone and e-mail from the token."));
            }
            if let (true, Some(language)) = (met.is_new, visitor.language) {
                persons::upsert(tx, &Person { language: Some(language), ..met.person.clone() })?;
            }
            Ok(met.person.id)
        };
        self.db.write(tenant, unit).await
    }

    async fn find_signed_in(
        &self,
        tenant: TenantId,
        headers: &HeaderMap,
        _: VisitorSeat,
    ) -> Result<Option<PersonId>, ApiError> {
        let Some(operator) = self.find_operator(headers).await? else { return Ok(None) };
        let asked = operator.clone();
        let read = move |tx: &mut PlatformTx<'_>| roles::find_effective(tx, &asked, tenant);
        let Some((_, role)) = self.db.platform(OPERATORS).read(read).await? else { return Ok(None) };
        let (ids, now) = (self.ids.clone(), self.clock.now());
        let unit = move |tx: &mut Tx<'_>| persons::find_or_add_operator(tx, &ids, &operator, role, now);
        Ok(Some(self.db.write(tenant, unit).await?.id))
    }

    async fn is_keeper(&self, headers: &HeaderMap, _: VisitorSeat) -> Result<bool, ApiError> {
        Ok(self.find_operator(headers).await?.is_some_and(|operator| operator.keeper))
    }
}

impl SignInAuthenticator {
    /// Who is signed in, where our own page asks.
    async fn find_operator(&self, headers: &HeaderMap) -> Result<Option<Operator>, ApiError> {
        let url = self.public_url.as_deref();
        let cookie = cookies::read(headers, SIGN_IN, is_secure(url, headers)).and_then(SecretToken::parse);
        let Some(token) = cookie.filter(|_| origin::classify(headers, url) != RequestOrigin::Others) else {
            return Ok(None);
        };
        let now = self.clock.now();
        let read = move |tx: &mut PlatformTx<'_>| sign_ins::find(tx, &token, now);
        Ok(self.db.platform(OPERATORS).read(read).await?.map(|(_, operator)| operator))
    }
}

/// The host's own id comes first: by it they are known again.
fn addresses(visitor: &HostVisitor) -> Vec<ContactAddress> {
    [visitor.address(), visitor.phone.clone(), visitor.email.clone()].into_iter().flatten().collect()
}

fn convert_error(error: HostError) -> ApiError {
    match error {
        HostError::Distrust(why) => {
            let words = format!("The host's token is invalid: {why}.");
            ApiError::new(ApiErrorCode::Unauthenticated, words)
                .hint("See docs/sign-in.md for the token's claims, or omit the token to chat as a visitor.")
        }
        error @ HostError::Unavailable(_) => {
            ApiError::new(ApiErrorCode::Unavailable, "The host's signing key is temporarily unavailable.")
                .caused_by(error)
        }
        HostError::Store(error) => error.into(),
    }
}
