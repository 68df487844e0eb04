//! What an audit entry costs: an append beside a bare insert of the same row, each alone in a unit of work, and each
//! after another row in the same unit, which is how an act does it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::{Db, MIGRATIONS, Migration, StoreOptions, Tx, params};
use munshi_test_support::database::MORNING;
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::{IdGenerator, SystemClock, SystemRandom, TenantId};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::{self, CPU, Contestant, RATE, TIME};
use crate::fresh_database::sequential_id;
use crate::load::{Load, Tally};
use crate::report::{Table, render_count, render_ratio};
use crate::rerun;

const CALLERS: [usize; 2] = [1, 16];

const ROWS: &[Migration] = &[Migration {
    name: "9001_rows",
    text: "
        CREATE TENANT TABLE rows (
          tenant_id UUID NOT NULL, seq INT NOT NULL, id UUID NOT NULL, made_at TIMESTAMP NOT NULL,
          actor_kind TEXT NOT NULL, actor_id TEXT NOT NULL, event TEXT NOT NULL, subject TEXT NOT NULL,
          payload TEXT NOT NULL, prev_hash BYTES NOT NULL, hash BYTES NOT NULL, PRIMARY KEY (tenant_id, seq)
        );
    ",
}];

const BARE: &str =
    "INSERT INTO rows (tenant_id, seq, id, made_at, actor_kind, actor_id, event, subject, payload,
                                      prev_hash, hash)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !rerun::has_postgres() {
        return rerun::run_with_postgres("audit", arguments);
    }
    let runtime = Runtime::new()?;
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        compare(arguments, &runtime, engine)?;
    }
    Ok(())
}

fn compare(arguments: &Arguments, runtime: &Runtime, engine: DatabaseEngine) -> Result<()> {
    let lists = [MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_safety::MIGRATIONS, ROWS];
    let test = runtime.block_on(TestDb::open_with(engine, &lists, StoreOptions::default()));
    let mut tenants = Vec::new();
    for number in 0..64 {
        tenants.push(runtime.block_on(test.add_tenant(&format!("shop-{number}"))));
    }
    let mut table =
        Table::new(["callers", "in a unit", "", "bare", "append", "ratio", "CPU µs bare", "append"]);
    for callers in arguments.callers(&CALLERS) {
        for (extra, unit) in [(0, "alone"), (1, "after a row")] {
            let contestant = |append| Entries::new(&test.db, &tenants, append, extra);
            let (bare, ours) = (contestant(false), contestant(true));
            let load = Load { runtime, callers, window: arguments.window };
            let [bare, ours] = contest::run_rounds([&bare, &ours], &load, arguments.rounds)?;
            let (figure, word) = if callers == 1 { (TIME, "median µs") } else { (RATE, "per second") };
            table.add_row([
                callers.to_string(),
                unit.to_owned(),
                word.to_owned(),
                render_count(bare.median(figure)),
                render_count(ours.median(figure)),
                render_ratio(ours.ratio(&bare, figure), None),
                format!("{:.0}", bare.median(CPU)),
                format!("{:.0}", ours.median(CPU)),
            ]);
        }
    }
    table.print(&format!("An audit entry beside a bare insert of the same row, on {}", test.db.engine()));
    Ok(())
}

struct Entries {
    db: Db,
    tenants: Arc<[TenantId]>,
    append: bool,
    /// How many plain rows stand before it in its unit.
    extra: u64,
    next: Arc<AtomicU64>,
    ids: IdGenerator,
}

impl Entries {
    fn new(db: &Db, tenants: &[TenantId], append: bool, extra: u64) -> Self {
        // Each contestant has numbers of its own in the one table of rows.
        static START: AtomicU64 = AtomicU64::new(1);
        let next = Arc::new(AtomicU64::new(START.fetch_add(1, Ordering::Relaxed) << 40));
        let ids = IdGenerator::new(Arc::new(SystemClock), Arc::new(SystemRandom));
        Self { db: db.clone(), tenants: tenants.into(), append, extra, next, ids }
    }
}

impl Contestant for Entries {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (db, tenants, next, ids) =
            (self.db.clone(), self.tenants.clone(), self.next.clone(), self.ids.clone());
        let (append, extra) = (self.append, self.extra);
        load.run_tasks(move || {
            let (db, ids, number) = (db.clone(), ids.clone(), next.fetch_add(2, Ordering::Relaxed));
            let tenant = tenants[usize::try_from(number / 2).unwrap_or(0) % tenants.len()];
            async move {
                db.write(tenant, move |tx| {
                    for step in 0..extra {
                        insert_bare(tx, number + 1 + step)?;
                    }
                    if append {
                        audit::append(tx, &entry(number), MORNING, &ids)?;
                        return anyhow::Ok(());
                    }
                    insert_bare(tx, number)
                })
                .await
            }
        })
    }
}

fn entry(number: u64) -> NewAuditEntry {
    NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::Agent, "meera"),
        event: AuditEvent::ACT_APPLIED,
        subject: "ledger.add".to_owned(),
        payload: json!({ "amount": number, "to": "Rajan", "items": [{ "name": "atta", "quantity": 2 }] }),
    }
}

fn insert_bare(tx: &mut Tx<'_>, number: u64) -> Result<()> {
    let (seq, payload) = (i64::try_from(number)?, entry(number).payload.to_string());
    tx.execute(
        BARE,
        params![
            seq,
            sequential_id(number),
            MORNING,
            "agent",
            "meera",
            "act.applied",
            "ledger.add",
            payload,
            &[7_u8; 32][..],
            &[8_u8; 32][..]
        ],
    )?;
    Ok(())
}
