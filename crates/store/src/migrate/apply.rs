//! Bringing a database to this binary's schema, and refusing one that is ahead of it.

use super::plan::{MigrationOutcome, MigrationRequest, MigrationState, find_pending};
use super::{Migrations, postgres, sqlite};
use crate::address::DatabaseAddress;
use crate::db::run_blocking;
use crate::error::{Error, Result};
use crate::options::StoreOptions;

/// Applies what is pending, all in one transaction: afterwards the schema is either the new one or untouched.
pub async fn run(request: MigrationRequest) -> Result<MigrationOutcome> {
    run_blocking(move || match request.address.clone() {
        DatabaseAddress::Sqlite(path) => sqlite::run(&path, &request),
        DatabaseAddress::Postgres(app) => {
            let owner = match &request.owner {
                Some(DatabaseAddress::Postgres(owner)) => owner.clone(),
                Some(DatabaseAddress::Sqlite(_)) => {
                    return Err(Error::Address("store.owner_url must be a Postgres address too".to_owned()));
                }
                None => app.clone(),
            };
            postgres::run(&app, &owner, &request)
        }
    })
    .await
}

/// Looks without changing anything. A database that does not exist yet has nothing applied.
pub async fn load_state(
    address: &DatabaseAddress,
    options: &StoreOptions,
    migrations: &Migrations,
) -> Result<MigrationState> {
    let (address, options, migrations) = (address.clone(), options.clone(), migrations.clone());
    run_blocking(move || {
        let applied = match &address {
            DatabaseAddress::Sqlite(path) => sqlite::list_applied(path, &options)?,
            DatabaseAddress::Postgres(place) => postgres::list_applied(place, &options)?,
        };
        let pending = find_pending(&applied, &migrations)?.iter().map(|migration| migration.name).collect();
        Ok(MigrationState { applied, pending })
    })
    .await
}

pub(crate) async fn require_current(
    address: &DatabaseAddress,
    options: &StoreOptions,
    migrations: &Migrations,
) -> Result<()> {
    let state = load_state(address, options, migrations).await?;
    if state.pending.is_empty() {
        return Ok(());
    }
    let what = if state.applied.is_empty() { "has no tables yet" } else { "is older than this program" };
    Err(Error::Schema(format!(
        "the database {what}: run `munshi migrate`, or `munshi serve`, which migrates first"
    )))
}
