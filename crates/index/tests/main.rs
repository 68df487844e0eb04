//! Texts that are found by keyed hashes, on both engines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cleared;
mod found;
mod removed;
mod support;
