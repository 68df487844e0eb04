//! One process of an installation, without its server.

use std::sync::Arc;

use munshi_agent::{MessageReceipt, RunOutcome, TurnEngine, TurnEngineParts, TurnSettings};
use munshi_conversations::messages;
use munshi_conversations::outbox::{ChannelSender, FixedSenders};
use munshi_identity::{Person, Role, persons};
use munshi_jobs::JobQueue;
use munshi_lang::Phrasebook;
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{Gateway, ModelTarget, Provider, WireFormat};
use munshi_offline::OfflineProvider;
use munshi_pack::PackRegistry;
use munshi_safety::acts::ActServices;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_store::{Db, Tx, params};
use munshi_test_support::{PATIENCE, TestDb};
use munshi_tiers::prompt::FenceKey;
use munshi_tiers::{BindingResolver, InstalledNames};
use munshi_tools::{TenantToolSource, ToolDispatcher, ToolRegistry};
use munshi_types::{Clock, IdGenerator, PersonId, SystemRandom, TenantId, Zone};

use crate::tenant::TenantFiles;

/// An engine, and the parts that it was made of.
#[derive(Clone)]
pub struct TestApp {
    pub engine: TurnEngine,
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
    pub resolver: BindingResolver,
    pub dispatcher: ToolDispatcher,
    pub act_services: Arc<ActServices>,
    pub queue: JobQueue,
    pub book: Arc<Phrasebook>,
    pub packs: Arc<PackRegistry>,
    installed: InstalledNames,
}

/// What differs from one test's process to another's.
pub struct TestAppBuilder {
    db: Db,
    clock: Arc<dyn Clock>,
    ids: IdGenerator,
    packs: PackRegistry,
    tools: Option<ToolRegistry>,
    connectors: Option<Arc<dyn TenantToolSource>>,
    budgets: BudgetSettings,
    provider: Option<Arc<dyn Provider>>,
    targets: Vec<ModelTarget>,
    prices: PriceBook,
    capabilities: Vec<Capability>,
    templates: bool,
    settings: TurnSettings,
    senders: Vec<Arc<dyn ChannelSender>>,
}

impl TestApp {
    /// On the database of a test, by its clock.
    pub fn builder(test: &TestDb) -> TestAppBuilder {
        TestAppBuilder::new(test.db.clone(), test.clock.clone()).with_ids(test.ids.clone())
    }

    /// Stores a tenant's files and policy as `munshi apply` does it.
    pub async fn apply_tenant(&self, files: &TenantFiles) -> TenantId {
        files.apply(&self.db, &self.ids, self.clock.now(), &self.installed).await
    }

    pub async fn add_person(&self, tenant: TenantId, name: &str, role: Option<Role>) -> PersonId {
        self.add_people(tenant, role, [name.to_owned()]).await.remove(0)
    }

    /// Adds people of one role, in one transaction.
    pub async fn add_people(
        &self,
        tenant: TenantId,
        role: Option<Role>,
        names: impl IntoIterator<Item = String>,
    ) -> Vec<PersonId> {
        let now = self.clock.now();
        let people: Vec<Person> =
            names.into_iter().map(|name| Person { role, ..Person::new(&self.ids, &name, now) }).collect();
        let ids = people.iter().map(|person| person.id).collect();
        let add = move |tx: &mut Tx<'_>| people.iter().try_for_each(|person| persons::upsert(tx, person));
        self.db.write(tenant, add).await.unwrap();
        ids
    }

    /// Waits for the end of what a message began, as its client does: what it asks was shown to them.
    pub async fn wait_for_outcome(&self, received: &MessageReceipt) -> RunOutcome {
        let outcome = self.engine.wait_for_outcome(received.tenant, received.run);
        let outcome = tokio::time::timeout(PATIENCE, outcome).await.expect("no end").unwrap();
        if let Some(reply) = outcome.message.filter(|_| outcome.asks) {
            let message = received.message;
            let stored = self.db.read(received.tenant, move |tx| messages::find(tx, message)).await.unwrap();
            let client =
                stored.and_then(|stored| stored.marks["screen"]["client"].as_str().map(str::to_owned));
            self.engine.note_shown(received.tenant, received.run, reply, client).await;
        }
        outcome
    }

    /// Reads one number out of the database.
    pub async fn read_number(&self, tenant: TenantId, sql: &'static str) -> i64 {
        self.db.read(tenant, move |tx| tx.one(sql, params![], |row| row.get(0))).await.unwrap()
    }
}

impl TestAppBuilder {
    pub fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        Self {
            ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
            db,
            clock,
            packs: PackRegistry::default(),
            tools: None,
            connectors: None,
            budgets: BudgetSettings::default(),
            provider: None,
            targets: Vec::new(),
            prices: PriceBook::default(),
            capabilities: vec![Capability::Default],
            templates: false,
            settings: TurnSettings::default(),
            senders: Vec::new(),
        }
    }

    pub fn with_ids(self, ids: IdGenerator) -> Self {
        Self { ids, ..self }
    }

    /// On another handle of the same database, as a second process has it.
    pub fn with_db(self, db: Db) -> Self {
        Self { db, ..self }
    }

    /// Their tools are the engine's unless others are given.
    pub fn with_packs(self, packs: PackRegistry) -> Self {
        Self { packs, ..self }
    }

    pub fn with_tools(self, tools: ToolRegistry) -> Self {
        Self { tools: Some(tools), ..self }
    }

    pub fn with_connectors(self, connectors: Option<Arc<dyn TenantToolSource>>) -> Self {
        Self { connectors, ..self }
    }

    pub fn with_budgets(self, budgets: BudgetSettings) -> Self {
        Self { budgets, ..self }
    }

    /// A model called `one`, unless targets are given. Without any the offline model answers.
    pub fn with_model(self, provider: Arc<dyn Provider>) -> Self {
        Self { provider: Some(provider), ..self }
    }

    pub fn with_targets(self, targets: Vec<ModelTarget>) -> Self {
        Self { targets, ..self }
    }

    /// What plainly asks for a tool that needs no model is answered by templates, as it is by default.
    pub fn with_templates(self) -> Self {
        Self { templates: true, ..self }
    }

    pub fn with_prices(self, prices: PriceBook) -> Self {
        Self { prices, ..self }
    }

    /// Conversations are summarised by the same models.
    pub fn with_summaries(mut self) -> Self {
        self.capabilities.push(Capability::Summariser);
        self
    }

    /// Vectors come from the model, too.
    #[must_use]
    pub fn with_embeddings(mut self) -> Self {
        self.capabilities.push(Capability::Embeddings);
        self
    }

    pub fn with_settings(self, settings: TurnSettings) -> Self {
        Self { settings, ..self }
    }

    pub fn with_senders(self, senders: Vec<Arc<dyn ChannelSender>>) -> Self {
        Self { senders, ..self }
    }

    pub fn build(self) -> TestApp {
        let Self { db, clock, ids, .. } = self;
        let mut book = match self.packs.book.names().next() {
            Some(_) => self.packs.book.clone(),
            None => Phrasebook::core().unwrap(),
        };
        let (provider, targets) = choose_model(self.provider, self.targets, &book, &clock);
        munshi_guardrails::add_phrases(&mut book).unwrap();
        let (book, packs) = (Arc::new(book), Arc::new(self.packs));
        let registry = Arc::new(self.tools.unwrap_or_else(|| packs.tools.clone()));
        let governor = BudgetGovernor::new(self.budgets, ids.clone());
        let act_services = Arc::new(ActServices::new(ids.clone(), governor).on_refusal(packs.clone()));
        let mut dispatcher =
            ToolDispatcher::new(db.clone(), act_services.clone(), registry.clone(), clock.clone());
        if let Some(connectors) = self.connectors {
            dispatcher = dispatcher.with_connectors(connectors);
        }
        let specs = registry.all().map(|tool| Arc::new(tool.known.spec.clone())).collect();
        let resolver = BindingResolver::new(db.clone()).with_tools(specs);
        let queue = JobQueue::new(clock.clone(), ids.clone());
        let names: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
        let installed = InstalledNames {
            tools: registry.all().filter_map(|tool| tool.known.identity().parse().ok()).collect(),
            models: names.iter().cloned().collect(),
        };
        let route = self.capabilities.into_iter().map(|capability| (capability, names.clone()));
        let engine = TurnEngine::new(TurnEngineParts {
            db: db.clone(),
            resolver: resolver.clone(),
            gateway: Gateway::new(GatewayParts {
                targets,
                provider,
                prices: self.prices,
                clock: clock.clone(),
                random: Arc::new(SystemRandom),
            }),
            route: Arc::new(ModelRoute {
                targets: route.collect(),
                templates: self.templates,
                ..ModelRoute::default()
            }),
            dispatcher: dispatcher.clone(),
            act_services: act_services.clone(),
            packs: packs.clone(),
            queue: queue.clone(),
            phrasebook: book.clone(),
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
            fence_key: FenceKey::new([7; 16]),
            settings: self.settings,
            senders: Arc::new(FixedSenders::new(self.senders)),
        });
        TestApp { engine, db, clock, ids, resolver, dispatcher, act_services, queue, book, packs, installed }
    }
}

fn choose_model(
    provider: Option<Arc<dyn Provider>>,
    targets: Vec<ModelTarget>,
    book: &Phrasebook,
    clock: &Arc<dyn Clock>,
) -> (Arc<dyn Provider>, Vec<ModelTarget>) {
    let (provider, target) = match provider {
        Some(provider) => (provider, ModelTarget::new("one", WireFormat::OpenAi, "", "m")),
        None => {
            let offline = OfflineProvider::new(book.clone()).unwrap();
            let offline: Arc<dyn Provider> =
                Arc::new(offline.with_clock(clock.clone(), Zone::default().to_jiff()));
            (offline, ModelTarget::offline())
        }
    };
    (provider, if targets.is_empty() { vec![target] } else { targets })
}
