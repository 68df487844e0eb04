//! Migrating Postgres: as the tables' owner, under an advisory lock, in one transaction.

use super::Migration;
use super::plan::{AppliedMigration, MigrationOutcome, MigrationRequest, find_pending};
use super::render::{SqlDialect, render};
use crate::address::PostgresAddress;
use crate::error::{Error, Result};
use crate::options::StoreOptions;
use crate::postgres::{
    APP_ROLE, BlockingPostgresClient, PostgresConnection, PostgresLogin, missing_schema_error,
};

/// Held while migrating, so that of many nodes starting at once one migrates and the others wait ("MUNS").
const LOCK: i64 = 0x4D55_4E53;

pub(super) fn list_applied(place: &PostgresAddress, options: &StoreOptions) -> Result<Vec<AppliedMigration>> {
    let connection = PostgresConnection::open(place, options, PostgresLogin::Owner)?;
    read_applied(&connection.line)
}

pub(super) fn run(
    app: &PostgresAddress,
    owner: &PostgresAddress,
    request: &MigrationRequest,
) -> Result<MigrationOutcome> {
    let connection = PostgresConnection::open(owner, &request.options, PostgresLogin::Owner)?;
    let line = &connection.line;
    line.execute("SELECT pg_advisory_lock($1)", &[&LOCK])?;
    let outcome = apply(line, app, owner, request);
    line.execute("SELECT pg_advisory_unlock($1)", &[&LOCK])?;
    outcome
}

fn apply(
    line: &BlockingPostgresClient,
    app: &PostgresAddress,
    owner: &PostgresAddress,
    request: &MigrationRequest,
) -> Result<MigrationOutcome> {
    let before = read_applied(line)?;
    let waiting = find_pending(&before, &request.migrations)?;
    if waiting.is_empty() {
        return Ok(MigrationOutcome::default());
    }
    require_version(line)?;
    ensure_role(line)?;
    line.run_command("BEGIN")?;
    if let Err(error) = apply_pending(line, (app, owner), request, &waiting, before.is_empty()) {
        line.run_command("ROLLBACK")?;
        return Err(error);
    }
    line.run_command("COMMIT")?;
    Ok(MigrationOutcome { applied: waiting.iter().map(|migration| migration.name).collect(), backup: None })
}

fn apply_pending(
    line: &BlockingPostgresClient,
    (app, owner): (&PostgresAddress, &PostgresAddress),
    request: &MigrationRequest,
    waiting: &[&Migration],
    is_first: bool,
) -> Result<()> {
    grant_role(line, app, owner).map_err(to_ownership_error)?;
    if is_first {
        create_migrations_table(line).map_err(to_ownership_error)?;
    }
    set_row_security(line, "NO FORCE")?;
    for migration in waiting {
        let failed = |error| match error {
            Error::Misuse(what) => {
                Error::Schema(format!("migration {} failed; nothing was changed: {what}", migration.name))
            }
            other => to_ownership_error(other),
        };
        line.run_command(&render(migration.name, migration.text, SqlDialect::Postgres)?).map_err(failed)?;
        line.execute(
            "INSERT INTO schema_migrations (number, name, checksum, applied_at)
             VALUES ($1, $2, $3, to_timestamp($4::bigint / 1000000.0))",
            &[
                &i64::from(migration.number()?),
                &migration.name,
                &migration.checksum(),
                &request.now.as_micros(),
            ],
        )
        .map_err(failed)?;
    }
    set_row_security(line, "FORCE")
}

fn to_ownership_error(error: Error) -> Error {
    match error {
        Error::Refused(what) => Error::Schema(format!(
            "this login may not create or change the tables ({what}); nothing was changed: \
             set store.owner_url to the login that owns the database"
        )),
        other => other,
    }
}

/// What tenancy rests on came with Postgres 16.
fn require_version(line: &BlockingPostgresClient) -> Result<()> {
    let row = line.query_one("SELECT current_setting('server_version_num')::int", &[])?;
    let version: i32 = row.get(0);
    if version >= 160_000 {
        return Ok(());
    }
    Err(Error::Schema(format!(
        "this server is Postgres {}: Munshi needs Postgres 16 or newer",
        version / 10_000
    )))
}

/// Row-level security binds the owner too, who would see no row to migrate. It is lifted for the owner alone and
/// inside this transaction alone: every table is under it again before anybody can look.
fn set_row_security(line: &BlockingPostgresClient, word: &str) -> Result<()> {
    let tables = line.query_all(
        "SELECT quote_ident(relname) FROM pg_class
             WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relrowsecurity
               AND pg_has_role(current_user, relowner, 'USAGE') ORDER BY relname",
        &[],
    )?;
    for row in tables {
        let table: String = row.get(0);
        line.run_command(&format!("ALTER TABLE public.{table} {word} ROW LEVEL SECURITY"))?;
    }
    Ok(())
}

/// The role belongs to the whole server, so another database's migration may make it at the same moment.
fn ensure_role(line: &BlockingPostgresClient) -> Result<()> {
    let known = line.query_all("SELECT 1 FROM pg_roles WHERE rolname = $1", &[&APP_ROLE])?;
    if !known.is_empty() {
        return Ok(());
    }
    let made = line.run_command(&format!("CREATE ROLE {APP_ROLE} NOLOGIN NOSUPERUSER NOBYPASSRLS"));
    match made {
        Err(Error::Conflict { .. }) => Ok(()),
        Err(Error::Misuse(what)) if what.contains("already exists") => Ok(()),
        Err(Error::Refused(what)) => Err(Error::Schema(format!(
            "the role `{APP_ROLE}` is missing and this login may not make it ({what}): \
             as an administrator run `CREATE ROLE {APP_ROLE} NOLOGIN; GRANT {APP_ROLE} TO CURRENT_USER`"
        ))),
        other => other,
    }
}

/// Lets the logins take the role on, where they can't already.
fn grant_role(line: &BlockingPostgresClient, app: &PostgresAddress, owner: &PostgresAddress) -> Result<()> {
    for place in [app, owner] {
        let config = place.driver_config()?;
        let Some(login) = config.get_user() else { continue };
        let row = line.query_one(
            "SELECT pg_has_role($1::text::name, $2::text::name, 'SET'), quote_ident($1)",
            &[&login, &APP_ROLE],
        )?;
        let (may, quoted): (bool, String) = (row.get(0), row.get(1));
        if !may {
            line.run_command(&format!("GRANT {APP_ROLE} TO {quoted}"))?;
        }
    }
    Ok(())
}

fn create_migrations_table(line: &BlockingPostgresClient) -> Result<()> {
    line.run_command(&format!(
        "CREATE TABLE schema_migrations (
           number bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL
         );
         GRANT SELECT ON schema_migrations TO {APP_ROLE};
         GRANT USAGE ON SCHEMA public TO {APP_ROLE};"
    ))
}

fn read_applied(line: &BlockingPostgresClient) -> Result<Vec<AppliedMigration>> {
    let known = line.query_one("SELECT to_regclass('schema_migrations') IS NOT NULL", &[])?;
    if !known.get::<_, bool>(0) {
        return Ok(Vec::new());
    }
    let rows = line
        .query_all("SELECT number, name, checksum FROM schema_migrations ORDER BY number", &[])
        .map_err(|error| match error {
            Error::Refused(_) => missing_schema_error(),
            other => other,
        })?;
    rows.iter()
        .map(|row| {
            let number = u32::try_from(row.get::<_, i64>(0))
                .map_err(|_| Error::Decode("a migration's number is out of range".to_owned()))?;
            Ok(AppliedMigration { number, name: row.get(1), checksum: row.get(2) })
        })
        .collect()
}
