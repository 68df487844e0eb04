//! Every test of this crate from outside, in one binary: each further one is linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod channels;
