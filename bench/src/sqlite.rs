//! A bare connection with the store's own settings, for the contestants that do without the store.

use anyhow::{Result, bail};
use munshi_store::DatabaseAddress;
use rusqlite::Connection;

pub(crate) fn open(address: &DatabaseAddress) -> Result<Connection> {
    let DatabaseAddress::Sqlite(path) = address else { bail!("not a SQLite file: {address}") };
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA fullfsync = ON;
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA cache_size = -8000;
         PRAGMA journal_size_limit = 67108864;",
    )?;
    Ok(connection)
}
