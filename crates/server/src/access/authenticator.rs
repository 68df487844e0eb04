//! What others have proved about somebody at a page.

use async_trait::async_trait;
use munshi_types::{PersonId, TenantId};

use crate::error::ApiError;

pub use axum::http::HeaderMap;

/// Where whoever asks sits, as the other end of the line and the cookie of the terminal's link prove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitorSeat {
    /// In front of this very machine.
    AtMachine,
    Elsewhere,
}

/// The seam to sign-in and to the hosts of widgets.
#[async_trait]
pub trait VisitorAuthenticator: Send + Sync + 'static {
    /// The person whom a token names that the host of a page has signed for this tenant and binding; they are added where
    /// they are new. One that is forged, stale or of another tenant is refused in words for the host's developer.
    async fn authenticate_host_token(
        &self,
        tenant: TenantId,
        binding: &str,
        token: &str,
    ) -> Result<PersonId, ApiError>;

    /// The person of this tenant who is signed in here, by what their browser sent; none for anybody else. Asked only for
    /// requests of our own pages.
    async fn find_signed_in(
        &self,
        tenant: TenantId,
        headers: &HeaderMap,
        seat: VisitorSeat,
    ) -> Result<Option<PersonId>, ApiError>;

    /// Whether somebody is signed in who looks after this installation.
    async fn is_keeper(&self, headers: &HeaderMap, seat: VisitorSeat) -> Result<bool, ApiError>;
}

/// Nobody has proved anything.
pub struct AnonymousAuthenticator;

#[async_trait]
impl VisitorAuthenticator for AnonymousAuthenticator {
    async fn authenticate_host_token(&self, _: TenantId, _: &str, _: &str) -> Result<PersonId, ApiError> {
        Err(ApiError::new(
            crate::error::ApiErrorCode::Unauthenticated,
            "This workspace accepts no host tokens.",
        )
        .hint("Omit `token` to chat as a visitor."))
    }

    async fn find_signed_in(
        &self,
        _: TenantId,
        _: &HeaderMap,
        _: VisitorSeat,
    ) -> Result<Option<PersonId>, ApiError> {
        Ok(None)
    }

    async fn is_keeper(&self, _: &HeaderMap, _: VisitorSeat) -> Result<bool, ApiError> {
        Ok(false)
    }
}
