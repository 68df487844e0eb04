//! Leaving nothing behind of what was overwritten or removed: in the log, and in the file itself.

use std::path::Path;
use std::time::Duration;

use super::connection::SqliteConnection;
use super::errors::translate;
use crate::error::{Error, Result};
use crate::options::StoreOptions;

/// Brings the whole log into the file and cuts it to nothing. Refused while somebody reads an older state of the file for longer
/// than `patience`.
pub(crate) fn empty_log(path: &Path, patience: Duration) -> Result<()> {
    let connection = SqliteConnection::open_writer(path, patience)?;
    truncate_log(&connection, path)
}

/// Writes the file anew from what is in it, then empties the log.
pub(crate) fn rewrite_file(path: &Path, options: &StoreOptions) -> Result<()> {
    let connection = SqliteConnection::open_writer(path, options.busy_timeout)?;
    connection.raw.execute_batch("VACUUM").map_err(translate)?;
    truncate_log(&connection, path)
}

fn truncate_log(connection: &SqliteConnection, path: &Path) -> Result<()> {
    let blocked: i64 = connection
        .raw
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .map_err(translate)?;
    if blocked == 0 {
        return Ok(());
    }
    Err(Error::Busy(format!("the log of {} is in use", path.display())))
}
