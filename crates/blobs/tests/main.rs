//! Files through the service, on both engines, on disk and in a real S3 server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod addresses;
mod failing_store;
mod hostile;
mod killed;
mod slots;
mod stores;
mod support;
mod sweeping;
mod uploads;
