//! Connectors at work: real servers that nobody here wrote, and small ones that misbehave.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "unwrapping is how a test fails")]

mod behaving;
mod changing;
mod confined;
mod conform;
mod http;
mod login;
mod login_held;
mod login_hostile;
mod login_slow;
mod misbehaving;
mod openapi;
mod real;
mod support;
mod tested;
mod unsure;
