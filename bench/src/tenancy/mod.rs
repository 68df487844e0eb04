//! What keeping tenants apart costs on Postgres: a transaction with the tenant's setting on a table with row-level
//! security, beside a plain transaction on a plain table; and the same through the store.

mod bare;
mod ours;

use anyhow::{Context, Result};
use munshi_test_support::Engine;
use tokio::runtime::Runtime;

use crate::again;
use crate::arguments::Arguments;
use crate::contest::{self, TIME};
use crate::fresh::Fresh;
use crate::load::Load;
use crate::report::{Table, count, ratio};
use bare::Bare;
use ours::Ours;

const CALLERS: [usize; 2] = [1, 16];
const ROWS: u64 = 10_000;

/// The one-statement transaction that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Insert,
    Read,
}

/// A table like `entries`, with the parent it points at, and no policy on either.
const PLAIN: &str = "
    CREATE TABLE plain_tenants AS SELECT id FROM tenants;
    ALTER TABLE plain_tenants ADD PRIMARY KEY (id);
    CREATE TABLE plain (
      tenant_id uuid NOT NULL REFERENCES plain_tenants (id), id uuid NOT NULL, body text NOT NULL,
      PRIMARY KEY (tenant_id, id)
    );
    INSERT INTO plain SELECT tenant_id, id, body FROM entries;
    GRANT SELECT, INSERT ON plain, plain_tenants TO munshi_app;
    ANALYZE";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !again::has_postgres() {
        return again::beside_postgres("tenancy", arguments);
    }
    let runtime = Runtime::new()?;
    let mut fresh = Fresh::make(Engine::Postgres, &runtime);
    fresh.fill(&runtime, ROWS)?;
    fresh.place.as_superuser(PLAIN);
    let db = fresh.open().context("the database is open already")?;
    let mut table = Table::new(["", "plain µs", "with tenancy µs", "ratio", "through the store µs", "ratio"]);
    for act in [Act::Insert, Act::Read] {
        let plain = Bare::plain(&fresh, act);
        let guarded = Bare::guarded(&fresh, act);
        let ours = Ours::new(db.clone(), fresh.tenant, act);
        for callers in arguments.callers(&CALLERS) {
            let load = Load { runtime: &runtime, callers, window: arguments.window };
            let [plain, guarded, ours] = contest::hold([&plain, &guarded, &ours], &load, arguments.rounds)?;
            table.row([
                format!("{act:?}, {callers} at once").to_lowercase(),
                count(plain.median(TIME)),
                count(guarded.median(TIME)),
                ratio(guarded.ratio(&plain, TIME), None),
                count(ours.median(TIME)),
                ratio(ours.ratio(&plain, TIME), None),
            ]);
        }
    }
    table.print("A transaction of one statement on Postgres, median time");
    Ok(())
}

/// Ids above those that were filled in are free to insert.
fn scattered(step: u64) -> u64 {
    step.wrapping_mul(7_919) % ROWS
}
