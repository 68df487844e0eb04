//! What requests are authenticated with, and what tells it to an extractor.
//!
//! # Layout
//! - [`Access`]: the parts, shared by every request; [`AccessSource`]: how an extractor finds them in a router's state
//! - [`SignInServices`]: how operators sign in, and where people open the pages
//! - [`authenticator`]: what sign-in and the hosts of widgets have proved about somebody at a page

pub mod authenticator;
mod sign_in;
mod state;

pub use self::sign_in::{SignInServices, is_secure};
pub use self::state::{Access, AccessParts, AccessSource, AccessState, CodeKeySource};
