//! What setting something aside costs beside its bare statements: the same store, the same rows, the same conditions,
//! with everything worked out beforehand. And beside the plainest way, a statement for each counter.

mod bare;
mod ours;

use anyhow::{Context, Result};
use munshi_safety::budget::{BudgetAccount, BudgetAmount, BudgetLane};
use munshi_store::{Db, StoreOptions};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::{IdGenerator, TenantId, Zone};
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::{self, CPU, Contestant, RATE, TIME};
use crate::load::Load;
use crate::report::{Goal, Table, render_count, render_ratio};
use crate::rerun;
use bare::{Bare, OneEach};
use ours::Ours;

const CALLERS: [usize; 2] = [1, 16];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !rerun::has_postgres() {
        return rerun::run_with_postgres("budget", arguments);
    }
    let runtime = Runtime::new()?;
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        compare(engine, arguments, &runtime)?;
    }
    Ok(())
}

/// Each contestant has a tenant of its own in the same database, and as many bindings and persons as the others.
struct Payer {
    db: Db,
    tenant: TenantId,
    account: BudgetAccount,
}

fn payer(test: &TestDb, runtime: &Runtime, name: &str) -> Payer {
    let ids = IdGenerator::system();
    let (binding, person) = (Some(ids.next()), Some(ids.next()));
    let account = BudgetAccount { binding, person, lane: BudgetLane::People, zone: Zone::default() };
    Payer { db: test.db.clone(), tenant: runtime.block_on(test.add_tenant(name)), account }
}

const MOST: BudgetAmount = BudgetAmount { interactions: 1, tokens: 1, ..BudgetAmount::NOTHING };

fn compare(engine: DatabaseEngine, arguments: &Arguments, runtime: &Runtime) -> Result<()> {
    let migrations = [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];
    let test = runtime.block_on(TestDb::open_with(engine, &migrations, StoreOptions::default()));
    let ours = Ours::new(payer(&test, runtime, "ours"));
    let bare = Bare::new(payer(&test, runtime, "bare"), runtime).context("the bare statements")?;
    let each = OneEach(Bare::new(payer(&test, runtime, "each"), runtime)?);
    let mut table =
        Table::new(["callers", "", "bare", "ours", "ratio", "one for each counter", "ours beside it"]);
    for callers in arguments.callers(&CALLERS) {
        let load = Load { runtime, callers, window: arguments.window };
        let contestants: [&dyn Contestant; 3] = [&ours, &bare, &each];
        let [ours, bare, each] = contest::run_rounds(contestants, &load, arguments.rounds)?;
        for (figure, unit) in [(TIME, "median µs"), (CPU, "processor µs"), (RATE, "per second")] {
            let goal = (unit != "per second").then_some(Goal::AtMost(1.3));
            table.add_row([
                callers.to_string(),
                unit.to_owned(),
                render_count(bare.median(figure)),
                render_count(ours.median(figure)),
                render_ratio(ours.ratio(&bare, figure), goal),
                render_count(each.median(figure)),
                render_ratio(ours.ratio(&each, figure), None),
            ]);
        }
    }
    table.print(&format!("Setting aside and giving back, on {}", test.db.engine()));
    Ok(())
}
