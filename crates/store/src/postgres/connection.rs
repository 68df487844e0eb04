//! One Postgres connection and the statements it has prepared.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::blocking_client::BlockingPostgresClient;
use super::errors::{TABLES_CHANGED, translate};
use super::pipeline::{self, OwnedParam, PipelinedCommand};
use crate::address::{DatabaseAddress, PostgresAddress};
use crate::error::{Error, Result};
use crate::options::StoreOptions;
use crate::row::EngineRow;
use crate::sql::shorten;
use crate::threads::start;
use crate::value::Param;

/// How often an idle line is checked, so that one that went dark is noticed in half a minute, not in two hours.
const LINE_CHECK: Duration = Duration::from_secs(10);

/// The role units run as. It owns no table and can't log in: whoever connects takes it on.
pub(crate) const APP_ROLE: &str = "munshi_app";

/// Who a connection acts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostgresLogin {
    /// The role units run as: no table is its own, so row-level security holds for it.
    App,
    /// The owner of the tables: migrations only.
    Owner,
}

const LONGEST_MIGRATION: Duration = Duration::from_secs(24 * 3600);

/// How long after an answer a line is taken to be alive without asking.
const FRESH: Duration = Duration::from_secs(1);

pub(crate) struct PostgresConnection {
    pub(crate) line: BlockingPostgresClient,
    /// Prepared statements by the address of their literal.
    statements: HashMap<(usize, usize), Statement>,
    /// What goes out with the next statement.
    outgoing: Vec<PipelinedCommand>,
    answered_at: Instant,
}

impl PostgresConnection {
    /// Connects and logs in within the time allowed, also to a server that takes the call and then says nothing.
    pub(crate) fn open(
        address: &PostgresAddress,
        options: &StoreOptions,
        login: PostgresLogin,
    ) -> Result<Self> {
        let (done, wait) = std::sync::mpsc::sync_channel(1);
        let (place, limits) = (address.clone(), options.clone());
        start("store-pg-connect".to_owned(), move || {
            // Nobody listens any more when the time is up; the connection closes with its value.
            let _late = done.send(Self::open_now(&place, &limits, login));
        })?;
        wait.recv_timeout(options.connect_timeout).unwrap_or_else(|_| {
            let place = DatabaseAddress::Postgres(address.clone());
            let seconds = options.connect_timeout.as_secs();
            Err(Error::Unavailable {
                what: format!("{place} did not answer within {seconds} s"),
                source: None,
            })
        })
    }

    fn open_now(address: &PostgresAddress, options: &StoreOptions, login: PostgresLogin) -> Result<Self> {
        let mut config = address.driver_config()?;
        config.connect_timeout(options.connect_timeout);
        config.keepalives_idle(LINE_CHECK).keepalives_interval(LINE_CHECK / 2).keepalives_retries(3);
        config.tcp_user_timeout(LINE_CHECK * 3);
        config.application_name("munshi");
        let line = BlockingPostgresClient::open(address, &config, response_timeout(options, login))?;
        let (statements, outgoing) = (HashMap::new(), Vec::new());
        let mut connection = Self { line, statements, outgoing, answered_at: Instant::now() };
        match login {
            PostgresLogin::App => connection.assume_app_role(options)?,
            PostgresLogin::Owner => {
                connection.run_command("SET TIME ZONE 'UTC'; SET search_path = public")?;
            }
        }
        Ok(connection)
    }

    /// Takes the role that row-level security holds for, and makes sure that it does.
    fn assume_app_role(&mut self, options: &StoreOptions) -> Result<()> {
        let known = self.line.query_all("SELECT 1 FROM pg_roles WHERE rolname = $1", &[&APP_ROLE])?;
        if known.is_empty() {
            return Err(missing_schema_error());
        }
        let (millis, idle) = (options.statement_timeout.as_millis(), options.idle_timeout.as_millis());
        self.run_command(&format!(
            "SET ROLE {APP_ROLE}; SET TIME ZONE 'UTC'; SET search_path = public; SET statement_timeout = {millis};
             SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {idle}; SET tcp_user_timeout = {}",
            // Whoever waits behind this unit for its tenant is to have time left.
            millis / 2,
            // For a machine that went dark while an answer was on its way to it.
            (LINE_CHECK * 3).as_millis(),
        ))?;
        let row = self
            .line
            .query_one("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user", &[])?;
        if row.get(0) {
            return Err(Error::Schema(format!(
                "the role `{APP_ROLE}` bypasses row-level security, so tenants would not be kept apart: \
                 run `ALTER ROLE {APP_ROLE} NOSUPERUSER NOBYPASSRLS`"
            )));
        }
        Ok(())
    }

    pub(crate) fn execute(
        &mut self,
        sql: &'static str,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
    ) -> Result<u64> {
        let statement = self.prepare(sql, first, params)?;
        let bound = bind(first.as_ref(), params);
        let outgoing = std::mem::take(&mut self.outgoing);
        let outcome =
            pipeline::send_all_with(&self.line, &outgoing, self.line.client.execute(&statement, &bound));
        self.record_response(outcome)
    }

    /// Runs a statement whose count nobody wants to know: it goes with the next one, and so does what is wrong with it.
    pub(crate) fn execute_pipelined(
        &mut self,
        sql: &'static str,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
    ) -> Result<()> {
        let statement = self.prepare(sql, first, params)?;
        check(&statement, sql, &bind(first.as_ref(), params))?;
        let kept = first.into_iter().chain(params.iter().copied()).map(OwnedParam::from).collect();
        self.outgoing.push(PipelinedCommand::Statement(statement, kept));
        if self.outgoing.len() < pipeline::MOST { Ok(()) } else { self.flush() }
    }

    /// Waits for everything that was sent.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        let Some(last) = outgoing.pop() else { return Ok(()) };
        let outcome = pipeline::send_all_with(&self.line, &outgoing, last.execute(&self.line.client));
        self.record_response(outcome)
    }

    pub(crate) fn query(
        &mut self,
        sql: &'static str,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
        each: &mut dyn FnMut(EngineRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let statement = self.prepare(sql, first, params)?;
        let bound = bind(first.as_ref(), params);
        let outgoing = std::mem::take(&mut self.outgoing);
        let outcome =
            pipeline::send_all_with(&self.line, &outgoing, self.line.client.query(&statement, &bound));
        let rows = self.record_response(outcome)?;
        rows.iter().try_for_each(|row| each(EngineRow::Postgres(row)))
    }

    /// Makes a transaction last, with everything that was sent. After a pause it looks first whether the server has hung up: then it
    /// was surely undone, and may be run again.
    pub(crate) fn commit(&mut self) -> Result<()> {
        if self.answered_at.elapsed() > FRESH && self.line.is_closed() {
            let what = "the server closed the connection before the commit".to_owned();
            return Err(Error::Unavailable { what, source: None });
        }
        let outgoing = std::mem::take(&mut self.outgoing);
        let outcome = pipeline::send_all_and_commit(&self.line, &outgoing);
        self.record_response(outcome)
    }

    /// A transaction or session command; never a statement with data in it.
    pub(crate) fn run_command(&mut self, text: &str) -> Result<()> {
        let outgoing = std::mem::take(&mut self.outgoing);
        let outcome = pipeline::send_all_with(&self.line, &outgoing, self.line.client.batch_execute(text));
        self.record_response(outcome)
    }

    /// Opens a transaction: with its first statement where the line has just answered, else at once, so that a line that
    /// went dark meanwhile is noticed before anything ran.
    pub(crate) fn begin(&mut self, text: String) -> Result<()> {
        self.discard_pipelined();
        if self.line.is_closed() {
            return Err(Error::Unavailable {
                what: "the server closed the connection".to_owned(),
                source: None,
            });
        }
        if self.answered_at.elapsed() > FRESH {
            return self.run_command(&text);
        }
        self.outgoing.push(PipelinedCommand::Command(text));
        Ok(())
    }

    /// Drops what still waits for the next statement: it will be undone.
    pub(crate) fn discard_pipelined(&mut self) {
        self.outgoing.clear();
    }

    /// Undoes a transaction; what was not sent yet never will be.
    pub(crate) fn roll_back(&mut self) -> Result<()> {
        // The only command that ever waits is the one that opens the transaction.
        let is_unopened = matches!(self.outgoing.first(), Some(PipelinedCommand::Command(_)));
        self.discard_pipelined();
        if is_unopened { Ok(()) } else { self.run_command("ROLLBACK") }
    }

    /// Whether its end has been heard of already.
    pub(crate) fn has_ended(&self) -> bool {
        self.line.has_ended()
    }

    fn prepare(
        &mut self,
        sql: &'static str,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
    ) -> Result<Statement> {
        let key = (sql.as_ptr() as usize, sql.len());
        let statement = match self.statements.get(&key) {
            Some(statement) => statement.clone(),
            None => {
                let asked = self.line.client.prepare(sql);
                let statement = self.line.block_on(asked)?.map_err(|error| match translate(error) {
                    Error::Misuse(what) => Error::Misuse(format!("{what} in: {}", shorten(sql))),
                    other => other,
                })?;
                self.statements.entry(key).or_insert(statement).clone()
            }
        };
        let (wanted, given) = (statement.params().len(), params.len() + usize::from(first.is_some()));
        if wanted != given {
            let what = format!("{given} parameters given, {wanted} wanted in: {}", shorten(sql));
            return Err(Error::Misuse(what));
        }
        Ok(statement)
    }

    /// Notes that the line lives. After a migration elsewhere, plans made before it no longer fit: they are made anew at the next try.
    fn record_response<T>(&mut self, outcome: Result<T>) -> Result<T> {
        self.answered_at = Instant::now();
        if let Err(Error::Busy(what)) = &outcome
            && what == TABLES_CHANGED
        {
            self.statements.clear();
        }
        outcome
    }
}

/// Whether the values fit their types. The driver would find out only when the statement leaves, and then what was sent
/// after it would leave without it.
fn check(statement: &Statement, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<()> {
    let mut scratch = BytesMut::new();
    statement.params().iter().zip(params).try_for_each(|(kind, param)| {
        scratch.clear();
        param.to_sql_checked(kind, &mut scratch).map(drop).map_err(|error| {
            Error::Misuse(format!("a value does not fit `{kind}` ({error}) in: {}", shorten(sql)))
        })
    })
}

/// Long enough for a statement that runs into its own limit with another waiting behind it; a migration takes what it takes.
fn response_timeout(options: &StoreOptions, login: PostgresLogin) -> Duration {
    match login {
        PostgresLogin::App => {
            options.statement_timeout.saturating_mul(2).saturating_add(options.connect_timeout)
        }
        PostgresLogin::Owner => LONGEST_MIGRATION,
    }
}

pub(super) fn bind<'a>(first: Option<&'a Param<'a>>, params: &'a [Param<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    first.into_iter().chain(params).map(|param| param as &(dyn ToSql + Sync)).collect()
}

pub(crate) fn missing_schema_error() -> Error {
    Error::Schema(
        "the database has no tables yet: run `munshi migrate`, or `munshi serve`, which migrates first"
            .to_owned(),
    )
}
