//! Finders: each takes the figures and names of one kind.
//!
//! To add a kind: a file with a function that takes the page, and its place in the order of `Page::new`. What is found
//! first keeps its tokens.

mod accounts;
mod amounts;
mod dates;
mod links;
mod references;

pub(super) use accounts::accounts;
pub(super) use amounts::{amounts, bare_amounts};
pub(super) use dates::dates;
pub(super) use links::links;
pub(super) use references::references;
