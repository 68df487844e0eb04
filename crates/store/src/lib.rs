//! One handle over SQLite and Postgres.
//!
//! A unit of work is a plain closure: `db.write(tenant, |tx| …)` or `db.read(tenant, |tx| …)`. It runs on a thread
//! that owns a connection and can wait for nothing but the database, so nobody holds a transaction open while a
//! model thinks. When `write` answers `Ok`, what was written is on disk.
//!
//! ```
//! # use munshi_store::{Db, Result, params};
//! # use munshi_types::TenantId;
//! # async fn example(db: Db, tenant: TenantId, id: uuid::Uuid) -> Result<()> {
//! // `$1` is always the tenant; ours begin at `$2`.
//! let balance: Option<i64> = db
//!     .read(tenant, move |tx| {
//!         tx.optional(
//!             "SELECT balance FROM contacts WHERE tenant_id = $1 AND id = $2",
//!             params![id],
//!             |row| row.get("balance"),
//!         )
//!     })
//!     .await?;
//! # Ok(()) }
//! ```
//!
//! Not here: domain tables (each crate brings its own), retries (the caller knows what is safe to repeat).
//!
//! # Layout
//! - [`Db`], [`Platform`]: the handles; [`Tx`], [`PlatformTx`], [`AdminTx`]: what a unit holds; [`PlatformScope`]: why it may see all tenants
//! - [`Sql`], [`across_tenants`], [`params!`], [`Row`], [`JsonText`], [`Vector`]: statements, parameters, rows
//! - [`migrate`], [`Migration`]: the schema; [`page`], [`SortOrder`], [`sql_in_both_orders!`]: keyset paging either way; [`tenants`]: the registry; [`maintenance`]: backup, checks
//! - [`in_background`]: work that people's passes; [`Announcement`]: what a unit tells this process after its commit
//! - [`SealedColumn`], [`Keyring`]: text that is sealed at rest, and who fills in its keys; [`SealedTable`]: sealing what stood plain before
//! - `session`, `unit`: a unit on its way; `sqlite`, `postgres`: the engines
//!
//! # To add a table
//! 1. Write `migrations/NNNN_name.sql` in your crate, with the next free number across all crates, and list it in
//!    your crate's `MIGRATIONS`. Say whose rows it holds: `CREATE TENANT TABLE …`.
//! 2. Put `tenant_id` first in its primary key and in every foreign key. Say in `migrations/columns.toml` how each column of text or bytes
//!    stands at rest: `docs/sealing.md` has the words. What is somebody's is forgotten with them: `crates/erasure/src/lib.rs`.
//! 3. Write each statement as a literal beside the function that runs it, with `tenant_id = $1` for every table in it.
//!    `make lint` parses them all.
//! 4. Add the list to `migrations()` in `crates/wiring/src/lib.rs`, if your crate's is not there yet, and to the list in
//!    `crates/munshi/tests/app/support/mod.rs`.

mod address;
mod admin_tx;
mod announcement;
mod db;
mod error;
mod health;
mod lane;
pub mod maintenance;
mod meter;
pub mod migrate;
mod options;
pub mod page;
mod plain_rows;
mod postgres;
mod row;
mod sealed_batch;
mod sealing;
mod session;
mod sort_order;
mod sql;
mod sqlite;
pub mod tenants;
mod threads;
mod tx;
mod unit;
mod value;

pub use address::{DatabaseAddress, PostgresAddress};
pub use admin_tx::{AdminTx, AuditNote, PlatformAdminTx};
pub use announcement::Announcement;
pub use db::{Db, Platform};
pub use error::{Error, Result};
pub use lane::in_background;
pub use migrate::{Migration, Migrations};
pub use options::StoreOptions;
pub use page::{Cursor, CursorError, ListCursor, Page, PageRequest};
pub use plain_rows::{FindSeal, PlainColumn, RowMark, SealedKey, SealedTable};
pub use postgres::VacuumLimits;
pub use row::{ColumnIndex, Row};
pub use sealing::{
    KeyErasure, Keyring, RowId, SealedBy, SealedCell, SealedColumn, SealedText, find_named_key, is_sealed,
};
pub use sort_order::{OrderedSql, SortOrder, SortOrderError, reverse_sql};
pub use sql::{PlatformSql, Sql, across_tenants};
pub use tx::{PlatformScope, PlatformTx, Tx};
pub use value::{Column, FromColumn, JsonText, Param, ToParam, Vector};

/// The store's own tables.
pub const MIGRATIONS: &[Migration] = &[migration!("0001_tenants"), migration!("0002_probe")];
