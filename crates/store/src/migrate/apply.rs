//! Bringing a database to this binary's schema, and refusing one that is ahead of it.

use super::plan::{Outcome, Request, State, pending};
use super::{Migrations, postgres, sqlite};
use crate::address::Address;
use crate::db::off_the_runtime;
use crate::error::{Error, Result};
use crate::options::Options;

/// Applies what is pending, all in one transaction: afterwards the schema is either the new one or untouched.
pub async fn run(request: Request) -> Result<Outcome> {
    off_the_runtime(move || match request.address.clone() {
        Address::Sqlite(path) => sqlite::run(&path, &request),
        Address::Postgres(app) => {
            let owner = match &request.owner {
                Some(Address::Postgres(owner)) => owner.clone(),
                Some(Address::Sqlite(_)) => {
                    return Err(Error::Address("the owner's address must be Postgres too".to_owned()));
                }
                None => app.clone(),
            };
            postgres::run(&app, &owner, &request)
        }
    })
    .await
}

/// Looks without changing anything. A database that does not exist yet has nothing applied.
pub async fn state(address: &Address, options: &Options, migrations: &Migrations) -> Result<State> {
    let (address, options, migrations) = (address.clone(), options.clone(), migrations.clone());
    off_the_runtime(move || {
        let applied = match &address {
            Address::Sqlite(path) => sqlite::applied(path, &options)?,
            Address::Postgres(place) => postgres::applied(place, &options)?,
        };
        let pending = pending(&applied, &migrations)?.iter().map(|migration| migration.name).collect();
        Ok(State { applied, pending })
    })
    .await
}

pub(crate) async fn require_current(
    address: &Address,
    options: &Options,
    migrations: &Migrations,
) -> Result<()> {
    let state = state(address, options, migrations).await?;
    if state.pending.is_empty() {
        return Ok(());
    }
    let what = if state.applied.is_empty() { "has no tables yet" } else { "is older than this program" };
    Err(Error::Schema(format!("the database {what}: run `munshi migrate`, or `munshi serve`, which does it")))
}
