//! A copy of a live database, and putting one back.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};

use super::connection::Connection;
use super::errors::translate;
use super::file::{self, APPLICATION_ID, failed};
use crate::error::{Error, Result};
use crate::options::Options;

/// Pages copied before a writer gets its turn: 4 MiB.
const PAGES_A_STEP: i32 = 1024;

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done_pages: u64,
    pub total_pages: u64,
}

/// Copies a database that may be in use to `target`, checks the copy, and only then gives it its name.
pub(crate) fn copy(
    source: &Path,
    target: &Path,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    if target.exists() {
        let what =
            format!("{} is already there: choose another name, nothing was overwritten", target.display());
        return Err(Error::Address(what));
    }
    let partial = partial_of(target);
    let copied = copy_pages(source, &partial, options, progress).and_then(|()| verify(&partial));
    if let Err(error) = copied {
        remove_if_there(&partial)?;
        return Err(error);
    }
    file::sync(&partial)?;
    fs::rename(&partial, target).map_err(|error| failed("can't name the copy", target, error))?;
    file::sync_folder_of(target)
}

fn copy_pages(
    source: &Path,
    partial: &Path,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    remove_if_there(partial)?;
    file::prepare(partial)?;
    let from = Connection::reader(source, options.busy_timeout)?;
    let mut into = rusqlite::Connection::open(partial).map_err(translate)?;
    {
        let backup = Backup::new(&from.raw, &mut into).map_err(translate)?;
        loop {
            let step = backup.step(PAGES_A_STEP).map_err(translate)?;
            let seen = backup.progress();
            let (total, left) = (pages(seen.pagecount), pages(seen.remaining));
            progress(Progress { done_pages: total.saturating_sub(left), total_pages: total });
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
    // One plain file: a copy needs no log beside it.
    into.pragma_update(None, "journal_mode", "DELETE").map_err(translate)?;
    into.close().map_err(|(_, error)| translate(error))
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
/// What was there is moved aside, never deleted; the answer says where.
pub(crate) fn restore(
    source: &Path,
    target: &Path,
    aside: &str,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<PathBuf>> {
    verify(source)?;
    let partial = partial_of(target);
    let copied = copy_pages(source, &partial, options, progress).and_then(|()| verify(&partial));
    if let Err(error) = copied {
        remove_if_there(&partial)?;
        return Err(error);
    }
    file::sync(&partial)?;
    let kept = move_aside(target, aside)?;
    fs::rename(&partial, target).map_err(|error| failed("can't put the copy in place", target, error))?;
    file::sync_folder_of(target)?;
    Ok(kept)
}

/// Moves the database and its log together: the log alone would be replayed into the restored file.
fn move_aside(target: &Path, aside: &str) -> Result<Option<PathBuf>> {
    if !target.exists() {
        return Ok(None);
    }
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".{aside}"));
    let kept = PathBuf::from(name);
    for (from, to) in file::family(target).iter().rev().zip(file::family(&kept).iter().rev()) {
        if from.exists() {
            fs::rename(from, to).map_err(|error| failed("can't move aside", from, error))?;
        }
    }
    Ok(Some(kept))
}

fn partial_of(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failed("can't remove", path, error))
        }
        _ => Ok(()),
    }
}
