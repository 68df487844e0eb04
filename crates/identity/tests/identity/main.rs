//! Who somebody is, on both engines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod codes;
mod keys;
mod meeting;
mod merging;
mod persons;
