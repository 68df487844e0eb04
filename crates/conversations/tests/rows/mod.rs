//! The rows of turns on both engines: coming in once, order in a session, leases, the end of a turn, what leaves, threads
//! that become one, and what is kept.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells what it saw"
)]

mod outgoing_support;
mod search_support;
mod support;

mod asked;
mod coming_in;
mod counted;
mod days;
mod ending;
mod expired_acts;
mod forgotten;
mod held_by_colleague;
mod holding;
mod joined;
mod kept;
mod leaving;
mod linked;
mod order;
mod outbox_upgraded;
mod outgoing;
mod outgoing_endings;
mod outgoing_lanes;
mod outgoing_random;
mod reached;
mod reached_by_nodes;
mod reached_logins;
mod reply_addresses;
mod sealed;
mod search_filling;
mod searched;
mod session_waits;
mod slow_senders;
mod stored_prompts;
mod unsubscribed;
