//! The database file itself: its folder, its soundness, its name on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use munshi_types::Timestamp;

use super::errors::translate;
use crate::error::{Error, Result};

/// Marks a file as ours ("MUNS"), so that restore does not take somebody's photo library for a backup.
pub(crate) const APPLICATION_ID: i32 = 0x4D55_4E53;

pub(crate) fn failed(what: &str, path: &Path, error: std::io::Error) -> Error {
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
    builder.create(folder).map_err(|error| failed("can't make the folder", folder, error))
}

/// Makes the file, when it is not there, for nobody else to read; SQLite gives its log the same rights.
pub(crate) fn prepare(path: &Path) -> Result<()> {
    prepare_folder(path)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| ()).map_err(|error| failed("can't make", path, error))
}

/// A moment as part of a file name: `20261115T021741Z`.
pub(crate) fn stamp(now: Timestamp) -> String {
    now.to_string().split('.').next().unwrap_or_default().trim_end_matches('Z').replace(['-', ':'], "") + "Z"
}

/// The file and the two SQLite keeps beside it.
pub(crate) fn family(path: &Path) -> [PathBuf; 3] {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    [path.to_owned(), beside("-wal"), beside("-shm")]
}

/// Waits until a file, or a rename in its folder, is on disk.
pub(crate) fn sync(path: &Path) -> Result<()> {
    let open = fs::File::open(path).map_err(|error| failed("can't open", path, error))?;
    open.sync_all().map_err(|error| failed("can't sync", path, error))
}

pub(crate) fn sync_folder_of(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => sync(folder),
        _ => sync(Path::new(".")),
    }
}

/// Reads the whole structure and says what is wrong with it.
pub(crate) fn check(raw: &rusqlite::Connection) -> Result<()> {
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
