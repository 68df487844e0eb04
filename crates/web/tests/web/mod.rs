//! The server from outside: through a socket on loopback, or through the router.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test says so by failing")]

mod dashboard;
mod document;
mod errors;
mod limits;
mod logs;
mod probes;
mod responses;
mod shutdown;
mod support;
mod traces;
