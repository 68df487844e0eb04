//! The rows of turns on both engines: coming in once, order in a session, leases, the end of a turn, what leaves, threads
//! that become one, and what is kept.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells what it saw"
)]

mod search_support;
mod support;

mod asked;
mod coming_in;
mod counted;
mod days;
mod ending;
mod expired_acts;
mod forgotten;
mod holding;
mod kept;
mod leaving;
mod linked;
mod order;
mod sealed;
mod search_filling;
mod searched;
mod stored_prompts;
