//! Shops whose owners write at a pace of their own, however long answers take.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use munshi_agent::{RunEvent, TurnEngine as Turns, TurnEngineParts, TurnSettings};
use munshi_identity::{Person, Role, persons};
use munshi_jobs::JobQueue;
use munshi_ledger::LedgerPack;
use munshi_ledger::books::balances;
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{Gateway, ModelTarget};
use munshi_offline::OfflineProvider;
use munshi_pack::{Pack, PackRegistry, TenantTemplate};
use munshi_safety::acts::ActServices;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings as Budgets, UsagePlan};
use munshi_safety::policy;
use munshi_store::{Db, PlatformTx, StoreOptions, tenants};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_tiers::prompt::FenceKey;
use munshi_tiers::{Authorship, BindingResolver, InstalledNames, VanishedTierPolicy, files};
use munshi_tools::ToolDispatcher;
use munshi_types::tier::Channel;
use munshi_types::{
    Clock, IdGenerator, InboundMessage, InboundSender, InboundTarget, MessageId, PersonId, SystemClock,
    SystemRandom, TenantId, TenantName, Zone,
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
    db: Db,
    turns: Turns,
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
        let lists = [
            munshi_store::MIGRATIONS,
            munshi_jobs::MIGRATIONS,
            munshi_llm::MIGRATIONS,
            munshi_tiers::MIGRATIONS,
            munshi_identity::MIGRATIONS,
            munshi_safety::MIGRATIONS,
            munshi_agent::MIGRATIONS,
            munshi_ledger::MIGRATIONS,
        ];
        let test = TestDb::open_with(engine, &lists, StoreOptions::default()).await;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let pack: Arc<dyn Pack> = Arc::new(LedgerPack::new(clock.clone(), IdGenerator::system()));
        let house = PackRegistry::install_all(&[pack])?;
        let mut shops = Vec::new();
        for number in 0..count {
            shops.push(create_shop(&test, &house, number).await?);
        }
        let db = test.db.clone();
        let turns = build_engine(&db, &clock, house)?;
        Ok(Self { _test: test, db, turns, shops })
    }

    async fn send_message(&self, shop: &Shop, text: &str) -> Result<()> {
        let binding = BINDING.parse().map_err(anyhow::Error::msg)?;
        let message = InboundMessage {
            channel: Channel::Web,
            to: InboundTarget::Binding { tenant: shop.name.clone(), binding },
            from: InboundSender { person: Some(shop.owner), ..InboundSender::default() },
            outside_id: IdGenerator::system().next::<MessageId>().to_string(),
            text: text.to_owned(),
            attached: Vec::new(),
            locale: None,
            sent_at: None,
            reply_to: None,
            screen: Default::default(),
        };
        let received = self.turns.receive(message).await?;
        let mut following = self.turns.follow(received.tenant, received.run, None).await?;
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
            sum += self.db.read(shop.tenant, balances::load_totals).await?.entries;
        }
        Ok(sum)
    }
}

fn build_engine(db: &Db, clock: &Arc<dyn Clock>, house: PackRegistry) -> Result<Turns> {
    let ids = IdGenerator::system();
    let governor =
        BudgetGovernor::new(Budgets { plan: UsagePlan::Business, ..Budgets::default() }, ids.clone());
    let office = Arc::new(ActServices::new(ids.clone(), governor));
    let registry = Arc::new(house.tools.clone());
    let specs: Vec<_> = registry
        .names()
        .filter_map(|name| registry.get(name.as_str()))
        .map(|tool| Arc::new(tool.known.spec.clone()))
        .collect();
    let mut book = house.book.clone();
    munshi_guardrails::add_phrases(&mut book)?;
    let target = ModelTarget::offline();
    let route = ModelRoute {
        targets: [(Capability::Default, vec![target.name.clone()])].into(),
        ..ModelRoute::default()
    };
    let offline =
        OfflineProvider::new(house.book.clone())?.with_clock(clock.clone(), Zone::default().to_jiff());
    let gateway = Gateway::new(GatewayParts {
        targets: vec![target],
        provider: Arc::new(offline),
        prices: PriceBook::default(),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
    });
    Ok(Turns::new(TurnEngineParts {
        db: db.clone(),
        resolver: BindingResolver::new(db.clone()).with_tools(specs),
        gateway,
        route: Arc::new(route),
        dispatcher: ToolDispatcher::new(db.clone(), office.clone(), registry, clock.clone()),
        office,
        house: Arc::new(house),
        queue: JobQueue::new(clock.clone(), ids),
        book: Arc::new(book),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
        fence_key: FenceKey::new([7; 16]),
        settings: TurnSettings::default(),
        senders: Vec::new(),
    }))
}

/// The ready tenant under a name of its own, without the address that only one can have.
async fn create_shop(test: &TestDb, house: &PackRegistry, number: usize) -> Result<Shop> {
    let (_, ready) = house.tenants.iter().find(|(pack, _)| *pack == "ledger").context("no ready tenant")?;
    let name = format!("shop-{number}");
    let folder = write(&test.place.folder().join(&name), ready)?;
    let installed = InstalledNames {
        tools: house.tools.names().map(ToString::to_string).collect(),
        models: [ModelTarget::offline().name].into(),
    };
    let read = files::read(&folder, None)?.remove(0);
    let plan = munshi_tiers::plan_folder(&test.db, &read, VanishedTierPolicy::Keep, &installed).await?;
    let now = SystemClock.now();
    let by = Authorship { author: "bench".to_owned(), note: String::new(), made_at: now };
    munshi_tiers::apply(&test.db, vec![plan], Zone::default(), by, &test.ids, |_, _, _| Ok(())).await?;
    let name: TenantName = name.parse()?;
    let find = {
        let name = name.clone();
        move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name)
    };
    let tenant = test.db.platform(tenants::TENANTS).read(find).await?.context("no tenant")?.id;
    let rules = ready.files.iter().find(|file| file.path == "policy.toml").context("no policy")?.text;
    // Nobody types faster than its limit; sixteen shops at once are to be let.
    let rules = policy::parse(&rules.replace("writes_per_minute = 60", "writes_per_minute = 6000"))
        .map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let owner = Person { role: Some(Role::Owner), ..Person::new(&test.ids, "Asha", now) };
    let id = owner.id;
    let people = move |tx: &mut munshi_store::Tx<'_>| -> Result<(), munshi_safety::Error> {
        policy::apply(tx, &rules, "bench", "", now)?;
        persons::upsert(tx, &owner)?;
        Ok(())
    };
    test.db.write(tenant, people).await?;
    Ok(Shop { tenant, name, owner: id })
}

fn write(folder: &Path, ready: &TenantTemplate) -> Result<PathBuf> {
    for file in ready.files.iter().filter(|file| file.path != "policy.toml") {
        let path = folder.join(file.path);
        std::fs::create_dir_all(path.parent().context("a file without a folder")?)?;
        let lines = file.text.lines().filter(|line| !line.starts_with("keys = "));
        std::fs::write(path, lines.collect::<Vec<_>>().join("\n"))?;
    }
    Ok(folder.to_owned())
}
