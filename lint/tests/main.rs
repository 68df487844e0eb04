//! Every test of this crate from outside, in one binary: each further one is linked by itself.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod repository;
mod tenancy;
