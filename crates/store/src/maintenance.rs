//! Looking after a database: readiness, copies, restoring, examining.

use std::path::{Path, PathBuf};
use std::time::Duration;

use munshi_types::Timestamp;

use crate::address::DatabaseAddress;
use crate::db::{Db, run_blocking};
use crate::error::{Error, Result};
use crate::migrate::{self, Migrations};
use crate::options::StoreOptions;
use crate::params;
use crate::postgres::{self, VacuumLimits};
use crate::sql::across_tenants;
pub use crate::sqlite::backup::BackupProgress;
pub use crate::sqlite::file::format_timestamp;
use crate::sqlite::{backup, file, rewrite};
use crate::tx::PlatformScope;

/// Asking the database how it is.
const CARE: PlatformScope = PlatformScope::new("care");

impl Db {
    /// Whether units can run now. After an outage a small write must succeed before the answer is yes again:
    /// a full disk still reads well.
    pub async fn check(&self) -> Result<()> {
        let platform = self.platform(CARE);
        platform.read(|tx| tx.one(across_tenants("SELECT count(*) FROM probe"), &[], |_| Ok(()))).await?;
        match self.health().outage() {
            None => return Ok(()),
            Some(damage @ Error::Corrupt(_)) => return Err(damage),
            Some(_) => {}
        }
        let write = "INSERT INTO probe (id, beats) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET beats = probe.beats + 1";
        platform.write(move |tx| tx.execute(across_tenants(write), params![1_i64]).map(|_| ())).await
    }

    /// How far this machine's clock is ahead of the database server's, in milliseconds; zero on SQLite.
    pub async fn measure_clock_skew(&self, now: Timestamp) -> Result<i64> {
        if self.sqlite().is_some() {
            return Ok(0);
        }
        let text = ("SELECT 0 AS at", "SELECT clock_timestamp() AS at");
        let theirs: Timestamp = self
            .platform(CARE)
            .read(move |tx| tx.one(across_tenants(text), &[], |row| row.get("at")))
            .await?;
        Ok((now.as_micros() - theirs.as_micros()) / 1000)
    }

    /// What the server calls itself, such as `SQLite 3.51.0`.
    pub async fn server_version(&self) -> Result<String> {
        let text = (
            "SELECT 'SQLite ' || sqlite_version()",
            "SELECT 'PostgreSQL ' || current_setting('server_version')",
        );
        self.platform(CARE).read(move |tx| tx.one(across_tenants(text), &[], |row| row.get(0))).await
    }

    /// Brings SQLite's log into the file and cuts it, so that nothing is left in it of what was removed. Nothing on Postgres.
    pub async fn empty_log(&self) -> Result<()> {
        let DatabaseAddress::Sqlite(path) = self.address().clone() else { return Ok(()) };
        let patience = self.options().busy_timeout;
        run_blocking(move || rewrite::empty_log(&path, patience)).await
    }

    /// The same for whoever tries again later: it holds up those who write for hardly longer than `patience`.
    pub async fn try_empty_log(&self, patience: Duration) -> Result<()> {
        let DatabaseAddress::Sqlite(path) = self.address().clone() else { return Ok(()) };
        run_blocking(move || rewrite::empty_log(&path, patience)).await
    }

    /// Has Postgres clear a table of rows that were removed, with a `VACUUM` of it; by itself it may take hours. [`Error::Busy`] where
    /// that takes too long, or a transaction that began before still sees some of them. `owner` logs in as whoever owns the table.
    /// Nothing on SQLite, which wipes what is removed where [`StoreOptions::wipes_removed`] says so.
    pub async fn vacuum(
        &self,
        owner: &DatabaseAddress,
        table: &'static str,
        limits: VacuumLimits,
    ) -> Result<()> {
        let DatabaseAddress::Postgres(address) = owner.clone() else { return Ok(()) };
        let options = StoreOptions { connect_timeout: limits.total, ..self.options().clone() };
        let vacuum = run_blocking(move || postgres::vacuum(&address, &options, (table, limits)));
        let vacuumed = tokio::time::timeout(limits.total, vacuum).await;
        vacuumed.unwrap_or_else(|_| Err(Error::Busy(format!("clearing {table} took too long"))))
    }

    /// Copies the live database to `target` while others go on working; SQLite only.
    pub async fn backup(
        &self,
        target: PathBuf,
        progress: impl FnMut(BackupProgress) + Send + 'static,
    ) -> Result<()> {
        backup(self.address(), target, self.options(), progress).await
    }
}

/// Writes a SQLite file anew, so that nothing stands in it that was overwritten or removed. Takes seconds for each gigabyte, in which
/// nobody writes. False on Postgres, whose own `VACUUM FULL` does so.
pub async fn rewrite_file(address: &DatabaseAddress, options: &StoreOptions) -> Result<bool> {
    let DatabaseAddress::Sqlite(path) = address.clone() else { return Ok(false) };
    let options = options.clone();
    run_blocking(move || rewrite::rewrite_file(&path, &options)).await?;
    Ok(true)
}

/// Copies a database to `target` whatever its tables are, also while others work with it: an upgrade begins with a
/// copy of what the version before it left. SQLite only.
pub async fn backup(
    address: &DatabaseAddress,
    target: PathBuf,
    options: &StoreOptions,
    mut progress: impl FnMut(BackupProgress) + Send + 'static,
) -> Result<()> {
    let DatabaseAddress::Sqlite(source) = address.clone() else {
        return Err(use_postgres_tools("pg_dump --format=custom"));
    };
    let options = options.clone();
    run_blocking(move || backup::copy(&source, &target, &options, &mut progress)).await
}

/// Puts a backup in the database's place; what was there is moved aside, and the answer says where.
/// Nobody may be using the database: the binary holds its lock while this runs.
pub async fn restore(
    address: &DatabaseAddress,
    source: PathBuf,
    options: &StoreOptions,
    migrations: &Migrations,
    now: Timestamp,
    mut progress: impl FnMut(BackupProgress) + Send + 'static,
) -> Result<Option<PathBuf>> {
    let DatabaseAddress::Sqlite(target) = address.clone() else {
        return Err(use_postgres_tools("pg_restore --clean --if-exists"));
    };
    if !source.is_file() {
        return Err(Error::Address(format!("{} does not exist", source.display())));
    }
    {
        let source = source.clone();
        let checked =
            run_blocking(move || backup::verify(&source).map_err(|error| to_backup_error(error, &source)));
        checked.await?;
    }
    // A backup from a newer Munshi is refused before anything is moved.
    migrate::load_state(&DatabaseAddress::Sqlite(source.clone()), options, migrations).await?;
    let (options, aside) = (options.clone(), format!("before-restore-{}", file::format_timestamp(now)));
    run_blocking(move || backup::restore(&source, &target, &aside, &options, &mut progress)).await
}

/// A file that can't be read as a database is no backup; it says nothing about the database in use.
fn to_backup_error(error: Error, source: &Path) -> Error {
    match error {
        Error::Corrupt(what) => {
            Error::Address(format!("{} is not a valid Munshi backup: {what}", source.display()))
        }
        other => other,
    }
}

/// Examines a whole SQLite file; on Postgres there is nothing to examine from here.
pub async fn check_integrity(address: &DatabaseAddress) -> Result<()> {
    match address {
        DatabaseAddress::Sqlite(path) => {
            let path: PathBuf = Path::to_owned(path);
            run_blocking(move || backup::verify(&path)).await
        }
        DatabaseAddress::Postgres(_) => Ok(()),
    }
}

fn use_postgres_tools(command: &str) -> Error {
    Error::Address(format!(
        "Postgres has its own tools for this: run `{command}` as a login that bypasses row-level security, \
         or use your provider's snapshots"
    ))
}
