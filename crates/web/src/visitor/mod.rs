//! The door for people at a page: visitors of our own pages and of the widget on others'.
//!
//! Somebody at a page may talk on the binding the page is of, see their own thread there, follow and stop their own
//! turns, and answer the questions that are theirs. They are known by a token that is made with their first message, by
//! what the host of the page has signed, or by a sign-in of ours.
//!
//! # Layout
//! - `page_visitor`: who asks, and of which binding, with all that `munshi-server` knows of them
//! - `admit`: every limit before a message is taken; `challenge`: the little work that a browser does
//! - [`VisitorServices`], [`onboarding`]: what the binary hands in; [`authenticator`], [`local_session`]: what it makes that from

pub(crate) mod admit;
pub(crate) mod challenge;
pub(crate) mod page_visitor;

pub use munshi_server::access::authenticator;
pub use munshi_server::client_address::UNNAMED_PROXY;
pub use munshi_server::phrases::add_phrases;
pub use munshi_server::visitor::local_session;

pub use crate::app::onboarding;
pub use crate::app::visitor_services::{ChallengeSettings, VisitorServices};
