//! Whoever sits at the machine is the demo's owner: the shop is nobody's. Others who reach its pages are visitors.

use async_trait::async_trait;
use munshi_types::{PersonId, TenantId};
use munshi_web::ApiError;
use munshi_web::visitor::proofs::{AnonymousAuthenticator, HeaderMap, VisitorAuthenticator, VisitorSeat};

pub(super) struct DemoOwnerAuthenticator {
    pub(super) tenant: TenantId,
    pub(super) person: PersonId,
}

#[async_trait]
impl VisitorAuthenticator for DemoOwnerAuthenticator {
    async fn host(&self, tenant: TenantId, binding: &str, token: &str) -> Result<PersonId, ApiError> {
        AnonymousAuthenticator.host(tenant, binding, token).await
    }

    async fn signed_in(
        &self,
        tenant: TenantId,
        _: &HeaderMap,
        seat: VisitorSeat,
    ) -> Result<Option<PersonId>, ApiError> {
        Ok((tenant == self.tenant && seat == VisitorSeat::AtMachine).then_some(self.person))
    }

    async fn is_operator(&self, _: &HeaderMap, seat: VisitorSeat) -> Result<bool, ApiError> {
        Ok(seat == VisitorSeat::AtMachine)
    }
}
