//! Turns through the engine, with a scripted model and tools of every effect, on both databases.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "unwrapping is how a test fails")]

mod plain;
mod support;
