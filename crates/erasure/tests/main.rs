//! Somebody is forgotten: nothing of theirs can be read, everybody else's can, and no crash leaves it half done.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod addressed;
mod crashes;
mod exported;
mod forgotten;
mod older_copies;
mod support;
