//! A copy of a live database, and putting one back.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};

use super::connection::SqliteConnection;
use super::errors::translate;
use super::file::{self, APPLICATION_ID, io_error};
use crate::error::{Error, Result};
use crate::options::StoreOptions;

/// Pages copied before a writer gets its turn: 4 MiB.
const PAGES_A_STEP: i32 = 1024;

/// How often a step may find the database locked, a fiftieth of a second apart.
const MOST_REFUSALS: u32 = 500;

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupProgress {
    pub done_pages: u64,
    pub total_pages: u64,
}

/// Copies a database that may be in use to `target`, checks the copy, and only then gives it its name.
pub(crate) fn copy(
    source: &Path,
    target: &Path,
    options: &StoreOptions,
    progress: &mut dyn FnMut(BackupProgress),
) -> Result<()> {
    if let Some(there) = file::list_database_files(target).iter().find(|path| path.exists()) {
        let what =
            format!("{} already exists: choose another name; nothing was overwritten", there.display());
        return Err(Error::Address(what));
    }
    let partial = make_verified_copy(source, target, options, progress)?;
    // A link can't replace what somebody else put there meanwhile, as a rename would.
    fs::hard_link(&partial, target).map_err(|error| io_error("can't name the copy", target, error))?;
    remove_if_there(&partial)?;
    file::sync_parent_folder(target)
}

/// A sound copy beside `target`, on disk, under a name of its own.
fn make_verified_copy(
    source: &Path,
    target: &Path,
    options: &StoreOptions,
    progress: &mut dyn FnMut(BackupProgress),
) -> Result<PathBuf> {
    let mut name = target.as_os_str().to_owned();
    // Of two that are made at once, each has its own.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    name.push(format!(".partial-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let partial = PathBuf::from(name);
    let copied = copy_pages(source, &partial, options, progress)
        .and_then(|()| verify(&partial))
        .and_then(|()| file::sync(&partial));
    match copied {
        Ok(()) => Ok(partial),
        Err(error) => {
            remove_if_there(&partial)?;
            Err(error)
        }
    }
}

fn copy_pages(
    source: &Path,
    partial: &Path,
    options: &StoreOptions,
    progress: &mut dyn FnMut(BackupProgress),
) -> Result<()> {
    remove_if_there(partial)?;
    file::prepare_folder(partial)?;
    file::make_private(partial)?;
    let from = SqliteConnection::open_reader(source, options.busy_timeout)?;
    // One moment of the source is held for the whole copy; without that every commit would begin it anew.
    from.raw.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema").map_err(translate)?;
    let mut into = rusqlite::Connection::open(partial).map_err(translate)?;
    run_steps(&Backup::new(&from.raw, &mut into).map_err(translate)?, progress)?;
    // One plain file: a copy needs no log beside it.
    into.pragma_update(None, "journal_mode", "DELETE").map_err(translate)?;
    into.close().map_err(|(_, error)| translate(error))
}

fn run_steps(backup: &Backup<'_, '_>, progress: &mut dyn FnMut(BackupProgress)) -> Result<()> {
    let mut refused = 0;
    loop {
        let step = backup.step(PAGES_A_STEP).map_err(translate)?;
        let seen = backup.progress();
        let (total, left) = (pages(seen.pagecount), pages(seen.remaining));
        progress(BackupProgress { done_pages: total.saturating_sub(left), total_pages: total });
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => refused = 0,
            _ if refused < MOST_REFUSALS => {
                refused += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => return Err(Error::Busy("the database could not be read for the copy".to_owned())),
        }
    }
}

fn pages(count: i32) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// Reads a whole file and makes sure it is a sound Munshi database.
pub(crate) fn verify(path: &Path) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let raw = rusqlite::Connection::open_with_flags(path, flags).map_err(|error| match translate(error) {
        Error::Unavailable { source, .. } => {
            Error::Unavailable { what: format!("{} can't be opened", path.display()), source }
        }
        other => other,
    })?;
    let mark: i32 = raw.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(translate)?;
    if mark != APPLICATION_ID {
        return Err(Error::Address(format!("{} is not a Munshi database", path.display())));
    }
    let verdict: String =
        raw.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(translate)?;
    if verdict == "ok" { file::check_references(&raw) } else { Err(Error::Corrupt(verdict)) }
}

/// Puts `source` in the place of `target`. The caller has made sure that nobody uses `target`.
/// What was there is kept under another name; the answer says which.
pub(crate) fn restore(
    source: &Path,
    target: &Path,
    aside: &str,
    options: &StoreOptions,
    progress: &mut dyn FnMut(BackupProgress),
) -> Result<Option<PathBuf>> {
    verify(source)?;
    // A link stays a link: what it points at is replaced.
    let target = &fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
    let partial = make_verified_copy(source, target, options, progress)?;
    let kept = move_aside(target, aside, options)?;
    // The one step that counts: before it the old database is in place, whole; after it the new one.
    fs::rename(&partial, target).map_err(|error| io_error("can't put the copy in place", target, error))?;
    file::sync_parent_folder(target)?;
    Ok(kept)
}

/// Gives what is there a second name, and clears away what would be replayed into the restored file.
fn move_aside(target: &Path, aside: &str, options: &StoreOptions) -> Result<Option<PathBuf>> {
    let kept = free_name(target, aside);
    let there = target.exists();
    if there {
        checkpoint_log(target, options);
        fs::hard_link(target, &kept).map_err(|error| io_error("can't keep", target, error))?;
    }
    for (from, to) in
        file::list_database_files(target).iter().zip(file::list_database_files(&kept).iter()).skip(1)
    {
        if from.exists() {
            fs::rename(from, to).map_err(|error| io_error("can't move aside", from, error))?;
        }
    }
    file::sync_parent_folder(target)?;
    Ok(there.then_some(kept))
}

/// Brings what is still in the log into the database, so that the file alone is all of it. A database too damaged
/// for that is kept as it is, its log beside it.
fn checkpoint_log(target: &Path, options: &StoreOptions) {
    let folded = SqliteConnection::open_writer(target, options.busy_timeout).and_then(|connection| {
        connection.raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(translate)
    });
    if let Err(error) = folded {
        tracing::warn!(%error, "checkpointing the old database failed; its write-ahead log is kept beside it");
    }
}

fn free_name(target: &Path, aside: &str) -> PathBuf {
    let named = |number: u32| {
        let mut name = target.as_os_str().to_owned();
        name.push(if number < 2 { format!(".{aside}") } else { format!(".{aside}-{number}") });
        PathBuf::from(name)
    };
    let is_free = |path: &PathBuf| !file::list_database_files(path).iter().any(|part| part.exists());
    (1..u32::MAX).map(named).find(is_free).unwrap_or_else(|| named(u32::MAX))
}

fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io_error("can't remove", path, error))
        }
        _ => Ok(()),
    }
}
