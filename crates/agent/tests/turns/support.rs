//! A small business with a scripted model and a tool of every effect.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::{MessageReceipt, RunFollower, TurnSettings};
use munshi_conversations::{EventId, RunEvent};
use munshi_identity::Role;
use munshi_llm::pricing::PriceBook;
use munshi_llm::{ModelTarget, Provider, WireFormat};
use munshi_pack::{NewPackRun, PackRegistry, PackRunCause, ToolRuns};
use munshi_safety::acts::Permit;
use munshi_safety::budget::BudgetSettings as Budgets;
use munshi_store::{Db, Migration, Tx, params};
use munshi_test_app::notes::{self, NoteTool, build_foreign_connector, build_house_connector, count_notes};
use munshi_test_app::{TenantFiles, TestApp, build_message, list_migrations, parse_target};
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_test_support::{PATIENCE, TestDb};
use munshi_tools::{
    ChoiceOption, LookupOutcome, ReadToolHandler, RemoteToolHandler, TenantToolSource, ToolFailure,
    ToolHandler, ToolOutput, ToolRegistry, WriteToolHandler,
};
use munshi_types::{Effect, FallbackSearch, InboundMessage, PersonId, Reach, TenantId, ToolSpec};
use serde_json::{Value, json};

use super::transient;

/// Every table that these turns need.
pub(crate) fn migrations() -> Vec<&'static [Migration]> {
    list_migrations(&[munshi_connectors::MIGRATIONS, notes::MIGRATIONS])
}

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

struct Count(Arc<World>);

impl ReadToolHandler for Count {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        self.0.looks.fetch_add(1, Ordering::SeqCst);
        if permit.arguments()["mood"] == "fails" {
            return Err(ToolFailure::permanent("not_found", "nothing is there"));
        }
        Ok(ToolOutput::new(json!({ "count": count_notes(tx)? })))
    }
}

/// Hands work over to a run: its text lists the steps.
struct HandOver(ToolRuns);

impl WriteToolHandler for HandOver {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let input = permit.arguments()["text"].as_str().and_then(|text| serde_json::from_str(text).ok());
        let (kind, cause) = ("sample.listed".to_owned(), PackRunCause::Operation);
        let new = NewPackRun { kind, cause, cause_key: None, input: input.unwrap_or_default() };
        let run = self.0.delegate(tx, permit, &new)?;
        Ok(ToolOutput::new(json!({ "run": run })))
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

/// Knows of somebody what nobody may keep: what it says was planted with the message that asks.
struct Record(Outside);

#[async_trait]
impl RemoteToolHandler for Record {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        self.0.call(permit).await.map_err(|failure| ToolFailure {
            detail: format!("no {} of {}", transient::FINDING, transient::PATIENT),
            ..failure
        })?;
        Ok(transient::record())
    }
}

/// The same out of our own tables.
struct OwnRecord;

impl ReadToolHandler for OwnRecord {
    fn read(&self, _permit: &Permit, _tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        Ok(transient::record())
    }
}

fn spec(name: &str, effect: Effect) -> ToolSpec {
    ToolSpec {
        parameters: json!({ "type": "object", "properties": {
            "text": { "type": "string" }, "mood": { "type": "string" }, "nth": { "type": "integer" },
        } }),
        timeout: Duration::from_secs(3),
        ..notes::build_spec(name, effect)
    }
}

fn registry(world: &Arc<World>, runs: &ToolRuns) -> ToolRegistry {
    let (house, foreign) = (build_house_connector, build_foreign_connector);
    let far = |effect| ToolHandler::Remote(Arc::new(Outside { world: world.clone(), effect }));
    let mut registry = ToolRegistry::default();
    let add =
        |registry: &mut ToolRegistry, spec, connector, body| registry.add(spec, connector, body).unwrap();
    add(
        &mut registry,
        spec("count", Effect::Read),
        house(),
        ToolHandler::Read(Arc::new(Count(world.clone()))),
    );
    add(&mut registry, spec("note", Effect::Inside), house(), ToolHandler::Write(Arc::new(NoteTool)));
    let unnote = ToolHandler::Write(Arc::new(notes::UnnoteTool));
    add(&mut registry, spec(notes::UNNOTE, Effect::Inside), house(), unnote);
    let hand_over = ToolHandler::Write(Arc::new(HandOver(runs.clone())));
    add(&mut registry, spec("leave_work", Effect::Inside), house(), hand_over);
    let mut careful = ToolSpec { destructive: true, ..spec("drop", Effect::Inside) };
    let asked_for = ["{text} hatao", "{text} हटाओ"].map(str::to_owned);
    careful.phrases.insert(munshi_lang::Language::Hindi, asked_for.to_vec());
    add(&mut registry, careful, house(), ToolHandler::Write(Arc::new(NoteTool)));
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
        let spec = ToolSpec { wait_at_most: soft, timeout, ..spec(name, effect) };
        add(&mut registry, spec, foreign(), ToolHandler::Remote(Arc::new(slow)));
    }
    let (soft, timeout) = (Some(Duration::from_millis(1_500)), Duration::from_secs(20));
    let late = Late(Outside { world: world.clone(), effect: Effect::Checked });
    let order = ToolSpec { wait_at_most: soft, timeout, ..spec("late_order", Effect::Checked) };
    add(&mut registry, order, foreign(), ToolHandler::Remote(Arc::new(late)));
    let search = FallbackSearch { tool: "find".parse().unwrap(), argument: "text".to_owned() };
    let balance = ToolSpec { search: Some(search), ..spec("balance", Effect::Read) };
    add(&mut registry, balance, house(), ToolHandler::Read(Arc::new(Balance)));
    add(&mut registry, spec("find", Effect::Read), house(), ToolHandler::Read(Arc::new(Find)));
    add(&mut registry, spec("debtors", Effect::Read), house(), ToolHandler::Read(Arc::new(Debtors)));
    let visit = ToolSpec { destructive: true, reach: Reach::Person, ..spec("cancel_visit", Effect::Inside) };
    add(&mut registry, visit, house(), ToolHandler::Write(Arc::new(NoteTool)));
    let score = ToolSpec { consent: "credit_check".parse().ok(), ..spec("score", Effect::Read) };
    add(&mut registry, score, house(), ToolHandler::Read(Arc::new(Count(world.clone()))));
    let transient = |name: &str| ToolSpec { transient: true, ..spec(name, Effect::Read) };
    let record = Record(Outside { world: world.clone(), effect: Effect::Read });
    add(&mut registry, transient("record"), foreign(), ToolHandler::Remote(Arc::new(record)));
    add(&mut registry, transient("own_record"), house(), ToolHandler::Read(Arc::new(OwnRecord)));
    let credit =
        crate::turns::words::tools().into_iter().find(|tool| tool.name.as_str() == "credit_given").unwrap();
    let credit = ToolSpec { reach: Reach::Business, ..credit.as_ref().clone() };
    add(&mut registry, credit, house(), ToolHandler::Write(Arc::new(NoteTool)));
    registry
}

const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the books of a shop.\"\n\
                     guardrails = [\"never-human\"]\n[speech]\nlanguages = [\"en\", \"hi\", \"hi-latn\"]\n\
                     lock = \"open\"\n+++\n\nKind.\n";
const AGENT: &str = "name = \"Plain\"\n\
    tools = [\"count\", \"balance\", \"find\", \"debtors\", \"note\", \"drop\", \"wipe\", \"fetch\", \"book\", \"order\", \"fax\"]\n\
    guardrails = [\"no-secrets\"]\n[limits]\ntool_calls = 6\ntool_failures = 3\n\
    [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// The business, one process of it.
pub(crate) struct Shop {
    app: TestApp,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) world: Arc<World>,
    pub(crate) tenant: TenantId,
    pub(crate) owner: PersonId,
    pub(crate) staff: PersonId,
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
    /// Whether the model makes vectors, too.
    pub(crate) embeds: bool,
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
            embeds: false,
            shelves: None,
        }
    }
}

impl std::ops::Deref for Shop {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

impl Plan {
    fn start(&self, test: &TestDb, db: Db, provider: Arc<dyn Provider>, world: &Arc<World>) -> TestApp {
        let builder = TestApp::builder(test).with_db(db).with_model(provider).with_summaries();
        let builder = if self.embeds { builder.with_embeddings() } else { builder };
        let builder = builder.with_targets(self.targets.clone()).with_prices(self.prices.clone());
        let builder =
            builder.with_packs(self.house.clone()).with_tools(registry(world, &self.house.tool_runs));
        let builder = builder.with_connectors(self.shelves.clone()).with_budgets(self.budgets.clone());
        builder.with_settings(self.settings.clone()).build()
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
        let (model, world) = (Arc::new(ScriptedModel::new(script)), Arc::default());
        let app = plan.start(test, test.db.clone(), model.clone(), &world);
        let files = TenantFiles::shop("shop").with_file("humans/meera.md", HUMAN).with_agent(&plan.agent);
        let tenant = app.apply_tenant(&files.with_policy(notes::OPEN_POLICY)).await;
        let owner = app.add_person(tenant, "Farid", Some(Role::Owner)).await;
        let staff = app.add_person(tenant, "Asha", Some(Role::Staff)).await;
        Self::around(app, (tenant, owner, staff), (model, world), plan)
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
        let app = plan.start(test, test.open_again().await, model.clone(), &self.world);
        let known = (self.tenant, self.owner, self.staff);
        Self::around(app, known, (model, self.world.clone()), plan)
    }

    /// The same with another model than a scripted one.
    pub(crate) fn thinking_with(
        &self,
        test: &TestDb,
        db: Db,
        provider: Arc<dyn Provider>,
        plan: Plan,
    ) -> Self {
        let app = plan.start(test, db, provider, &self.world);
        let known = (self.tenant, self.owner, self.staff);
        Self::around(app, known, (self.model.clone(), self.world.clone()), plan)
    }

    fn around(
        app: TestApp,
        (tenant, owner, staff): (TenantId, PersonId, PersonId),
        (model, world): (Arc<ScriptedModel>, Arc<World>),
        plan: Plan,
    ) -> Self {
        Self { app, model, world, tenant, owner, staff, plan }
    }

    /// A message of somebody who works here.
    pub(crate) fn message(&self, person: PersonId, id: &str, text: &str) -> InboundMessage {
        build_message(parse_target("handle:shop"), person, id, text)
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
        self.app.wait_for_outcome(received).await
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
        self.db.read(self.tenant, count_notes).await.unwrap()
    }

    pub(crate) async fn binding(&self) -> munshi_types::BindingId {
        let find = |tx: &mut Tx<'_>| {
            tx.one("SELECT id FROM tiers WHERE tenant_id = $1 AND kind = 'binding'", params![], |row| {
                row.get(0)
            })
        };
        self.db.read(self.tenant, find).await.unwrap()
    }

    /// What a run was asked and what it answered.
    pub(crate) async fn messages_of(
        &self,
        run: munshi_types::RunId,
    ) -> Vec<munshi_conversations::messages::Message> {
        self.db
            .read(self.tenant, move |tx| munshi_conversations::messages::list_by_run(tx, run))
            .await
            .unwrap()
    }

    /// One number out of the database.
    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        self.app.read_number(self.tenant, sql).await
    }
}

/// All events that are still to come.
/// The text of a message, of which its id and its text come first.
pub(crate) fn read_text(row: &munshi_store::Row<'_>) -> munshi_store::Result<String> {
    let id: munshi_types::MessageId = row.get(0)?;
    row.get_sealed(1, munshi_store::SealedColumn::new("messages", "text").cell(id))
}

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
