//! The SQLite engine: one writer thread that commits in groups, reader threads with read-only connections, and one that
//! keeps the log short.

mod checkpointer;
mod connection;
mod errors;
mod pool;
mod reader;
pub(crate) mod rewrite;
mod writer;

pub(crate) mod backup;
pub(crate) mod file;

pub(crate) use connection::{SqliteConnection, column_of};
pub(crate) use errors::translate;
pub(crate) use pool::SqlitePool;
