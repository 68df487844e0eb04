//! From an address to a binding and its three versions: from memory, and from the database. And on to the whole prompt.

mod turn;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use munshi_store::{MIGRATIONS, PlatformTx, StoreOptions};
use munshi_test_support::database::MORNING;
use munshi_test_support::{DatabaseEngine, TestDb, administer_platform};
use munshi_tiers::files::{self, TenantFolder};
use munshi_tiers::{
    AddressResolution, Authorship, BindingResolver, InstalledNames, ROUTING, VanishedTierPolicy,
};
use munshi_types::Zone;
use munshi_types::tier::{RoutingKey, RoutingKeyKind, TierKind};
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::median_of;
use crate::report::{Goal, Table, render_count, render_verdict};

const BINDINGS: usize = 1_000;
const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the counter.\"\n+++\n\nI count out loud.\n";
const TEAM: &str = "+++\nname = \"Counter\"\nrole = \"You take orders.\"\n+++\n\n1. Say it back.\n";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let runtime = Runtime::new()?;
    let test = runtime.block_on(create_filled())?;
    let resolver = BindingResolver::new(test.db.clone());
    let keys: Vec<RoutingKey> = (0..BINDINGS)
        .map(|number| Ok(RoutingKey::new(RoutingKeyKind::Host, &host(number))?))
        .collect::<Result<_>>()?;
    let began = Instant::now();
    runtime.block_on(async {
        for key in &keys {
            let answer = resolver.resolve(key, None).await?;
            ensure!(matches!(answer, AddressResolution::Bound(_)), "{key} leads nowhere");
        }
        Ok(())
    })?;
    let cold = began.elapsed().as_secs_f64() * 1e6 / BINDINGS as f64;

    let mut table = Table::new(["", "one thread", "four threads", "goal"]);
    for (what, person) in [("from memory, ns", None), ("the same with a slice, ns", Some("+919812345678"))] {
        let figure = |threads| {
            median_of(
                (0..arguments.rounds.max(1))
                    .map(|_| measure_warm(&resolver, &keys, person, threads, arguments.window))
                    .collect(),
            )
        };
        let (one, four) = (figure(1), figure(4));
        table.add_row([
            what.to_owned(),
            render_count(one),
            render_count(four),
            render_verdict(one, Goal::AtMost(1_000.0), 0),
        ]);
    }
    table.add_row(["from the database, µs".to_owned(), render_count(cold), String::new(), String::new()]);
    table.print(&format!("An address among {BINDINGS}, SQLite; each thread's time for one"));
    turn::run(&runtime, &test)
}

/// Nanoseconds that one answer takes a thread.
fn measure_warm(
    resolver: &BindingResolver,
    keys: &[RoutingKey],
    person: Option<&str>,
    threads: usize,
    window: Duration,
) -> f64 {
    let each = |offset: usize| {
        let (began, mut done) = (Instant::now(), 0_usize);
        while began.elapsed() < window {
            for number in 0..1_000 {
                let key = &keys[(offset + done + number * 7) % keys.len()];
                std::hint::black_box(resolver.resolve_cached(key, person));
            }
            done += 1_000;
        }
        began.elapsed().as_secs_f64() * 1e9 / done as f64
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || each(thread * 97))).collect();
        median_of(running.into_iter().filter_map(|thread| thread.join().ok()).collect())
    })
}

/// A tenant with many bindings that share their tiers, half of the people in a slice.
async fn create_filled() -> Result<TestDb> {
    let test = TestDb::open_with(
        DatabaseEngine::Sqlite,
        &[MIGRATIONS, munshi_tiers::MIGRATIONS],
        StoreOptions::default(),
    )
    .await;
    let mut texts = vec![
        (TierKind::Human, "meera".to_owned(), HUMAN.to_owned()),
        (TierKind::Team, "counter".to_owned(), TEAM.to_owned()),
        (TierKind::Agent, "base".to_owned(), "guidance = \"Look first.\"\n".to_owned()),
        (TierKind::Agent, "own".to_owned(), "extends = \"base\"\n".to_owned()),
    ];
    texts.extend((0..BINDINGS).map(|number| (TierKind::Binding, format!("b{number}"), binding(number))));
    fill(&test, "shop", texts).await?;
    Ok(test)
}

/// Applies files to a tenant.
async fn fill(test: &TestDb, tenant: &str, texts: Vec<(TierKind, String, String)>) -> Result<()> {
    let drafts = texts.into_iter().map(|(kind, name, text)| {
        let parsed = files::parse(kind, name.parse()?, &name, text.as_bytes());
        parsed.map_err(|problems| anyhow::anyhow!("{problems:?}"))
    });
    let folder = TenantFolder {
        tenant: tenant.parse()?,
        drafts: drafts.collect::<Result<_>>()?,
        beside: Default::default(),
    };
    let plan =
        munshi_tiers::plan_folder(&test.db, &folder, VanishedTierPolicy::Keep, &InstalledNames::default())
            .await?;
    let by = Authorship { author: "bench".to_owned(), note: String::new(), made_at: MORNING };
    let ids = test.ids.clone();
    let apply = move |tx: &mut PlatformTx<'_>| {
        administer_platform(tx, |tx| munshi_tiers::apply(tx, vec![plan], &Zone::default(), &by, &ids))
    };
    test.db.platform(ROUTING).write(apply).await.context("filling")
}

fn host(number: usize) -> String {
    format!("shop-{number}.example")
}

fn binding(number: usize) -> String {
    format!(
        "human = \"meera\"\nteam = \"counter\"\nagent = \"own\"\nkeys = [\"host:{}\"]\n\n[[slices]]\nname = \"half\"\nshare = 50\nagent = \"base\"\n",
        host(number)
    )
}
