//! Shops whose owners write at a pace of their own, however long answers take.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use munshi_conversations::RunEvent;
use munshi_identity::Role;
use munshi_ledger::LedgerPack;
use munshi_ledger::books::balances;
use munshi_pack::{Pack, PackRegistry};
use munshi_safety::budget::{BudgetSettings as Budgets, UsagePlan};
use munshi_store::StoreOptions;
use munshi_test_app::{TenantFiles, TestApp, TestAppBuilder, build_message, list_migrations};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::{
    Clock, IdGenerator, InboundTarget, MessageId, PersonId, SystemClock, TenantId, TenantName,
};
use tokio::runtime::Runtime;
use tokio::time::Instant;

/// Each shop sends one message in this time.
const PACE: Duration = Duration::from_millis(500);
const BINDING: &str = "counter";

/// What an owner says, with an amount that is never the same twice: the same again would be asked about.
const SAID: [&str; 4] = [
    "Ramesh ko {amount} udhaar diya",
    "{amount} ki bikri hui",
    "Imran ne {amount} diye",
    "Lakshmi ko {amount} udhaar diya",
];

struct Shop {
    tenant: TenantId,
    name: TenantName,
    owner: PersonId,
}

struct Street {
    /// Goes with the street.
    _test: TestDb,
    app: TestApp,
    shops: Vec<Shop>,
}

/// How long each message took, in microseconds, from being sent to the last word of its answer.
pub(super) fn measure(
    engine: DatabaseEngine,
    runtime: &Runtime,
    shops: usize,
    window: Duration,
) -> Result<Vec<u128>> {
    runtime.block_on(async {
        let street = Street::open(engine, shops).await?;
        // Names become known, palettes ready and pages warm before anything is measured.
        for shop in &street.shops {
            for said in SAID {
                street.send_message(shop, &said.replace("{amount}", "50")).await?;
            }
        }
        let before = street.entries().await?;
        let took = street.work(window).await?;
        let written = street.entries().await? - before;
        ensure!(written == i64::try_from(took.len())?, "{written} entries of {} messages", took.len());
        Ok(took)
    })
}

impl Street {
    async fn open(engine: DatabaseEngine, count: usize) -> Result<Self> {
        let lists = list_migrations(&[munshi_ledger::MIGRATIONS]);
        let test = TestDb::open_with(engine, &lists, StoreOptions::default()).await;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let pack: Arc<dyn Pack> = Arc::new(LedgerPack::new(clock.clone(), IdGenerator::system()));
        let app = TestAppBuilder::new(test.db.clone(), clock)
            .with_packs(PackRegistry::install_all(&[pack])?)
            .with_budgets(Budgets { plan: UsagePlan::Business, ..Budgets::default() })
            .build();
        let mut shops = Vec::new();
        for number in 0..count {
            shops.push(create_shop(&app, number).await?);
        }
        Ok(Self { _test: test, app, shops })
    }

    async fn send_message(&self, shop: &Shop, text: &str) -> Result<()> {
        let binding = BINDING.parse().map_err(anyhow::Error::msg)?;
        let to = InboundTarget::Binding { tenant: shop.name.clone(), binding };
        let id = self.app.ids.next::<MessageId>().to_string();
        let received = self.app.engine.receive(build_message(to, shop.owner, &id, text)).await?;
        let mut following = self.app.engine.follow(received.tenant, received.run, None).await?;
        while let Some((_, event)) = following.next().await {
            if let RunEvent::Done { degraded, .. } = event {
                ensure!(!degraded, "an excuse is no answer");
                return Ok(());
            }
        }
        anyhow::bail!("a turn had no end")
    }

    /// Every shop by its own clock: a message goes out when it is due, and waiting for the one before counts.
    async fn work(&self, window: Duration) -> Result<Vec<u128>> {
        let rounds = u32::try_from(window.as_millis() / PACE.as_millis())?.max(1);
        let began = Instant::now() + PACE;
        let each = self.shops.iter().enumerate().map(|(number, shop)| async move {
            let count = u32::try_from(self.shops.len().max(1))?;
            let offset = PACE * u32::try_from(number)? / count;
            let mut took = Vec::new();
            for round in 0..rounds {
                let due = began + offset + PACE * round;
                tokio::time::sleep_until(due).await;
                let said = SAID.get(usize::try_from(round)? % SAID.len()).copied().unwrap_or_default();
                self.send_message(shop, &said.replace("{amount}", &(100 + round).to_string())).await?;
                took.push(due.elapsed().as_micros());
            }
            Ok::<_, anyhow::Error>(took)
        });
        Ok(futures_util::future::try_join_all(each).await?.concat())
    }

    async fn entries(&self) -> Result<i64> {
        let mut sum = 0;
        for shop in &self.shops {
            sum += self.app.db.read(shop.tenant, balances::load_totals).await?.entries;
        }
        Ok(sum)
    }
}

/// The ready tenant under a name of its own, without the address that only one can have.
async fn create_shop(app: &TestApp, number: usize) -> Result<Shop> {
    let (_, ready) =
        app.packs.tenants.iter().find(|(pack, _)| *pack == "ledger").context("no ready tenant")?;
    let name = format!("shop-{number}");
    // Nobody types faster than the limit; sixteen shops at once are to be let.
    let files = TenantFiles::from_template(&name, ready).edit(|text| {
        let lines = text.lines().filter(|line| !line.starts_with("keys = "));
        lines.collect::<Vec<_>>().join("\n").replace("writes_per_minute = 60", "writes_per_minute = 6000")
    });
    let tenant = app.apply_tenant(&files).await;
    let owner = app.add_person(tenant, "Asha", Some(Role::Owner)).await;
    Ok(Shop { tenant, name: name.parse()?, owner })
}
