//! Clearing a table of rows that were removed.

use std::time::Duration;

use super::connection::{PostgresConnection, PostgresLogin};
use crate::address::PostgresAddress;
use crate::error::{Error, Result};
use crate::options::StoreOptions;

/// How long a `VACUUM` may take.
#[derive(Clone, Copy, Debug)]
pub struct VacuumLimits {
    /// For its lock, which a migration or another `VACUUM` may hold.
    pub lock: Duration,
    /// For all of it. What it has done until it is stopped stays done.
    pub total: Duration,
}

/// As whoever owns the table: for anybody else Postgres does nothing, and warns.
pub(crate) fn vacuum(
    address: &PostgresAddress,
    options: &StoreOptions,
    (table, limits): (&'static str, VacuumLimits),
) -> Result<()> {
    let mut connection = PostgresConnection::open(address, options, PostgresLogin::Owner)?;
    let (lock, total) = (limits.lock.as_millis(), limits.total.as_millis());
    connection.run_command(&format!("SET lock_timeout = {lock}; SET statement_timeout = {total}"))?;
    connection.run_command(&format!("VACUUM {table}"))?;
    // It counts what it had to leave when it ends.
    let counted = "SELECT pg_stat_get_dead_tuples(to_regclass($1::text))";
    match connection.line.query_one(counted, &[&table])?.get::<_, Option<i64>>(0) {
        None | Some(0) => Ok(()),
        Some(left) => Err(Error::Busy(format!(
            "older transactions still see {left} rows that were removed from {table}"
        ))),
    }
}
