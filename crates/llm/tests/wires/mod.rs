//! The three wires against a model server on loopback, the official clients against that server, and a real model.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "unwrapping is how a test fails")]

mod agreement;
mod clients;
mod dialects;
mod faults;
mod real;
mod refusals;
mod scene;
mod through;
mod time;
