//! The decision, stage by stage and under attack.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod case;
mod hostile;
mod oracle;
mod stages;
mod world;
