//! Operators in their browsers: who is signed in, forms that can't be sent by another's page, and what the audit hears.
//!
//! # Layout
//! - `signed_in_operator`: who has this browser; `caller`: the same for routes that take an API key
//! - `form`: what a form sent, once it is sure that it is ours; `origin`: whose page it came from
//! - `browser_sign_in`: a new sign-in, its cookies and where to go on
//! - `authenticator`: who is signed in, and whom a host vouches for, at the door for people
//! - `audit_context`: what the audit hears; `frame`: what every page shows

pub mod audit_context;
pub mod authenticator;
pub mod browser_sign_in;
pub mod caller;
pub mod form;
pub mod frame;
mod origin;
pub mod signed_in_operator;
