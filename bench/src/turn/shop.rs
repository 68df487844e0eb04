//! A business whose staff write to it, wired as the product wires it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use munshi_agent::ingest::IngestServices;
use munshi_agent::{TurnEngine as Turns, TurnEngineParts, TurnSettings};
use munshi_identity::{Person, Role, persons};
use munshi_jobs::JobQueue;
use munshi_lang::Phrasebook;
use munshi_llm::gateway::{Capability, ModelRoute};
use munshi_pack::PackRegistry;
use munshi_safety::acts::ActServices;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings as Budgets};
use munshi_store::{Db, PlatformTx, StoreOptions, tenants};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_tiers::prompt::FenceKey;
use munshi_tiers::{
    AddressResolution, Authorship, BindingResolution, BindingResolver, InstalledNames, VanishedTierPolicy,
    files,
};
use munshi_tools::{ToolDispatcher, ToolRegistry};
use munshi_types::tier::{Channel, RoutingKey};
use munshi_types::{
    Clock, IdGenerator, InboundMessage, InboundSender, InboundTarget, PersonId, SystemClock, SystemRandom,
    TenantId, Zone,
};
use tokio::runtime::Runtime;

use crate::gateway::{gateway, target};

const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the books of a shop in Pune.\"\n\
    guardrails = [\"never-human\", \"no-secrets\"]\n[speech]\nlanguages = [\"en\", \"hi\", \"hi-latn\"]\nlock = \"open\"\n+++\n\n\
    Kind, short, exact with money. Never in a hurry.\n";
const TEAM: &str = "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n+++\n\n\
    Serve whoever comes. What is not in the books is not known.\n";
const AGENT: &str = "name = \"Plain\"\nguardrails = [\"no-secrets\"]\n[policy]\nautonomy = \"act\"\n";
const BINDING: &str = "human = \"meera\"\nteam = \"counter\"\nagent = \"plain\"\ndoor = \"work\"\n\
                       keys = [\"handle:shop\"]\n";
/// More than ever write at once, so that nobody's turn comes round before their last answer.
const STAFF: usize = 1024;

pub(crate) struct Shop {
    test: TestDb,
    pub(crate) db: Db,
    pub(crate) tenant: TenantId,
    pub(crate) staff: Vec<PersonId>,
    pub(crate) turns: Turns,
    pub(crate) desk: IngestServices,
    pub(crate) place: Arc<BindingResolution>,
    key: RoutingKey,
}

impl Shop {
    pub(crate) fn open_blocking(engine: DatabaseEngine, runtime: &Runtime, model: &str) -> Result<Self> {
        runtime.block_on(Self::open(engine, model))
    }

    async fn open(engine: DatabaseEngine, model: &str) -> Result<Self> {
        let lists = [
            munshi_store::MIGRATIONS,
            munshi_jobs::MIGRATIONS,
            munshi_llm::MIGRATIONS,
            munshi_tiers::MIGRATIONS,
            munshi_identity::MIGRATIONS,
            munshi_safety::MIGRATIONS,
            munshi_agent::MIGRATIONS,
        ];
        let test = TestDb::open_with(engine, &lists, StoreOptions::default()).await;
        let tenant = apply(&test).await?;
        let staff = add_staff(&test, tenant).await?;
        let (db, clock): (Db, Arc<dyn Clock>) = (test.db.clone(), Arc::new(SystemClock));
        let ids = IdGenerator::system();
        let resolver = BindingResolver::new(db.clone());
        let key = "handle:shop".parse().map_err(anyhow::Error::msg)?;
        let place = match resolver.resolve(&key, None).await? {
            AddressResolution::Bound(place) => place,
            _ => anyhow::bail!("nobody answers"),
        };
        let governor = BudgetGovernor::new(Budgets::default(), ids.clone());
        let office = Arc::new(ActServices::new(ids.clone(), governor.clone()));
        let queue = JobQueue::new(clock.clone(), ids.clone());
        let desk = IngestServices { governor: Arc::new(governor), queue: queue.clone(), ids, holder: None };
        let mut book = Phrasebook::core()?;
        munshi_guardrails::add_phrases(&mut book)?;
        let mut target = target(model, "mock");
        target.dialect.stream = false;
        let turns = Turns::new(TurnEngineParts {
            db: db.clone(),
            resolver,
            gateway: gateway(target)?,
            route: Arc::new(ModelRoute {
                targets: [(Capability::Default, vec!["mock".to_owned()])].into(),
                ..ModelRoute::default()
            }),
            dispatcher: ToolDispatcher::new(
                db.clone(),
                office.clone(),
                Arc::new(ToolRegistry::default()),
                clock.clone(),
            ),
            office,
            house: Arc::new(PackRegistry::default()),
            queue,
            book: Arc::new(book),
            clock,
            random: Arc::new(SystemRandom),
            fence_key: FenceKey::new([7; 16]),
            settings: TurnSettings::default(),
            senders: Vec::new(),
        });
        Ok(Self { test, db, tenant, staff, turns, desk, place, key })
    }

    /// Lets the database look at its tables, as a server that has run for a minute has done by itself.
    pub(crate) fn analyze_tables(&self) {
        if self.test.engine() == DatabaseEngine::Postgres {
            self.test.place.run_as_superuser("ANALYZE");
        }
    }

    pub(crate) fn message(&self, person: PersonId) -> InboundMessage {
        InboundMessage {
            channel: Channel::Web,
            to: InboundTarget::Address(self.key.clone()),
            from: InboundSender { person: Some(person), ..InboundSender::default() },
            outside_id: self.desk.ids.next::<munshi_types::MessageId>().to_string(),
            text: "How much does Ramesh owe me, and since when?".to_owned(),
            attached: Vec::new(),
            locale: None,
            sent_at: None,
            reply_to: None,
            screen: Default::default(),
        }
    }
}

async fn apply(test: &TestDb) -> Result<TenantId> {
    let folder = files::read(&write(&test.place.folder())?, None)?.remove(0);
    let installed = InstalledNames { tools: Default::default(), models: ["mock".to_owned()].into() };
    let plan = munshi_tiers::plan_folder(&test.db, &folder, VanishedTierPolicy::Keep, &installed).await?;
    let by = Authorship { author: "bench".to_owned(), note: String::new(), made_at: SystemClock.now() };
    munshi_tiers::apply(&test.db, vec![plan], Zone::default(), by, &test.ids, |_, _, _| Ok(())).await?;
    let name = "shop".parse()?;
    let find = move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name);
    let found = test.db.platform(tenants::TENANTS).read(find).await?;
    Ok(found.context("no tenant")?.id)
}

async fn add_staff(test: &TestDb, tenant: TenantId) -> Result<Vec<PersonId>> {
    let ids = test.ids.clone();
    let hire = move |tx: &mut munshi_store::Tx<'_>| -> Result<Vec<PersonId>, munshi_identity::Error> {
        let mut staff = Vec::new();
        for number in 0..STAFF {
            let name = format!("Asha {number}");
            let person = Person { role: Some(Role::Staff), ..Person::new(&ids, &name, SystemClock.now()) };
            persons::upsert(tx, &person)?;
            staff.push(person.id);
        }
        Ok(staff)
    };
    Ok(test.db.write(tenant, hire).await?)
}

fn write(place: &Path) -> Result<PathBuf> {
    let folder = place.join("shop");
    for (path, text) in [
        ("humans/meera.md", HUMAN),
        ("teams/counter.md", TEAM),
        ("agents/plain.toml", AGENT),
        ("bindings/shop.toml", BINDING),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().context("a file without a folder")?)?;
        std::fs::write(path, text)?;
    }
    Ok(folder)
}
