//! One SQLite connection and the statements it has prepared.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{OpenFlags, Statement};

use super::checkpointer::LONGEST_LOG;
use super::errors::translate;
use super::file::list_database_files;
use crate::error::{Error, Result};
use crate::row::EngineRow;
use crate::sql::{number_placeholders, shorten};
use crate::value::{Column, Param};

/// How often a running statement is asked whether its time is up, in virtual-machine steps.
const STEPS_BETWEEN_CHECKS: i32 = 20_000;

pub(crate) struct SqliteConnection {
    pub(crate) raw: rusqlite::Connection,
    /// Statement texts with `?N`, by the address of the literal: rendered once.
    rendered: HashMap<(usize, usize), Box<str>>,
    /// Why SQLite ended the transaction on its own (disk full, I/O error, time up): nothing more may run in this
    /// unit, or it would run outside any transaction.
    lost: Option<Error>,
    in_transaction: bool,
    /// When the running unit must be over, read by the progress handler.
    deadline: Deadline,
}

impl SqliteConnection {
    pub(crate) fn open_writer(path: &Path, busy: Duration) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let raw = open(path, flags, busy)?;
        raw.execute_batch(&format!(
            "PRAGMA journal_mode = WAL;
             PRAGMA wal_autocheckpoint = {LONGEST_LOG};
             PRAGMA synchronous = FULL;
             PRAGMA fullfsync = ON;
             PRAGMA foreign_keys = ON;
             PRAGMA trusted_schema = OFF;
             -- Otherwise a REPLACE removes rows without their triggers being asked.
             PRAGMA recursive_triggers = ON;
             PRAGMA cache_size = -8000;
             PRAGMA journal_size_limit = 67108864;",
        ))
        .map_err(translate)?;
        let mode: String = raw.query_row("PRAGMA journal_mode", [], |row| row.get(0)).map_err(translate)?;
        if mode != "wal" {
            let what = format!("{} can't use a write-ahead log (journal mode {mode})", path.display());
            return Err(Error::Unavailable { what, source: None });
        }
        Ok(Self::from_raw(raw))
    }

    /// From here on what is removed is overwritten.
    pub(crate) fn wipe_removed(&self) -> Result<()> {
        self.raw.query_row("PRAGMA secure_delete = ON", [], |_| Ok(())).map_err(translate)
    }

    pub(crate) fn open_reader(path: &Path, busy: Duration) -> Result<Self> {
        roll_back_interrupted(path, busy)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let raw = open(path, flags, busy)?;
        raw.execute_batch(
            "PRAGMA query_only = ON;
             PRAGMA trusted_schema = OFF;
             PRAGMA cache_size = -2000;",
        )
        .map_err(translate)?;
        Ok(Self::from_raw(raw))
    }

    fn from_raw(raw: rusqlite::Connection) -> Self {
        raw.set_prepared_statement_cache_capacity(256);
        Self {
            raw,
            rendered: HashMap::new(),
            lost: None,
            in_transaction: false,
            deadline: Deadline::default(),
        }
    }

    /// From here on a runaway statement is stopped instead of holding the thread.
    pub(crate) fn enforce_deadline(&mut self) -> Result<()> {
        let deadline = self.deadline.clone();
        let watch = move || deadline.has_passed();
        self.raw.progress_handler(STEPS_BETWEEN_CHECKS, Some(watch)).map_err(translate)
    }

    /// Statements may run for this long from `now`.
    pub(crate) fn set_deadline(&self, now: Instant, time: Duration) {
        self.deadline.set(now, time);
    }

    /// Ending a transaction is never cut short: whether it happened would be unknown.
    pub(crate) fn clear_deadline(&self) {
        self.deadline.clear();
    }

    pub(crate) fn loss(&self) -> Option<&Error> {
        self.lost.as_ref()
    }

    pub(crate) fn execute(
        &mut self,
        sql: &'static str,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
    ) -> Result<u64> {
        let outcome = self.with_prepared(sql, first, params, |statement| {
            if statement.column_count() == 0 {
                return statement.raw_execute().map_err(translate).map(|count| count as u64);
            }
            let (mut rows, mut count) = (statement.raw_query(), 0);
            while rows.next().map_err(translate)?.is_some() {
                count += 1;
            }
            Ok(count)
        });
        self.record_loss(outcome)
    }

    pub(crate) fn query(
        &mut self,
        sql: &'static str,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
        each: &mut dyn FnMut(EngineRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let outcome = self.with_prepared(sql, first, params, |statement| {
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next().map_err(translate)? {
                each(EngineRow::Sqlite(row))?;
            }
            Ok(())
        });
        self.record_loss(outcome)
    }

    /// A transaction command; never a statement with data in it.
    pub(crate) fn run_command(&mut self, text: &str) -> Result<()> {
        let outcome = self.raw.prepare_cached(text).and_then(|mut statement| statement.raw_execute());
        let outcome = outcome.map(|_| ()).map_err(translate);
        self.record_loss(outcome)
    }

    pub(crate) fn begin(&mut self, text: &str) -> Result<()> {
        self.lost = None;
        self.in_transaction = false;
        self.run_command(text)?;
        self.in_transaction = true;
        Ok(())
    }

    pub(crate) fn commit(&mut self) -> Result<()> {
        if let Some(reason) = &self.lost {
            return Err(reason.clone());
        }
        self.in_transaction = false;
        self.run_command("COMMIT")
    }

    /// Ends the transaction whatever state it is in.
    pub(crate) fn roll_back(&mut self) -> Result<()> {
        self.in_transaction = false;
        if self.raw.is_autocommit() { Ok(()) } else { self.run_command("ROLLBACK") }
    }

    fn with_prepared<T>(
        &mut self,
        sql: &'static str,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
        run: impl FnOnce(&mut Statement<'_>) -> Result<T>,
    ) -> Result<T> {
        if let Some(reason) = &self.lost {
            return Err(reason.clone());
        }
        let key = (sql.as_ptr() as usize, sql.len());
        let text = self.rendered.entry(key).or_insert_with(|| number_placeholders(sql).into_boxed_str());
        let mut statement = self.raw.prepare_cached(text).map_err(translate)?;
        let wanted = statement.parameter_count();
        let given = params.len() + usize::from(first.is_some());
        if wanted != given {
            let what = format!("{given} parameters given, {wanted} wanted in: {}", shorten(sql));
            return Err(Error::Misuse(what));
        }
        for (position, param) in first.iter().chain(params).enumerate() {
            statement.raw_bind_parameter(position + 1, Bound(*param)).map_err(translate)?;
        }
        // Its bindings are cleared when it goes back to the cache.
        run(&mut statement)
    }

    fn record_loss<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if let Err(error) = &outcome
            && self.in_transaction
            && self.raw.is_autocommit()
        {
            self.lost.get_or_insert_with(|| error.clone());
        }
        outcome
    }
}

/// The moment a unit must be over, shared with SQLite's progress handler, which has to be `Send`.
#[derive(Clone)]
struct Deadline {
    start: Instant,
    /// Milliseconds after `start`.
    limit: Arc<AtomicU64>,
}

impl Default for Deadline {
    fn default() -> Self {
        Self { start: Instant::now(), limit: Arc::new(AtomicU64::new(u64::MAX)) }
    }
}

impl Deadline {
    fn set(&self, now: Instant, time: Duration) {
        let limit = now.saturating_duration_since(self.start).saturating_add(time).as_millis();
        self.limit.store(u64::try_from(limit).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn clear(&self) {
        self.limit.store(u64::MAX, Ordering::Relaxed);
    }

    fn has_passed(&self) -> bool {
        self.start.elapsed().as_millis() > u128::from(self.limit.load(Ordering::Relaxed))
    }
}

/// A process that was killed while it wrote to a plain file, as when a copy gets its write-ahead log, leaves a journal of what it
/// overwrote. Whoever may only read can't put that back, and refuses to read.
fn roll_back_interrupted(path: &Path, busy: Duration) -> Result<()> {
    let [_, _, _, journal] = list_database_files(path);
    if std::fs::metadata(journal).is_ok_and(|journal| journal.len() > 0) {
        let raw = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX, busy)?;
        raw.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(translate)?;
    }
    Ok(())
}

fn open(path: &Path, flags: OpenFlags, busy: Duration) -> Result<rusqlite::Connection> {
    let raw = rusqlite::Connection::open_with_flags(path, flags).map_err(|error| match translate(error) {
        Error::Unavailable { source, .. } => {
            let advice = "check that the folder exists and that Munshi may write there";
            Error::Unavailable { what: format!("{} can't be opened: {advice}", path.display()), source }
        }
        other => other,
    })?;
    raw.busy_timeout(busy).map_err(translate)?;
    // Otherwise a statement that could profit from a partial index is planned anew whenever another value is bound,
    // which cost a turn more than its statements.
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(translate)?;
    Ok(raw)
}

struct Bound<'a>(Param<'a>);

impl rusqlite::ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let borrowed = |value| Ok(ToSqlOutput::Borrowed(value));
        match &self.0 {
            Param::Null => borrowed(ValueRef::Null),
            Param::Bool(value) => borrowed(ValueRef::Integer((*value).into())),
            Param::Integer(value) => borrowed(ValueRef::Integer(*value)),
            Param::Real(value) => borrowed(ValueRef::Real(*value)),
            Param::Text(text) | Param::Json(text) => borrowed(ValueRef::Text(text.as_bytes())),
            Param::Bytes(bytes) => borrowed(ValueRef::Blob(bytes)),
            Param::Uuid(uuid) => borrowed(ValueRef::Blob(uuid.as_bytes())),
            Param::Time(moment) => borrowed(ValueRef::Integer(moment.as_micros())),
            Param::Vector(floats) => {
                let bytes = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
                Ok(ToSqlOutput::Owned(Value::Blob(bytes)))
            }
        }
    }
}

pub(crate) fn column_of<'r>(row: &'r rusqlite::Row<'_>, position: usize) -> Result<Column<'r>> {
    let value = row
        .get_ref(position)
        .map_err(|_| Error::Decode(format!("the result has no column at position {position}")))?;
    Ok(match value {
        ValueRef::Null => Column::Null,
        ValueRef::Integer(value) => Column::Integer(value),
        ValueRef::Real(value) => Column::Real(value),
        ValueRef::Text(bytes) => Column::Text(
            std::str::from_utf8(bytes).map_err(|_| Error::Decode("the text is not UTF-8".to_owned()))?,
        ),
        ValueRef::Blob(bytes) => Column::Bytes(bytes),
    })
}
