//! Who somebody is, on both engines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod codes;
mod forgotten;
mod hosts;
mod invitations;
mod key_requests;
mod keys;
mod meeting;
mod merging;
mod operators;
mod own_keys;
mod pauses;
mod persons;
mod row_sealing;
mod upgraded;
