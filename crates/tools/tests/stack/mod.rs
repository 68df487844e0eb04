//! Acts through the whole stack: pipeline, dispatcher, tools of every effect, on both engines.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells how often it tried"
)]

mod acts;
mod answers;
mod cached;
mod consents;
mod crashes;
mod escalation;
mod hostile;
mod refusals;
mod support;
