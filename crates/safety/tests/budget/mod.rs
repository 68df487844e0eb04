//! Budgets on both engines: limits, settling, expiry, edges of days and months, and many callers at once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells what it saw"
)]

mod support;

mod concurrency;
mod edges;
mod gateway;
mod limits;
mod rate;
mod rate_limits;
mod settle;
mod sweep;
mod usage;
