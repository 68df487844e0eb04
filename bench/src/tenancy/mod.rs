//! What keeping tenants apart costs on Postgres: a transaction with the tenant's setting on a table with row-level
//! security, beside a plain transaction on a plain table; and the same through the store.

mod bare;
mod ours;

use anyhow::{Context, Result};
use munshi_test_support::DatabaseEngine;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::{self, Contestant, RATE, TIME};
use crate::fresh_database::Fresh;
use crate::load::Load;
use crate::report::{Table, render_count, render_ratio};
use crate::rerun;
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
    if !rerun::has_postgres() {
        return rerun::run_with_postgres("tenancy", arguments);
    }
    let runtime = Runtime::new()?;
    let mut fresh = Fresh::make(DatabaseEngine::Postgres, &runtime);
    fresh.fill(&runtime, ROWS)?;
    fresh.place.run_as_superuser(PLAIN);
    let db = fresh.take_db().context("the database is open already")?;
    for act in [Act::Insert, Act::Read] {
        let contestants = Contestants {
            plain: Bare::plain(&fresh, act),
            guarded: Bare::guarded(&fresh, act),
            ours: Ours::new(db.clone(), fresh.tenant, act),
        };
        contestants.compare(act, arguments, &runtime)?;
    }
    Ok(())
}

struct Contestants {
    plain: Bare,
    guarded: Bare,
    ours: Ours,
}

impl Contestants {
    /// Alone, the time of a transaction; many at once, how many get through: a median time would hide those who wait.
    fn compare(&self, act: Act, arguments: &Arguments, runtime: &Runtime) -> Result<()> {
        let mut table =
            Table::new(["callers", "", "plain", "with tenancy", "ratio", "through the store", "ratio"]);
        for callers in arguments.callers(&CALLERS) {
            let load = Load { runtime, callers, window: arguments.window };
            let (figure, unit) = if callers == 1 { (TIME, "median µs") } else { (RATE, "per second") };
            let contestants: [&dyn Contestant; 3] = [&self.plain, &self.guarded, &self.ours];
            let [plain, guarded, ours] = contest::run_rounds(contestants, &load, arguments.rounds)?;
            table.add_row([
                callers.to_string(),
                unit.to_owned(),
                render_count(plain.median(figure)),
                render_count(guarded.median(figure)),
                render_ratio(guarded.ratio(&plain, figure), None),
                render_count(ours.median(figure)),
                render_ratio(ours.ratio(&plain, figure), None),
            ]);
        }
        table.print(match act {
            Act::Insert => "A transaction of one insert on Postgres",
            Act::Read => "A transaction of one point read on Postgres",
        });
        Ok(())
    }
}

/// Ids above those that were filled in are free to insert.
fn scatter(step: u64) -> u64 {
    step.wrapping_mul(7_919) % ROWS
}
