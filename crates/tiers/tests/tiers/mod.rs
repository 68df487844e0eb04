//! Tiers from their files to the answer for an address, on both engines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod arms;
mod support;

mod apply;
mod companion;
mod concurrency;
mod docs;
mod fences;
mod files;
mod history;
mod problems;
mod resolve;
