//! What sign-in and hosts have proved of somebody at a page.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::HeaderMap;
use munshi_identity::hosts::{HostError, HostTokenVerifier, HostVisitor};
use munshi_identity::operators::{OPERATORS, Operator, roles};
use munshi_identity::{ContactAddress, Person, SecretToken, persons, sign_ins};
use munshi_store::{Db, PlatformTx, Tx};
use munshi_types::{Clock, IdGenerator, PersonId, TenantId};

use super::cookies::{self, SIGN_IN};
use super::is_secure;
use super::origin::{self, RequestOrigin};
use crate::error::{ApiError, ApiErrorCode};
use crate::visitor::proofs::{VisitorAuthenticator, VisitorSeat};

/// Asks the store who is signed in, and hosts' keys whom a host vouches for.
pub struct SignInAuthenticator {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
    pub hosts: HostTokenVerifier,
    /// The same that [`SignInServices`](super::SignInServices) has.
    pub public_url: Option<String>,
}

#[async_trait]
impl VisitorAuthenticator for SignInAuthenticator {
    async fn host(&self, tenant: TenantId, binding: &str, token: &str) -> Result<PersonId, ApiError> {
        let now = self.clock.now();
        let visitor = self.hosts.verify(tenant, binding, token, now).await.map_err(refusal)?;
        let ids = self.ids.clone();
        let unit = move |tx: &mut Tx<'_>| -> Result<PersonId, ApiError> {
            let addresses = addresses(&visitor);
            let name = visitor.name.clone().unwrap_or_default();
            let met = persons::find_or_add(tx, &ids, &addresses, &name, now)?;
            if met.person.role.is_some() || met.person.left_at.is_some() {
                return Err(ApiError::new(
                    ApiErrorCode::Forbidden,
                    "The host vouches for somebody who works here, or who has left.",
                )
                .hint(
                    "Those who work here sign in themselves; leave their phone and e-mail out of the token.",
                ));
            }
            if let (true, Some(language)) = (met.is_new, visitor.language) {
                persons::put(tx, &Person { language: Some(language), ..met.person.clone() })?;
            }
            Ok(met.person.id)
        };
        self.db.write(tenant, unit).await
    }

    async fn signed_in(
        &self,
        tenant: TenantId,
        headers: &HeaderMap,
        _: VisitorSeat,
    ) -> Result<Option<PersonId>, ApiError> {
        let Some(operator) = self.operator(headers).await? else { return Ok(None) };
        let asked = operator.clone();
        let read = move |tx: &mut PlatformTx<'_>| roles::role_in(tx, &asked, tenant);
        let Some((_, role)) = self.db.platform(OPERATORS).read(read).await? else { return Ok(None) };
        let (ids, now) = (self.ids.clone(), self.clock.now());
        let unit = move |tx: &mut Tx<'_>| persons::of_operator(tx, &ids, &operator, role, now);
        Ok(Some(self.db.write(tenant, unit).await?.id))
    }

    async fn is_operator(&self, headers: &HeaderMap, _: VisitorSeat) -> Result<bool, ApiError> {
        Ok(self.operator(headers).await?.is_some_and(|operator| operator.keeper))
    }
}

impl SignInAuthenticator {
    /// Who is signed in, where our own page asks.
    async fn operator(&self, headers: &HeaderMap) -> Result<Option<Operator>, ApiError> {
        let url = self.public_url.as_deref();
        let cookie = cookies::read(headers, SIGN_IN, is_secure(url, headers)).and_then(SecretToken::parse);
        let Some(token) = cookie.filter(|_| origin::of(headers, url) != RequestOrigin::Others) else {
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

fn refusal(error: HostError) -> ApiError {
    match error {
        HostError::Distrust(why) => {
            let words = format!("The host's token is not believed: {why}.");
            ApiError::new(ApiErrorCode::Unauthenticated, words)
                .hint("docs/sign-in.md says what a token holds; leave it out, and they talk as visitors.")
        }
        error @ HostError::Unavailable(_) => {
            ApiError::new(ApiErrorCode::Unavailable, "The host's key can't be read just now.")
                .caused_by(error)
        }
        HostError::Store(error) => error.into(),
    }
}
