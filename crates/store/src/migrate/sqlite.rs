//! Migrating a SQLite file: copy first, one transaction, check after.

use std::path::{Path, PathBuf};

use rusqlite::params;

use super::plan::{AppliedMigration, MigrationOutcome, MigrationRequest, find_pending};
use super::render::{SqlDialect, render};
use super::{Migration, Migrations};
use crate::error::{Error, Result};
use crate::options::StoreOptions;
use crate::sqlite::{SqliteConnection, backup, file, translate};

pub(super) fn list_applied(path: &Path, options: &StoreOptions) -> Result<Vec<AppliedMigration>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    // Looking must not change anything: a writer would turn a backup's plain file into one with a log beside it.
    let connection = SqliteConnection::open_reader(path, options.busy_timeout)?;
    file::refuse_foreign(&connection.raw, path)?;
    read_applied(&connection.raw)
}

pub(super) fn run(path: &Path, request: &MigrationRequest) -> Result<MigrationOutcome> {
    file::prepare_folder(path)?;
    file::make_private(path)?;
    list_applied(path, &request.options)?;
    let connection = SqliteConnection::open_writer(path, request.options.busy_timeout)?;
    // A table that is copied and dropped would stand in free pages whole.
    if request.options.wipes_removed {
        connection.wipe_removed()?;
    }
    // A migration may rebuild a table that others point at; what points nowhere afterwards is found by the check.
    connection.raw.pragma_update(None, "foreign_keys", "OFF").map_err(translate)?;
    let before = read_applied(&connection.raw)?;
    if find_pending(&before, &request.migrations)?.is_empty() {
        return Ok(MigrationOutcome::default());
    }
    let backup = match &request.backups {
        Some(folder) if !before.is_empty() => Some(back_up_first(path, folder, &before, request)?),
        _ => None,
    };
    let applied = apply(&connection.raw, request)?;
    if let Err(error) = file::check_integrity(&connection.raw) {
        let advice = match &backup {
            Some(copy) => format!("the backup made before migrating is {}", copy.display()),
            None => "there was nothing to back up before migrating".to_owned(),
        };
        return Err(Error::Corrupt(format!("{error} after migrating; {advice}")));
    }
    Ok(MigrationOutcome { applied, backup })
}

fn back_up_first(
    path: &Path,
    folder: &Path,
    before: &[AppliedMigration],
    request: &MigrationRequest,
) -> Result<PathBuf> {
    let newest = before.iter().map(|row| row.number).max().unwrap_or(0);
    let stamp = file::format_timestamp(request.now);
    let target = folder.join(format!("before-migrating-from-{newest:04}-{stamp}.db"));
    backup::copy(path, &target, &request.options, &mut |_| {})?;
    Ok(target)
}

/// Takes the write lock first and looks again: another process may have migrated meanwhile.
fn apply(raw: &rusqlite::Connection, request: &MigrationRequest) -> Result<Vec<&'static str>> {
    raw.execute_batch("BEGIN IMMEDIATE").map_err(translate)?;
    let outcome = apply_locked(raw, request);
    let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = raw.execute_batch(end).map_err(translate);
    let applied = outcome?;
    ended.map(|()| applied)
}

fn apply_locked(raw: &rusqlite::Connection, request: &MigrationRequest) -> Result<Vec<&'static str>> {
    raw.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
           number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
         ) STRICT",
    )
    .map_err(translate)?;
    raw.pragma_update(None, "application_id", file::APPLICATION_ID).map_err(translate)?;
    let migrations: &Migrations = &request.migrations;
    let waiting = find_pending(&read_applied(raw)?, migrations)?;
    for migration in &waiting {
        apply_one(raw, migration, request)?;
    }
    file::check_references(raw)?;
    Ok(waiting.iter().map(|migration| migration.name).collect())
}

fn apply_one(raw: &rusqlite::Connection, migration: &Migration, request: &MigrationRequest) -> Result<()> {
    let text = render(migration.name, migration.text, SqlDialect::Sqlite)?;
    let failed = |error: rusqlite::Error| match translate(error) {
        Error::Misuse(what) | Error::Refused(what) => {
            Error::Schema(format!("migration {} failed; nothing was changed: {what}", migration.name))
        }
        other => other,
    };
    raw.execute_batch(&text).map_err(failed)?;
    raw.execute(
        "INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
        params![migration.number()?, migration.name, migration.checksum(), request.now.as_micros()],
    )
    .map_err(failed)?;
    Ok(())
}

pub(crate) fn read_applied(raw: &rusqlite::Connection) -> Result<Vec<AppliedMigration>> {
    if !raw.table_exists(None, "schema_migrations").map_err(translate)? {
        return Ok(Vec::new());
    }
    let mut statement = raw
        .prepare("SELECT number, name, checksum FROM schema_migrations ORDER BY number")
        .map_err(translate)?;
    let rows = statement
        .query_map([], |row| {
            Ok(AppliedMigration { number: row.get(0)?, name: row.get(1)?, checksum: row.get(2)? })
        })
        .map_err(translate)?;
    rows.collect::<rusqlite::Result<_>>().map_err(translate)
}
