//! An act of a connector that is not there when its run goes on: it waits for the tool, and is never taken for another one.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::MessageReceipt;
use munshi_conversations::{RunRecoveryScope, RunState};
use munshi_safety::acts::Permit;
use munshi_safety::approvals::ApprovalDecision;
use munshi_safety::policy;
use munshi_store::{Tx, params};
use munshi_test_support::database::MORNING;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{TestDb, wait_until};
use munshi_tools::{
    ConnectorOrigin, NoActJournal, RemoteToolHandler, Result, TenantToolSource, TenantTools, ToolConnector,
    ToolFailure, ToolHandler, ToolOutput, ToolRegistry,
};
use munshi_types::{Effect, Reach, TenantId, ToolSpec};
use serde_json::{Value, json};

use crate::turns::approvals::answer;
use crate::turns::support::{Plan, Shop};

const AGENT: &str = "name = \"Plain\"\ntools = [\"count\"]\nconnectors = [\"books\", \"other\"]\n\
                     [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
/// Long enough that whoever does not wait has gone on by then.
const A_WHILE: Duration = Duration::from_millis(400);

const SAID: &str = "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND speaker = 'persona'";

#[derive(Default)]
struct Service {
    done: Mutex<Vec<Value>>,
    hangs: AtomicBool,
}

struct Add(Arc<Service>);

#[async_trait]
impl RemoteToolHandler for Add {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        self.0.done.lock().unwrap().push(permit.arguments().clone());
        if self.0.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        Ok(ToolOutput::new(json!({ "added": true })))
    }
}

/// A host whose connector is there, is starting, or is gone; another may bring a tool of the same name meanwhile.
struct Host {
    tools: Arc<TenantTools>,
    others: Arc<TenantTools>,
    is_there: AtomicBool,
    is_other_there: AtomicBool,
    is_settled: AtomicBool,
    /// How many more looks find it settled, whatever it is: a connector may go away behind them.
    settled_looks: AtomicU32,
}

impl Host {
    fn set(&self, is_there: bool, is_settled: bool) {
        self.is_there.store(is_there, Ordering::SeqCst);
        self.is_settled.store(is_settled, Ordering::SeqCst);
    }
}

impl TenantToolSource for Host {
    fn tenant_tools(&self, _tenant: TenantId) -> Arc<TenantTools> {
        match (self.is_there.load(Ordering::SeqCst), self.is_other_there.load(Ordering::SeqCst)) {
            (true, _) => self.tools.clone(),
            (false, true) => self.others.clone(),
            (false, false) => Arc::default(),
        }
    }

    fn is_settled(&self, _tenant: TenantId) -> bool {
        let less = |looks: u32| looks.checked_sub(1);
        let was_settled = self.settled_looks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok();
        was_settled || self.is_settled.load(Ordering::SeqCst)
    }
}

/// Adds lines for a connector; how often it was asked is the service's to count.
fn tools(connector: &str, effect: Effect, service: &Arc<Service>) -> Arc<TenantTools> {
    let mut registry = ToolRegistry::default();
    let read = ToolSpec::read_only("books_add".parse().unwrap(), "Adds a line.", "books.line.add");
    let parameters = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let spec = ToolSpec { effect, reach: Reach::Business, parameters, ..read };
    let connector = ToolConnector {
        name: connector.to_owned(),
        origin: ConnectorOrigin::Foreign,
        declares: true,
        conduct: None,
    };
    registry.add(spec, connector, ToolHandler::Remote(Arc::new(Add(service.clone())))).unwrap();
    Arc::new(TenantTools::new(registry, BTreeSet::new()))
}

struct Books {
    shop: Shop,
    service: Arc<Service>,
    other: Arc<Service>,
    host: Arc<Host>,
}

impl Books {
    async fn open(test: &TestDb, level: &str, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::open_with(test, level, Effect::Once, script).await
    }

    async fn open_with(
        test: &TestDb,
        level: &str,
        effect: Effect,
        script: impl IntoIterator<Item = ScriptedTurn>,
    ) -> Self {
        let (service, other) = (Arc::new(Service::default()), Arc::new(Service::default()));
        let host = Arc::new(Host {
            tools: tools("books", effect, &service),
            others: tools("other", effect, &other),
            is_there: AtomicBool::new(true),
            is_other_there: AtomicBool::new(false),
            is_settled: AtomicBool::new(true),
            settled_looks: AtomicU32::new(0),
        });
        let plan = Plan { agent: AGENT.to_owned(), shelves: Some(host.clone()), ..Plan::default() };
        let shop = Shop::open_with(test, script, plan).await;
        let text = format!(
            "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
             [connectors.books]\nautonomy = \"{level}\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
             [connectors.other]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n"
        );
        let policy = policy::parse(&text).unwrap();
        let put = move |tx: &mut Tx<'_>| policy::apply(tx, &policy, "test", "", MORNING).map(drop);
        shop.db.write(shop.tenant, put).await.unwrap();
        Self { shop, service, other, host }
    }

    fn done(&self) -> usize {
        self.service.done.lock().unwrap().len()
    }

    /// Somebody asks for it, and the owner's yes comes while the connector stands as it is told.
    async fn agreed(&self, test: &TestDb, (is_there, is_settled): (bool, bool)) -> MessageReceipt {
        let received = self.shop.say("1", "add rice to the books").await;
        let waits = self.shop.outcome(&received).await;
        assert_eq!(waits.state, RunState::WaitingApproval, "{waits:?}");
        self.host.set(is_there, is_settled);
        let yes = ApprovalDecision::Yes;
        answer(test, &self.shop, self.shop.owner, waits.approval.unwrap(), yes).await;
        self.shop.engine.resume(self.shop.tenant, received.run).await.unwrap();
        received
    }

    /// A process that died while the service was asked.
    async fn died_in_the_call(&self) -> MessageReceipt {
        self.service.hangs.store(true, Ordering::SeqCst);
        let received = self.shop.say("1", "add rice to the books").await;
        wait_until(async || self.done() == 1).await;
        self.shop.engine.abandon();
        self.service.hangs.store(false, Ordering::SeqCst);
        received
    }

    async fn sweep(&self) -> usize {
        self.shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap()
    }

    async fn act_states(&self) -> Vec<(String, Option<String>)> {
        let read = |tx: &mut Tx<'_>| {
            tx.all("SELECT state, code FROM acts WHERE tenant_id = $1", params![], |row| {
                Ok((row.get("state")?, row.get("code")?))
            })
        };
        self.shop.db.read(self.shop.tenant, read).await.unwrap()
    }
}

fn add() -> ScriptedTurn {
    ScriptedTurn::call("books_add", &json!({ "text": "rice" }))
}

fn state(name: &str) -> Vec<(String, Option<String>)> {
    vec![(name.to_owned(), None)]
}

on_both! {
    async fn a_yes_waits_for_a_connector_that_starts(test: TestDb) {
        let books = Books::open(&test, "propose", [add(), ScriptedTurn::text("It is added.")]).await;
        let received = books.agreed(&test, (false, false)).await;
        tokio::time::sleep(A_WHILE).await;
        assert_eq!((books.done(), books.act_states().await), (0, state("waiting")));
        books.host.set(true, true);
        let done = books.shop.outcome(&received).await;
        assert_eq!((done.text.as_str(), done.state), ("It is added.", RunState::Done));
        assert_eq!((books.done(), books.act_states().await), (1, state("applied")));
    }

    /// What was agreed to waits for the connector to come back, and is done then; the person hears of either once.
    async fn a_yes_for_a_tool_that_is_gone_is_kept(test: TestDb) {
        let books = Books::open(&test, "propose", [add(), ScriptedTurn::text("It is added.")]).await;
        let received = books.agreed(&test, (false, true)).await;
        let waits = books.shop.outcome(&received).await;
        assert_eq!((waits.state, books.done()), (RunState::WaitingApproval, 0), "{waits:?}");
        assert!(waits.text.contains("rice") && waits.text.contains("I am working on it."), "{}", waits.text);
        assert_eq!((books.act_states().await, books.shop.model.requests().len()), (state("waiting"), 1));
        let said = books.shop.number(SAID).await;
        assert_eq!(books.sweep().await, 0, "nothing has changed");
        test.clock.advance(Duration::from_secs(16 * 60));
        assert_eq!(books.sweep().await, 1, "it is looked at now and then");
        assert_eq!(books.shop.outcome(&received).await.state, RunState::WaitingApproval);
        assert_eq!(books.shop.number(SAID).await, said, "what they have heard is not said again");
        books.host.set(true, true);
        assert_eq!(books.sweep().await, 1);
        let done = books.shop.outcome(&received).await;
        assert_eq!((done.text.as_str(), done.state), ("It is added.", RunState::Done));
        assert_eq!((books.done(), books.act_states().await), (1, state("applied")));
        assert_eq!((books.sweep().await, books.done()), (0, 1));
    }

    async fn a_yes_for_a_tool_that_never_comes_back_is_told(test: TestDb) {
        let books = Books::open(&test, "propose", [add()]).await;
        let received = books.agreed(&test, (false, true)).await;
        assert_eq!(books.shop.outcome(&received).await.state, RunState::WaitingApproval);
        test.clock.advance(Duration::from_secs(40 * 24 * 3600));
        assert_eq!(books.shop.engine.sweep_acts().await.unwrap().expired, 1);
        let ended = books.shop.outcome(&received).await;
        assert!(ended.text.starts_with("This was approved, but it could not be done in time"), "{ended:?}");
        assert_eq!((ended.state, books.done(), books.act_states().await), (RunState::Done, 0, state("dropped")));
    }

    async fn a_run_that_waits_for_its_connector_can_be_cancelled(test: TestDb) {
        let books = Books::open(&test, "propose", [add()]).await;
        books.host.settled_looks.store(1, Ordering::SeqCst);
        let received = books.agreed(&test, (false, false)).await;
        tokio::time::sleep(A_WHILE).await;
        books.shop.engine.cancel(books.shop.tenant, received.run).await.unwrap();
        let ended = books.shop.outcome(&received).await;
        assert_eq!((ended.state, books.done()), (RunState::Halted, 0), "{ended:?}");
        assert_eq!(books.act_states().await, state("dropped"), "the yes is taken back with it");
        let granted = "SELECT COUNT(*) FROM approvals WHERE tenant_id = $1 AND state = 'granted'";
        assert_eq!(books.shop.number(granted).await, 0);
    }

    async fn a_half_done_act_is_recognised_when_its_connector_starts_late(test: TestDb) {
        let books = Books::open(&test, "act", [add()]).await;
        let received = books.died_in_the_call().await;
        books.host.set(false, false);
        let other = books.shop.again(&test, [ScriptedTurn::text("I can't tell.")]).await;
        test.clock.advance(Duration::from_secs(120));
        other.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        tokio::time::sleep(A_WHILE).await;
        assert_eq!(books.act_states().await, state("intended"), "nobody decides about it without its tool");
        books.host.set(true, true);
        let done = other.outcome(&received).await;
        assert_eq!((done.text.as_str(), books.done()), ("I can't tell.", 1));
        assert_eq!(books.act_states().await, state("unknown"));
    }

    async fn a_half_done_act_whose_connector_is_gone_is_unknown_and_not_another_one(test: TestDb) {
        let books = Books::open(&test, "act", [add()]).await;
        let received = books.died_in_the_call().await;
        books.host.set(false, true);
        let other = books.shop.again(&test, [ScriptedTurn::text("I can't tell.")]).await;
        test.clock.advance(Duration::from_secs(120));
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        let done = other.outcome(&received).await;
        assert_eq!((done.text.as_str(), books.done()), ("I can't tell.", 1));
        assert_eq!(books.act_states().await, state("unknown"));
        let told = format!("{:?}", other.model.requests().last().unwrap().request.messages);
        assert!(!told.contains("Propose it as a new act"), "{told}");
    }

    async fn a_look_whose_connector_is_gone_has_failed(test: TestDb) {
        let books = Books::open_with(&test, "act", Effect::Read, [add()]).await;
        let received = books.died_in_the_call().await;
        books.host.set(false, true);
        let other = books.shop.again(&test, [ScriptedTurn::text("The books are away.")]).await;
        test.clock.advance(Duration::from_secs(120));
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        assert_eq!(other.outcome(&received).await.text, "The books are away.");
        assert_eq!((books.act_states().await, books.done()), (state("failed"), 1));
        assert_eq!(books.shop.number("SELECT COUNT(*) FROM approvals WHERE tenant_id = $1").await, 0);
    }

    /// Another connector brings a tool of the same name while the act's own is away.
    async fn a_half_done_act_is_never_called_on_another_connector(test: TestDb) {
        let books = Books::open_with(&test, "act", Effect::Keyed, [add()]).await;
        let received = books.died_in_the_call().await;
        books.host.set(false, true);
        books.host.is_other_there.store(true, Ordering::SeqCst);
        let other = books.shop.again(&test, [ScriptedTurn::text("I can't tell.")]).await;
        test.clock.advance(Duration::from_secs(120));
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        let done = other.outcome(&received).await;
        assert_eq!((done.text.as_str(), books.done()), ("I can't tell.", 1));
        assert_eq!((books.act_states().await, books.other.done.lock().unwrap().len()), (state("unknown"), 0));
    }

    async fn a_yes_waits_for_its_own_connector_though_another_has_the_name(test: TestDb) {
        let books = Books::open(&test, "propose", [add(), ScriptedTurn::text("It is added.")]).await;
        books.host.is_other_there.store(true, Ordering::SeqCst);
        books.host.settled_looks.store(1, Ordering::SeqCst);
        let received = books.agreed(&test, (false, false)).await;
        tokio::time::sleep(A_WHILE).await;
        assert_eq!((books.done(), books.act_states().await), (0, state("waiting")));
        books.host.set(true, true);
        let done = books.shop.outcome(&received).await;
        assert_eq!((done.text.as_str(), done.state), ("It is added.", RunState::Done));
        assert_eq!((books.done(), books.act_states().await), (1, state("applied")));
        assert_eq!(books.other.done.lock().unwrap().len(), 0);
    }
}
