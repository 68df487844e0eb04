//! The gateway over scripted models: who is tried, when, at what price, and what the caller hears of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "unwrapping is how a test fails")]

mod budgets;
mod fallback;
mod forms;
mod matrix;
mod records;
mod routing;
mod scene;
mod vectors;
mod veil;
