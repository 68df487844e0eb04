//! What tests share: a fresh database on either engine, and models that behave as told.
//!
//! [`on_both_engines!`] writes each test twice, once for SQLite and once for Postgres, from one body. Postgres is the
//! server that `make test` starts (`MUNSHI_TEST_POSTGRES`); without it those tests fail, they are never skipped.
//!
//! # Layout
//! - `activity`: the transactions that are open on a Postgres database
//! - [`administration`]: changes that only administration makes
//! - [`database`]: [`TestDb`], a database that goes when the test ends
//! - [`environment`]: what the test script has started for the tests
//! - [`hostile_files`]: files that nobody should send
//! - [`guarded_service`]: a service that asks for a login, and a browser for it
//! - [`memory_keys`]: keys that seal text at rest and need no store of keys
//! - [`unit_hold`]: a unit of the store that waits before its commit, and whether another waits for it
//! - [`model_server`]: a model server that speaks three wires from fixtures and fails on demand
//! - [`models`]: models without a wire: scripted, faulty, hostile
//! - [`port`]: ports for programs that have to be told one
//! - [`process`]: running the test program again as a child that may be killed
//! - [`proxy`]: a line to a server that can be cut; [`private_server`]: a Postgres of a test's own
//! - [`recording_keyring`]: keys that remember what they sealed
//! - [`shim`]: a preloaded library that watches, or slows, what reaches the disk
//! - [`statement_counter`]: a line to Postgres that counts statements
//! - `template`: the migrated databases that tests copy
//! - [`wait`]: for what has to come, and how long
//!
//! Nothing here is part of the product; unwrapping is how a test fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod activity;
pub mod administration;
pub mod database;
pub mod environment;
pub mod guarded_service;
pub mod hostile_files;
pub mod memory_keys;
pub mod model_server;
pub mod models;
pub mod port;
pub mod private_server;
pub mod process;
pub mod proxy;
pub mod recording_keyring;
pub mod shim;
pub mod statement_counter;
mod template;
pub mod unit_hold;
pub mod wait;

pub use administration::{administer, administer_platform};
pub use database::{DatabaseEngine, TestDb};
pub use memory_keys::memory_keyring;
pub use port::choose_port;
pub use recording_keyring::RecordingKeyring;
pub use statement_counter::StatementCounter;
pub use unit_hold::UnitHold;
pub use wait::{PATIENCE, wait_until};

/// Makes two tests of each function, `NAME::sqlite` and `NAME::postgres`.
///
/// ```ignore
/// on_both_engines! {
///     with [munshi_store::MIGRATIONS];
///
///     async fn a_row_is_kept(test: TestDb) { … }
/// }
/// ```
#[macro_export]
macro_rules! on_both_engines {
    (with [$($migrations:expr),+ $(,)?]; $($tests:tt)+) => {
        $crate::on_both_engines! { with all [$(&$migrations[..]),+]; $($tests)+ }
    };
    // The lists of several crates, already together.
    (with all $lists:expr; $($(#[$meta:meta])* async fn $name:ident($test:ident: TestDb) $body:block)+) => {
        $crate::on_both_engines!(@each ($lists) $({$(#[$meta])* $name $test $body})+);
    };
    (@each $lists:tt $({$(#[$meta:meta])* $name:ident $test:ident $body:block})+) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            async fn body($test: $crate::TestDb) $body

            #[tokio::test(flavor = "multi_thread")]
            async fn sqlite() {
                body($crate::TestDb::open($crate::DatabaseEngine::Sqlite, &$lists).await).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn postgres() {
                body($crate::TestDb::open($crate::DatabaseEngine::Postgres, &$lists).await).await;
            }
        }
    )+};
}
