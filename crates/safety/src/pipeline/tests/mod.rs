//! The decision, stage by stage and under attack.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells how often it tried"
)]

mod case;
mod egress;
mod hostile;
mod oracle;
mod purpose;
mod stages;
mod unasked;
mod world;
