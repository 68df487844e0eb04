//! What is shown at a server's door, where that changes.

use std::fmt;

use async_trait::async_trait;
use munshi_http::Response;
use zeroize::Zeroizing;

/// A bearer token that somebody else renews. An error says why it can't be had; then nothing was sent.
#[async_trait]
pub trait BearerCredential: fmt::Debug + Send + Sync {
    /// The token; none where nobody has logged in.
    async fn find_token(&self) -> Result<Option<Zeroizing<String>>, String>;

    /// Another than was refused; none where a person has to log in.
    async fn renew_token(&self, refused: Option<&str>) -> Result<Option<Zeroizing<String>>, String>;

    /// Whether this answer, a 401 or 403, asks for a login. What it says of it is remembered.
    fn asks_for_login(&self, response: &Response) -> bool;
}
