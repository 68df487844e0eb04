//! The books from outside, on both engines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::wildcard_imports, reason = "these tests speak of everything in the books")]

mod acts;
mod bills;
mod contacts;
mod dedup;
mod demo;
mod faults;
mod files;
mod keeping;
mod messages;
mod properties;
mod stock;
mod support;
mod together;
