//! What the safety pipeline costs: a decision by itself, and a whole act beside its bare statements: the same store, the
//! same rows, with everything decided and worked out beforehand.

mod bare;
mod decision;
mod ours;

use std::sync::Arc;

use anyhow::{Context, Result};
use munshi_identity::{Person, Principal, Role, persons};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ConnectorOrigin, ToolConnector};
use munshi_safety::policy::{self, Policy, ToolRateLimits};
use munshi_store::{Db, Migration, StoreOptions};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::{
    Autonomy, Clock, Conduct, Effect, IdGenerator, Reach, ScopeGlob, SystemClock, TenantId, ToolSpec, Zone,
};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::{self, CPU, Contestant, RATE, TIME};
use crate::load::Load;
use crate::report::{Table, render_count, render_ratio};
use crate::rerun;
use bare::Bare;
use ours::Ours;

const CALLERS: [usize; 2] = [1, 16];

/// Where the tool that writes leaves its effect.
const SALES: &[Migration] = &[Migration {
    name: "9001_sales",
    text: "CREATE TENANT TABLE sales (tenant_id UUID NOT NULL, act_id UUID NOT NULL, name TEXT NOT NULL,
           amount INT NOT NULL, PRIMARY KEY (tenant_id, act_id));",
}];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !rerun::has_postgres() {
        return rerun::run_with_postgres("acts", arguments);
    }
    decision::print()?;
    let runtime = Runtime::new()?;
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        compare(engine, arguments, &runtime)?;
    }
    Ok(())
}

/// A typical sale, or a look at one.
fn spec(effect: Effect) -> Result<ToolSpec> {
    Ok(ToolSpec {
        parameters: json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "maxLength": 200 }, "amount": { "type": "integer", "minimum": 1 },
                "items": { "type": "array", "items": { "type": "string" } }, "note": { "type": "string" },
            },
            "required": ["name", "amount"],
        }),
        effect,
        reach: Reach::Business,
        ..ToolSpec::read_only("log_sale".parse()?, "Writes a sale down.", "ledger.sale.add")
    })
}

fn connector() -> ToolConnector {
    ToolConnector {
        name: "ledger".to_owned(),
        origin: ConnectorOrigin::BuiltIn,
        declares: true,
        conduct: None,
    }
}

fn conduct() -> Result<Conduct> {
    let globs = |texts: &[&str]| texts.iter().map(|text| text.parse()).collect::<Result<Vec<ScopeGlob>, _>>();
    Ok(Conduct {
        autonomy: Autonomy::Act,
        read: globs(&["ledger.*", "contacts.*", "stock.*"])?,
        write: globs(&["contacts.*", "ledger.sale.*", "ledger.payment.*"])?,
        deny: globs(&["ledger.sale.cancel", "*.delete"])?,
        ask: globs(&["ledger.payment.refund"])?,
    })
}

/// As a shop has it, but for the rates: nobody is to wait here.
fn shop_policy() -> Result<Policy> {
    let rates = ToolRateLimits {
        calls_per_minute: u32::MAX,
        writes_per_minute: u32::MAX,
        ..ToolRateLimits::default()
    };
    Ok(Policy { connectors: [("ledger".to_owned(), conduct()?)].into(), rates, ..Policy::default() })
}

fn caller(principal: Principal) -> ActCaller {
    let (binding, session) = (Some(IdGenerator::system().next()), Some(uuid::Uuid::from_u128(7)));
    ActCaller {
        principal,
        door: CallerAudience::Work,
        binding,
        run: None,
        session,
        zone: Zone::default(),
        language: None,
        background: false,
        key: None,
        ceiling: None,
    }
}

/// A tenant of its own in the same database for each contestant.
struct Shop {
    db: Db,
    tenant: TenantId,
    caller: ActCaller,
    agent: Arc<Conduct>,
}

fn shop(test: &TestDb, runtime: &Runtime, name: &str) -> Result<Shop> {
    let tenant = runtime.block_on(test.add_tenant(name));
    let (now, kept) = (SystemClock.now(), shop_policy()?);
    let made = test.db.write(tenant, move |tx| -> Result<Principal, munshi_safety::Error> {
        policy::apply(tx, &kept, "bench", "", now)?;
        let staff = Person { role: Some(Role::Staff), ..Person::new(&IdGenerator::system(), "Asha", now) };
        persons::upsert(tx, &staff)?;
        Ok(staff.principal(tx))
    });
    let caller = caller(runtime.block_on(made)?);
    Ok(Shop { db: test.db.clone(), tenant, caller, agent: Arc::new(conduct()?) })
}

fn compare(engine: DatabaseEngine, arguments: &Arguments, runtime: &Runtime) -> Result<()> {
    let migrations =
        [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_safety::MIGRATIONS, SALES];
    let test = runtime.block_on(TestDb::open_with(engine, &migrations, StoreOptions::default()));
    let ours = Ours::new(shop(&test, runtime, "ours")?)?;
    let bare = Bare::new(shop(&test, runtime, "bare")?).context("the bare statements")?;
    let mut table = Table::new(["callers", "", "bare", "ours", "ratio"]);
    for callers in arguments.callers(&CALLERS) {
        let load = Load { runtime, callers, window: arguments.window };
        let contestants: [&dyn Contestant; 2] = [&ours, &bare];
        let [ours, bare] = contest::run_rounds(contestants, &load, arguments.rounds)?;
        for (figure, unit) in [(TIME, "median µs"), (CPU, "processor µs"), (RATE, "per second")] {
            table.add_row([
                callers.to_string(),
                unit.to_owned(),
                render_count(bare.median(figure)),
                render_count(ours.median(figure)),
                render_ratio(ours.ratio(&bare, figure), None),
            ]);
        }
    }
    table.print(&format!("A sale written down through the pipeline, on {}", test.db.engine()));
    Ok(())
}
