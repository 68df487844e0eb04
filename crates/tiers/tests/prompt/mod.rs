//! Prompts from the outside: the ready bindings, their exact prompts, and what must hold of every prompt.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "unwrapping is how a test fails")]

mod budgets;
mod properties;
mod scene;
mod snapshots;
mod tenants;
