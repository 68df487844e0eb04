//! Whoever sits at the machine is the demo's owner: the shop is nobody's. Others who reach its pages are visitors.

use async_trait::async_trait;
use munshi_types::{PersonId, TenantId};
use munshi_web::ApiError;
use munshi_web::visitor::authenticator::{
    AnonymousAuthenticator, HeaderMap, VisitorAuthenticator, VisitorSeat,
};

pub(super) struct DemoOwnerAuthenticator {
    pub(super) tenant: TenantId,
    pub(super) person: PersonId,
}

#[async_trait]
impl VisitorAuthenticator for DemoOwnerAuthenticator {
    async fn authenticate_host_token(
        &self,
        tenant: TenantId,
        binding: &str,
        token: &str,
    ) -> Result<PersonId, ApiError> {
        AnonymousAuthenticator.authenticate_host_token(tenant, binding, token).await
    }

    async fn find_signed_in(
        &self,
        tenant: TenantId,
        _: &HeaderMap,
        seat: VisitorSeat,
    ) -> Result<Option<PersonId>, ApiError> {
        Ok((tenant == self.tenant && seat == VisitorSeat::AtMachine).then_some(self.person))
    }

    async fn is_keeper(&self, _: &HeaderMap, seat: VisitorSeat) -> Result<bool, ApiError> {
        Ok(seat == VisitorSeat::AtMachine)
    }
}
