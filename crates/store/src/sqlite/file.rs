//! The database file itself: its folder, its soundness, its name on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use munshi_types::Timestamp;

use super::errors::translate;
use crate::error::{Error, Result};

/// Marks a file as ours ("MUNS"), so that restore does not take somebody's photo library for a backup.
pub(crate) const APPLICATION_ID: i32 = 0x4D55_4E53;

pub(crate) fn io_error(what: &str, path: &Path, error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::StorageFull {
        return Error::Full;
    }
    Error::Unavailable { what: format!("{what} {}: {error}", path.display()), source: Some(Arc::new(error)) }
}

/// Makes the folder the file lives in, for nobody else to read.
pub(crate) fn prepare_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| io_error("can't create the folder", folder, error))
}

/// Makes the file before SQLite does, for nobody else to read; its logs follow its rights. One that is there keeps
/// what it has, and is not even opened: closing it would end the locks this process holds on it.
pub(crate) fn make_private(path: &Path) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(io_error("can't create the file", path, error))
        }
        _ => Ok(()),
    }
}

/// A moment as part of a file name: `20261115T021741Z`.
pub fn format_timestamp(now: Timestamp) -> String {
    now.to_string().split('.').next().unwrap_or_default().trim_end_matches('Z').replace(['-', ':'], "") + "Z"
}

/// The file and those SQLite keeps beside it.
pub(crate) fn list_database_files(path: &Path) -> [PathBuf; 4] {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    [path.to_owned(), beside("-wal"), beside("-shm"), beside("-journal")]
}

/// Waits until a file, or a rename in its folder, is on disk.
pub(crate) fn sync(path: &Path) -> Result<()> {
    let open = fs::File::open(path).map_err(|error| io_error("can't open", path, error))?;
    open.sync_all().map_err(|error| io_error("can't sync", path, error))
}

pub(crate) fn sync_parent_folder(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => sync(folder),
        _ => sync(Path::new(".")),
    }
}

/// Refuses a database that some other program made: it would be taken over, tables, mark and all.
pub(crate) fn refuse_foreign(raw: &rusqlite::Connection, path: &Path) -> Result<()> {
    // In this order: another process of ours may make the tables and the mark, together, between the two looks.
    let tables: i64 =
        raw.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(translate)?;
    let mark: i32 = raw.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(translate)?;
    if mark == APPLICATION_ID || (mark == 0 && tables == 0) {
        return Ok(());
    }
    let what =
        format!("{} belongs to another program and was left alone: choose another file", path.display());
    Err(Error::Address(what))
}

/// Reads the whole structure and says what is wrong with it.
pub(crate) fn check_integrity(raw: &rusqlite::Connection) -> Result<()> {
    let verdict: String = raw.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(translate)?;
    if verdict == "ok" { Ok(()) } else { Err(Error::Corrupt(verdict)) }
}

pub(crate) fn check_references(raw: &rusqlite::Connection) -> Result<()> {
    let mut statement = raw.prepare("PRAGMA foreign_key_check").map_err(translate)?;
    let mut rows = statement.query([]).map_err(translate)?;
    match rows.next().map_err(translate)? {
        None => Ok(()),
        Some(row) => {
            let (table, parent): (String, String) =
                (row.get(0).map_err(translate)?, row.get(2).map_err(translate)?);
            Err(Error::Schema(format!(
                "a row of {table} points at a missing row of {parent}; nothing was changed"
            )))
        }
    }
}
