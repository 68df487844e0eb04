//! A small business with a scripted model and a tool of every effect.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::{
    EventId, MessageReceipt, RunEvent, RunFollower, TurnEngine, TurnEngineParts, TurnSettings,
};
use munshi_identity::{Person, Role, persons};
use munshi_jobs::JobQueue;
use munshi_lang::Phrasebook;
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{Gateway, ModelTarget, Provider, WireFormat};
use munshi_pack::PackRegistry;
use munshi_safety::acts::{ActServices, Permit};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings as Budgets};
use munshi_safety::policy;
use munshi_store::{Db, Migration, Tx, params};
use munshi_test_support::database::MORNING;
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_test_support::{PATIENCE, TestDb};
use munshi_tiers::{Authorship, BindingResolver, InstalledNames, VanishedTierPolicy, files};
use munshi_tools::{
    ChoiceOption, ConnectorOrigin, LookupOutcome, ReadToolHandler, RemoteToolHandler, TenantToolSource,
    ToolConnector, ToolDispatcher, ToolFailure, ToolHandler, ToolOutput, ToolRegistry, WriteToolHandler,
};
use munshi_types::tier::Channel;
use munshi_types::{
    Clock, Effect, FallbackSearch, InboundMessage, InboundSender, InboundTarget, PersonId, Reach,
    SystemRandom, TenantId, ToolSpec, Zone,
};
use serde_json::{Value, json};

pub(crate) const NOTES: &[Migration] = &[Migration {
    name: "9001_notes",
    text: "CREATE TENANT TABLE notes (tenant_id UUID NOT NULL, act_id UUID NOT NULL, text TEXT NOT NULL,
           PRIMARY KEY (tenant_id, act_id));",
}];

/// What was done to the world outside, and how it behaves.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) done: Mutex<Vec<String>>,
    pub(crate) calls: AtomicU32,
    pub(crate) looks: AtomicU32,
    /// Calls that wait to be let.
    pub(crate) began: AtomicU32,
    /// Tools hang after their effect.
    pub(crate) hangs: std::sync::atomic::AtomicBool,
    /// Tools that take long come to their end.
    released: std::sync::atomic::AtomicBool,
}

impl World {
    pub(crate) fn effects(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }

    pub(crate) fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
    }
}

/// Does its work, and says so only when it is let.
struct Slow(Outside);

#[async_trait]
impl RemoteToolHandler for Slow {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        let done = self.0.call(permit).await;
        while !self.0.world.released.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        done
    }
}

/// Does its work only when it is let.
struct Late(Outside);

#[async_trait]
impl RemoteToolHandler for Late {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        self.0.world.began.fetch_add(1, Ordering::SeqCst);
        while !self.0.world.released.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.0.call(permit).await
    }

    async fn look_up(&self, permit: &Permit) -> Result<LookupOutcome, ToolFailure> {
        self.0.look_up(permit).await
    }
}

struct Outside {
    world: Arc<World>,
    effect: Effect,
}

#[async_trait]
impl RemoteToolHandler for Outside {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        self.world.calls.fetch_add(1, Ordering::SeqCst);
        if permit.arguments()["mood"] == "fails" {
            return Err(ToolFailure::permanent("no_such_thing", "there is none"));
        }
        let key = permit.idempotency_key();
        if self.effect != Effect::Read {
            let mut done = self.world.done.lock().unwrap();
            if self.effect != Effect::Keyed || !done.contains(&key) {
                done.push(key.clone());
            }
        }
        if self.world.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        Ok(ToolOutput::new(json!({ "booked": permit.arguments()["text"], "key": key })))
    }

    async fn look_up(&self, permit: &Permit) -> Result<LookupOutcome, ToolFailure> {
        let found = self.world.effects().contains(&permit.idempotency_key());
        Ok(match (self.effect, found) {
            (Effect::Checked, true) => LookupOutcome::Happened(ToolOutput::new(json!({ "found": true }))),
            (Effect::Checked, false) => LookupOutcome::DidNot,
            _ => LookupOutcome::CanNotTell,
        })
    }
}

struct Notes;

impl WriteToolHandler for Notes {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let text = permit.arguments()["text"].as_str().unwrap_or_default();
        tx.execute(
            "INSERT INTO notes (tenant_id, act_id, text) VALUES ($1, $2, $3)",
            params![permit.act(), text],
        )?;
        Ok(ToolOutput::new(json!({ "noted": text })))
    }
}

struct Count(Arc<World>);

impl ReadToolHandler for Count {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        self.0.looks.fetch_add(1, Ordering::SeqCst);
        if permit.arguments()["mood"] == "fails" {
            return Err(ToolFailure::permanent("not_found", "nothing is there"));
        }
        let count: i64 =
            tx.one("SELECT COUNT(*) FROM notes WHERE tenant_id = $1", params![], |row| row.get(0))?;
        Ok(ToolOutput::new(json!({ "count": count })))
    }
}

/// Knows three people, two of one name.
struct Balance;

impl ReadToolHandler for Balance {
    fn read(&self, permit: &Permit, _tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let of = permit.arguments()["text"].as_str().unwrap_or_default();
        match of {
            "Ramesh" => {
                let choices = vec![
                    ChoiceOption::new("Ramesh Kumar", "Ramesh Kumar"),
                    ChoiceOption::new("Ramesh Gupta", "Ramesh Gupta"),
                ];
                Err(ToolFailure::ambiguous("text", choices))
            }
            "Ramesh Kumar" | "Ramesh Gupta" => Ok(ToolOutput::new(
                json!({ "customers": [{ "id": "c-17", "name": of, "balance_paise": 45000 }] }),
            )),
            other => Err(ToolFailure::not_found(other)),
        }
    }
}

/// Knows what people are called.
struct Find;

impl ReadToolHandler for Find {
    fn read(&self, permit: &Permit, _tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let found = match permit.arguments()["text"].as_str().unwrap_or_default() {
            "Guptaji" => json!([{ "id": "c-9", "name": "Ramesh Gupta" }]),
            _ => json!([]),
        };
        Ok(ToolOutput::new(json!({ "customers": found })))
    }
}

/// Names somebody whom nobody here has met.
struct Debtors;

impl ReadToolHandler for Debtors {
    fn read(&self, _permit: &Permit, _tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let owing = json!([{ "id": "c-9", "name": "Zubeida", "balance_paise": 120_000 }]);
        Ok(ToolOutput::new(json!({ "customers": owing, "for": { "customer_name": "Pratibha Menon" } })))
    }
}

fn spec(name: &str, effect: Effect) -> ToolSpec {
    ToolSpec {
        parameters: json!({ "type": "object", "properties": {
            "text": { "type": "string" }, "mood": { "type": "string" }, "nth": { "type": "integer" },
        } }),
        effect,
        reach: Reach::Business,
        timeout: Duration::from_secs(3),
        ..ToolSpec::read_only(name.parse().unwrap(), format!("Does {name}."), format!("shop.{name}"))
    }
}

fn registry(world: &Arc<World>) -> ToolRegistry {
    let house = || ToolConnector {
        name: "shop".to_owned(),
        maker: ConnectorOrigin::House,
        declares: true,
        conduct: None,
    };
    let foreign = || ToolConnector {
        name: "elsewhere".to_owned(),
        maker: ConnectorOrigin::Foreign,
        declares: true,
        conduct: None,
    };
    let far = |effect| ToolHandler::Far(Arc::new(Outside { world: world.clone(), effect }));
    let mut registry = ToolRegistry::default();
    let add =
        |registry: &mut ToolRegistry, spec, connector, body| registry.add(spec, connector, body).unwrap();
    add(
        &mut registry,
        spec("count", Effect::Read),
        house(),
        ToolHandler::Look(Arc::new(Count(world.clone()))),
    );
    add(&mut registry, spec("note", Effect::Inside), house(), ToolHandler::Write(Arc::new(Notes)));
    let mut careful = ToolSpec { destructive: true, ..spec("drop", Effect::Inside) };
    let asked_for = ["{text} hatao", "{text} हटाओ"].map(str::to_owned);
    careful.phrases.insert(munshi_lang::Language::Hindi, asked_for.to_vec());
    add(&mut registry, careful, house(), ToolHandler::Write(Arc::new(Notes)));
    let grave = ToolSpec { dangerous: true, ..spec("wipe", Effect::Keyed) };
    add(&mut registry, grave, foreign(), far(Effect::Keyed));
    add(&mut registry, spec("fetch", Effect::Read), foreign(), far(Effect::Read));
    add(&mut registry, spec("book", Effect::Keyed), foreign(), far(Effect::Keyed));
    add(&mut registry, spec("order", Effect::Checked), foreign(), far(Effect::Checked));
    add(&mut registry, spec("fax", Effect::Once), foreign(), far(Effect::Once));
    let (soon, never) = (Duration::from_millis(250), PATIENCE);
    for (name, effect, soft) in [
        ("slow_fetch", Effect::Read, soon),
        ("quick_fetch", Effect::Read, never),
        ("slow_book", Effect::Keyed, soon),
        ("slow_fax", Effect::Once, soon),
    ] {
        let (soft, timeout) = (Some(soft), Duration::from_secs(20));
        let slow = Slow(Outside { world: world.clone(), effect });
        let spec = ToolSpec { soft, timeout, ..spec(name, effect) };
        add(&mut registry, spec, foreign(), ToolHandler::Far(Arc::new(slow)));
    }
    let (soft, timeout) = (Some(Duration::from_millis(1_500)), Duration::from_secs(20));
    let late = Late(Outside { world: world.clone(), effect: Effect::Checked });
    let order = ToolSpec { soft, timeout, ..spec("late_order", Effect::Checked) };
    add(&mut registry, order, foreign(), ToolHandler::Far(Arc::new(late)));
    let search = FallbackSearch { tool: "find".parse().unwrap(), argument: "text".to_owned() };
    let balance = ToolSpec { search: Some(search), ..spec("balance", Effect::Read) };
    add(&mut registry, balance, house(), ToolHandler::Look(Arc::new(Balance)));
    add(&mut registry, spec("find", Effect::Read), house(), ToolHandler::Look(Arc::new(Find)));
    add(&mut registry, spec("debtors", Effect::Read), house(), ToolHandler::Look(Arc::new(Debtors)));
    let credit =
        crate::turns::words::tools().into_iter().find(|tool| tool.name.as_str() == "credit_given").unwrap();
    let credit = ToolSpec { reach: Reach::Business, ..credit.as_ref().clone() };
    add(&mut registry, credit, house(), ToolHandler::Write(Arc::new(Notes)));
    registry
}

pub(crate) const POLICY: &str = "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
                      [connectors.elsewhere]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the books of a shop.\"\n\
                     guardrails = [\"never-human\"]\n[speech]\nlanguages = [\"en\", \"hi\", \"hi-latn\"]\n\
                     lock = \"open\"\n+++\n\nKind.\n";
const TEAM: &str =
    "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n+++\n\nServe.\n";
const AGENT: &str = "name = \"Plain\"\n\
    tools = [\"count\", \"balance\", \"find\", \"debtors\", \"note\", \"drop\", \"wipe\", \"fetch\", \"book\", \"order\", \"fax\"]\n\
    guardrails = [\"no-secrets\"]\n[limits]\ntool_calls = 6\ntool_failures = 3\n\
    [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
const BINDING: &str = "human = \"meera\"\nteam = \"counter\"\nagent = \"plain\"\ndoor = \"work\"\n\
                       keys = [\"handle:shop\"]\n";

/// The business, one process of it.
pub(crate) struct Shop {
    pub(crate) engine: TurnEngine,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) world: Arc<World>,
    pub(crate) db: Db,
    pub(crate) tenant: TenantId,
    pub(crate) owner: PersonId,
    pub(crate) staff: PersonId,
    pub(crate) office: Arc<ActServices>,
    pub(crate) dispatcher: ToolDispatcher,
    pub(crate) book: Arc<Phrasebook>,
    plan: Plan,
}

/// What differs from shop to shop.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) budgets: Budgets,
    pub(crate) agent: String,
    pub(crate) targets: Vec<ModelTarget>,
    pub(crate) prices: PriceBook,
    pub(crate) house: PackRegistry,
    pub(crate) settings: TurnSettings,
    /// Where tools of connectors stand.
    pub(crate) shelves: Option<Arc<dyn TenantToolSource>>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            budgets: Budgets::default(),
            agent: AGENT.to_owned(),
            targets: vec![ModelTarget::new("one", WireFormat::OpenAi, "", "m")],
            prices: PriceBook::default(),
            house: PackRegistry::default(),
            settings: TurnSettings::default(),
            shelves: None,
        }
    }
}

impl Shop {
    pub(crate) async fn open(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::open_with(test, script, Plan::default()).await
    }

    pub(crate) async fn open_with(
        test: &TestDb,
        script: impl IntoIterator<Item = ScriptedTurn>,
        plan: Plan,
    ) -> Self {
        let folder = folder(&test.place.folder(), &plan.agent);
        let installed = InstalledNames {
            tools: registry(&Arc::default()).names().map(ToString::to_string).collect(),
            models: plan.targets.iter().map(|target| target.name.clone()).collect(),
        };
        let folder = files::read(&folder, None).unwrap().remove(0);
        let made =
            munshi_tiers::plan_folder(&test.db, &folder, VanishedTierPolicy::Keep, &installed).await.unwrap();
        let by = Authorship { author: "asha".to_owned(), note: String::new(), made_at: MORNING };
        munshi_tiers::apply(&test.db, vec![made], Zone::default(), by, &test.ids, |_, _, _| Ok(()))
            .await
            .unwrap();
        let find = |tx: &mut munshi_store::PlatformTx<'_>| {
            munshi_store::tenants::find_by_name(tx, &"shop".parse().unwrap())
        };
        let tenant = test.db.platform(munshi_store::tenants::TENANTS).read(find).await.unwrap().unwrap().id;
        let ids = test.ids.clone();
        let people = test.db.write(tenant, move |tx| -> Result<_, munshi_safety::Error> {
            policy::apply(tx, &policy::parse(POLICY).unwrap(), "test", "", MORNING)?;
            let owner = Person { role: Some(Role::Owner), ..Person::new(&ids, "Farid", MORNING) };
            let staff = Person { role: Some(Role::Staff), ..Person::new(&ids, "Asha", MORNING) };
            persons::upsert(tx, &owner)?;
            persons::upsert(tx, &staff)?;
            Ok((owner.id, staff.id))
        });
        let (owner, staff) = people.await.unwrap();
        let model = Arc::new(ScriptedModel::new(script));
        Self::process(test, test.db.clone(), (tenant, owner, staff), (model, Arc::default()), plan)
    }

    /// Another process on the same database and in the same world.
    pub(crate) async fn again(&self, test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        self.beside(test, script, self.plan.clone()).await
    }

    /// The same with a plan of its own.
    pub(crate) async fn beside(
        &self,
        test: &TestDb,
        script: impl IntoIterator<Item = ScriptedTurn>,
        plan: Plan,
    ) -> Self {
        let model = Arc::new(ScriptedModel::new(script));
        let known = (self.tenant, self.owner, self.staff);
        Self::process(test, test.open_again().await, known, (model, self.world.clone()), plan)
    }

    fn process(
        test: &TestDb,
        db: Db,
        (tenant, owner, staff): (TenantId, PersonId, PersonId),
        (model, world): (Arc<ScriptedModel>, Arc<World>),
        plan: Plan,
    ) -> Self {
        Self::with_provider(test, db, (tenant, owner, staff), (model.clone(), model, world), plan)
    }

    pub(crate) fn with_provider(
        test: &TestDb,
        db: Db,
        (tenant, owner, staff): (TenantId, PersonId, PersonId),
        (model, provider, world): (Arc<ScriptedModel>, Arc<dyn Provider>, Arc<World>),
        plan: Plan,
    ) -> Self {
        let (clock, kept): (Arc<dyn Clock>, Plan) = (test.clock.clone(), plan.clone());
        let registry = Arc::new(registry(&world));
        let governor = BudgetGovernor::new(plan.budgets, test.ids.clone());
        let office = Arc::new(ActServices::new(test.ids.clone(), governor));
        let mut dispatcher = ToolDispatcher::new(db.clone(), office.clone(), registry.clone(), clock.clone());
        if let Some(shelves) = plan.shelves {
            dispatcher = dispatcher.with_connectors(shelves);
        }
        let specs = registry.names().map(|name| registry.get(name.as_str()).unwrap().known.spec.clone());
        let resolver = BindingResolver::new(db.clone()).with_tools(specs.map(Arc::new).collect());
        let names: Vec<String> = plan.targets.iter().map(|target| target.name.clone()).collect();
        let gateway = Gateway::new(GatewayParts {
            targets: plan.targets,
            provider,
            prices: plan.prices,
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
        });
        let mut book = Phrasebook::core().unwrap();
        munshi_guardrails::add_phrases(&mut book).unwrap();
        let book = Arc::new(book);
        let engine = TurnEngine::new(TurnEngineParts {
            db: db.clone(),
            resolver,
            gateway,
            route: Arc::new(ModelRoute {
                targets: [(Capability::Default, names.clone()), (Capability::Summariser, names)].into(),
                ..ModelRoute::default()
            }),
            dispatcher: dispatcher.clone(),
            office: office.clone(),
            house: Arc::new(plan.house),
            queue: JobQueue::new(clock.clone(), test.ids.clone()),
            book: book.clone(),
            clock,
            random: Arc::new(SystemRandom),
            fence_key: munshi_tiers::prompt::FenceKey::new([7; 16]),
            settings: plan.settings,
            senders: Vec::new(),
        });
        Self { engine, model, world, db, tenant, owner, staff, office, dispatcher, book, plan: kept }
    }

    /// A message of somebody who works here.
    pub(crate) fn message(&self, person: PersonId, id: &str, text: &str) -> InboundMessage {
        InboundMessage {
            channel: Channel::Web,
            to: InboundTarget::Address("handle:shop".parse().unwrap()),
            from: InboundSender { person: Some(person), ..InboundSender::default() },
            outside_id: id.to_owned(),
            text: text.to_owned(),
            attached: Vec::new(),
            locale: None,
            sent_at: None,
            reply_to: None,
            screen: Default::default(),
        }
    }

    pub(crate) async fn say(&self, id: &str, text: &str) -> MessageReceipt {
        self.engine.receive(self.message(self.staff, id, text)).await.unwrap()
    }

    /// Says something and waits for the end.
    pub(crate) async fn ask(&self, id: &str, text: &str) -> munshi_agent::RunOutcome {
        let received = self.say(id, text).await;
        self.outcome(&received).await
    }

    pub(crate) async fn outcome(&self, received: &MessageReceipt) -> munshi_agent::RunOutcome {
        let outcome = self.engine.wait_for_outcome(received.tenant, received.run);
        tokio::time::timeout(PATIENCE, outcome).await.expect("no end").unwrap()
    }

    /// All events of a run from behind one.
    pub(crate) async fn events(
        &self,
        received: &MessageReceipt,
        after: Option<EventId>,
    ) -> Vec<(EventId, RunEvent)> {
        let following = self.engine.follow(received.tenant, received.run, after).await.unwrap();
        self::events(following).await
    }

    pub(crate) async fn notes(&self) -> i64 {
        let count = |tx: &mut Tx<'_>| {
            tx.one("SELECT COUNT(*) FROM notes WHERE tenant_id = $1", params![], |row| row.get(0))
        };
        self.db.read(self.tenant, count).await.unwrap()
    }

    pub(crate) async fn binding(&self) -> munshi_types::BindingId {
        let find = |tx: &mut Tx<'_>| {
            tx.one("SELECT id FROM tiers WHERE tenant_id = $1 AND kind = 'binding'", params![], |row| {
                row.get(0)
            })
        };
        self.db.read(self.tenant, find).await.unwrap()
    }

    /// One number out of the database.
    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        self.db.read(self.tenant, move |tx| tx.one(sql, params![], |row| row.get(0))).await.unwrap()
    }
}

fn folder(place: &std::path::Path, agent: &str) -> PathBuf {
    let folder = place.join("shop");
    for (path, text) in [
        ("humans/meera.md", HUMAN),
        ("teams/counter.md", TEAM),
        ("agents/plain.toml", agent),
        ("bindings/shop.toml", BINDING),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// All events that are still to come.
pub(crate) async fn events(mut following: RunFollower) -> Vec<(EventId, RunEvent)> {
    let mut events = Vec::new();
    while let Some(event) = tokio::time::timeout(PATIENCE, following.next()).await.expect("no event") {
        events.push(event);
    }
    events
}

/// The words of a stream, as a client puts them together.
pub(crate) fn text_of(events: &[(EventId, RunEvent)]) -> String {
    let mut text = String::new();
    for (_, event) in events {
        match event {
            RunEvent::Token { text: more } => text.push_str(more),
            RunEvent::Reset { .. } => text.clear(),
            _ => {}
        }
    }
    text
}

pub(crate) fn arguments(text: &str) -> Value {
    json!({ "text": text })
}
