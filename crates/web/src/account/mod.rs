//! What the pages under `/account` have beyond who is signed in, which `munshi-server` knows.
//!
//! # Layout
//! - `connector_authorizer`: who may follow a link to a connector's service
//! - [`authenticator`], [`oidc`]: what the binary makes sign-in from

pub(crate) mod connector_authorizer;

pub use munshi_server::account::authenticator;
pub use munshi_server::oidc;
