//! Who may use a SQLite database: one server, or one restore. The lock ends with the process, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::data_folder;
use crate::failure::{CommandFailure, Result};

/// Held for as long as the database must be ours.
#[derive(Debug)]
pub struct DatabaseLock {
    file: File,
}

/// Whether somebody has the lock, and who.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseLockHolder {
    Nobody,
    Process(Option<u32>),
}

impl DatabaseLock {
    /// Takes the lock beside `database`, or says who has it.
    pub fn take(database: &Path) -> Result<Self> {
        let path = lock_path(database);
        let mut file = open(&path).map_err(|error| unusable_failure(&path, &error))?;
        match file.try_lock() {
            Ok(()) => {
                // The number is for people; the lock itself is the system's.
                let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
                Ok(Self { file })
            }
            Err(TryLockError::WouldBlock) => Err(in_use_failure(database, read_process_id(&mut file))),
            Err(TryLockError::Error(error)) => Err(unusable_failure(&path, &error)),
        }
    }

    /// Says where the one who has the lock can be reached.
    pub fn write_address(&mut self, address: SocketAddr) {
        // Who can't read it is told that the database is in use, as before.
        let _ = writeln!(self.file, "{address}");
    }

    /// Where a server that has the lock listens. None while nobody has it, or a command.
    pub fn find_server_address(database: &Path) -> Option<SocketAddr> {
        let mut file = File::open(lock_path(database)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => read_line(&mut file, 1)?.parse().ok(),
            _ => None,
        }
    }

    /// Looks without taking.
    pub fn holder(database: &Path) -> DatabaseLockHolder {
        let Ok(mut file) = File::open(lock_path(database)) else { return DatabaseLockHolder::Nobody };
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => DatabaseLockHolder::Process(read_process_id(&mut file)),
            _ => DatabaseLockHolder::Nobody,
        }
    }
}

/// `munshi.db` has `munshi.lock` beside it, so that whoever names the same file meets the same lock.
fn lock_path(database: &Path) -> PathBuf {
    let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let lock = real.with_extension("lock");
    // The lock is written to, so it must never be the database itself.
    if lock == real { real.with_extension("lock.lock") } else { lock }
}

fn open(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        data_folder::create_private(folder)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn read_process_id(file: &mut File) -> Option<u32> {
    read_line(file, 0)?.parse().ok()
}

/// A line of it that is whole: the number of the process, then where it listens.
fn read_line(file: &mut File, number: usize) -> Option<String> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(128).read_to_string(&mut text).ok()?;
    let line = text.split_inclusive('\n').nth(number)?.strip_suffix('\n')?;
    Some(line.trim().to_owned())
}

fn in_use_failure(database: &Path, process: Option<u32>) -> CommandFailure {
    let who = process.map_or_else(|| "another process".to_owned(), |number| format!("process {number}"));
    let failure = CommandFailure::refused(format!("{} is in use by {who}", database.display()));
    match process {
        Some(number) => failure.hint(format!("stop it first: kill {number}, or systemctl stop munshi")),
        None => failure.hint("stop the other process first"),
    }
}

fn unusable_failure(path: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::refused(format!("can't lock {}: {error}", path.display()))
        .hint("make that folder writable for this user, or choose another with data.dir")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_the_lock_and_the_next_is_told_who() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("munshi.db");
        assert_eq!(DatabaseLock::holder(&database), DatabaseLockHolder::Nobody);
        let mut held = DatabaseLock::take(&database).unwrap();
        let refused = DatabaseLock::take(&database).unwrap_err();
        assert!(refused.message.ends_with(&format!("is in use by process {}", std::process::id())));
        assert_eq!(DatabaseLock::holder(&database), DatabaseLockHolder::Process(Some(std::process::id())));
        assert_eq!(DatabaseLock::find_server_address(&database), None);
        let address = "127.0.0.1:8400".parse().unwrap();
        held.write_address(address);
        assert_eq!(DatabaseLock::find_server_address(&database), Some(address));
        assert_eq!(DatabaseLock::holder(&database), DatabaseLockHolder::Process(Some(std::process::id())));
        drop(held);
        assert_eq!(
            (DatabaseLock::holder(&database), DatabaseLock::find_server_address(&database)),
            (DatabaseLockHolder::Nobody, None)
        );
        DatabaseLock::take(&database).unwrap();
    }

    #[test]
    fn the_lock_is_never_the_database() {
        assert_eq!(lock_path(Path::new("/nowhere/munshi.db")), Path::new("/nowhere/munshi.lock"));
        assert_eq!(lock_path(Path::new("/nowhere/munshi.lock")), Path::new("/nowhere/munshi.lock.lock"));
    }

    #[cfg(unix)]
    #[test]
    fn another_name_for_the_same_file_meets_the_same_lock() {
        let folder = tempfile::tempdir().unwrap();
        let (database, other) = (folder.path().join("munshi.db"), folder.path().join("other.db"));
        std::fs::write(&database, "").unwrap();
        std::os::unix::fs::symlink(&database, &other).unwrap();
        let _held = DatabaseLock::take(&database).unwrap();
        assert!(DatabaseLock::take(&other).is_err());
    }
}
