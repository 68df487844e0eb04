//! The ready tenant, with an engine that has the model of this machine and the pack.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use munshi_agent::{MessageReceipt, RunOutcome, RunRecoveryScope, TurnEngine, TurnEngineParts, TurnSettings};
use munshi_identity::{Person, Role, persons};
use munshi_jobs::JobQueue;
use munshi_ledger::{LedgerPack, books};
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{Gateway, ModelTarget, Provider};
use munshi_offline::OfflineProvider;
use munshi_pack::{Pack, PackRegistry};
use munshi_safety::acts::ActServices;
use munshi_safety::budget::BudgetGovernor;
use munshi_safety::policy;
use munshi_store::Db;
use munshi_test_support::TestDb;
use munshi_test_support::database::MORNING;
use munshi_tiers::{Authorship, BindingResolver, InstalledNames, VanishedTierPolicy, files};
use munshi_tools::{NoActJournal, ToolDispatcher};
use munshi_types::tier::Channel;
use munshi_types::{
    Clock, InboundMessage, InboundSender, InboundTarget, PersonId, SystemRandom, TenantId, Zone,
};

pub(crate) struct Shop {
    pub(crate) engine: TurnEngine,
    pub(crate) db: Db,
    pub(crate) tenant: TenantId,
    dispatcher: ToolDispatcher,
    owner: PersonId,
    said: AtomicU32,
}

/// So long a turn may take, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Runs and acts are held for less than this.
const LAPSED: Duration = Duration::from_secs(120);

impl Shop {
    pub(crate) async fn open(test: &TestDb) -> Self {
        Self::open_with(test, None).await
    }

    /// The shop with another model than that of this machine.
    pub(crate) async fn open_with(test: &TestDb, model: Option<Arc<dyn Provider>>) -> Self {
        let clock: Arc<dyn Clock> = test.clock.clone();
        let pack: Arc<dyn Pack> = Arc::new(LedgerPack::new(clock.clone(), test.ids.clone()));
        let house = PackRegistry::install_all(&[pack]).unwrap();
        let (tenant, owner) = apply(test, &house).await;
        let (engine, dispatcher) = engine(test, clock, house, model).await;
        Self { engine, db: test.db.clone(), tenant, dispatcher, owner, said: AtomicU32::new(0) }
    }

    /// The reply to what the owner says, with all of its lines.
    pub(crate) async fn say(&self, text: &str) -> String {
        let outcome = self.hear(self.said.fetch_add(1, Ordering::SeqCst), text).await;
        assert!(outcome.violations.is_empty(), "{:?} in {}", outcome.violations, outcome.text);
        outcome.text
    }

    pub(crate) async fn send(&self, text: &str) -> MessageReceipt {
        self.receive(self.said.fetch_add(1, Ordering::SeqCst), text).await
    }

    /// What comes of a message that the channel numbers so; the same number is the same message once more.
    pub(crate) async fn hear(&self, number: u32, text: &str) -> RunOutcome {
        let received = self.receive(number, text).await;
        let outcome = self.engine.wait_for_outcome(received.tenant, received.run);
        tokio::time::timeout(PATIENCE, outcome).await.expect("no end").unwrap()
    }

    /// What comes of what somebody else says, who works here.
    pub(crate) async fn hear_from(&self, person: PersonId, text: &str) -> RunOutcome {
        let received = self.receive_from(person, self.said.fetch_add(1, Ordering::SeqCst), text).await;
        let outcome = self.engine.wait_for_outcome(received.tenant, received.run);
        tokio::time::timeout(PATIENCE, outcome).await.expect("no end").unwrap()
    }

    /// Somebody who works at the counter.
    pub(crate) async fn staff(&self, test: &TestDb) -> PersonId {
        let person = Person { role: Some(Role::Staff), ..Person::new(&test.ids, "Birju", MORNING) };
        let id = person.id;
        self.db.write(self.tenant, move |tx| persons::upsert(tx, &person)).await.unwrap();
        id
    }

    async fn receive(&self, number: u32, text: &str) -> MessageReceipt {
        self.receive_from(self.owner, number, text).await
    }

    async fn receive_from(&self, person: PersonId, number: u32, text: &str) -> MessageReceipt {
        let message = InboundMessage {
            channel: Channel::Web,
            to: InboundTarget::Address("handle:kirana-counter".parse().unwrap()),
            from: InboundSender { person: Some(person), ..InboundSender::default() },
            outside_id: format!("said-{number}"),
            text: text.to_owned(),
            attached: Vec::new(),
            locale: None,
            sent_at: None,
            reply_to: None,
            screen: Default::default(),
        };
        self.engine.receive(message).await.unwrap()
    }

    /// The same shop with another engine, as after a restart.
    pub(crate) async fn restarted(self, test: &TestDb) -> Self {
        let clock: Arc<dyn Clock> = test.clock.clone();
        let pack: Arc<dyn Pack> = Arc::new(LedgerPack::new(clock.clone(), test.ids.clone()));
        let (engine, dispatcher) =
            engine(test, clock, PackRegistry::install_all(&[pack]).unwrap(), None).await;
        Self { engine, dispatcher, ..self }
    }

    /// A message whose process dies a while after it was taken. The next process takes up what was left and ends it;
    /// whether anything was left is told, too.
    pub(crate) async fn hear_dying(
        self,
        test: &TestDb,
        (number, text): (u32, &str),
        after: Duration,
    ) -> (Self, RunOutcome, bool) {
        let received = self.receive(number, text).await;
        tokio::time::sleep(after).await;
        self.engine.abandon();
        // What was begun in a transaction runs to its end, as it does in a process that dies behind it.
        tokio::time::sleep(Duration::from_millis(30)).await;
        let open = self.db.read(self.tenant, |tx| -> munshi_store::Result<i64> {
            let sql = "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL AND state <> 'waiting_approval'";
            tx.one(sql, &[], |row| row.get(0))
        });
        let was_left = open.await.unwrap() > 0;
        let next = self.restarted(test).await;
        test.clock.advance(LAPSED);
        next.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        next.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        let outcome = next.engine.wait_for_outcome(received.tenant, received.run);
        let outcome = tokio::time::timeout(PATIENCE, outcome).await.expect("no end").unwrap();
        (next, outcome, was_left)
    }

    pub(crate) async fn assert_sound(&self) {
        let finding = self.db.read(self.tenant, books::verify).await.unwrap();
        assert_eq!(finding, None, "{}", finding.as_ref().map(ToString::to_string).unwrap_or_default());
    }
}

async fn engine(
    test: &TestDb,
    clock: Arc<dyn Clock>,
    house: PackRegistry,
    model: Option<Arc<dyn Provider>>,
) -> (TurnEngine, ToolDispatcher) {
    let governor = BudgetGovernor::new(munshi_safety::budget::BudgetSettings::default(), test.ids.clone());
    let office = ActServices::new(test.ids.clone(), governor).on_refusal(Arc::new(house.clone()));
    let office = Arc::new(office);
    let registry = Arc::new(house.tools.clone());
    let dispatcher = ToolDispatcher::new(test.db.clone(), office.clone(), registry.clone(), clock.clone());
    let specs =
        registry.names().map(|name| Arc::new(registry.get(name.as_str()).unwrap().known.spec.clone()));
    let mut book = house.book.clone();
    munshi_guardrails::add_phrases(&mut book).unwrap();
    let target = ModelTarget::offline();
    let route = ModelRoute {
        targets: [(Capability::Default, vec![target.name.clone()])].into(),
        ..ModelRoute::default()
    };
    let gateway = Gateway::new(GatewayParts {
        targets: vec![target],
        provider: model.unwrap_or_else(|| {
            Arc::new(
                OfflineProvider::new(house.book.clone())
                    .unwrap()
                    .with_clock(clock.clone(), Zone::default().to_jiff()),
            )
        }),
        prices: PriceBook::default(),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
    });
    let engine = TurnEngine::new(TurnEngineParts {
        db: test.db.clone(),
        resolver: BindingResolver::new(test.db.clone()).with_tools(specs.collect()),
        gateway,
        route: Arc::new(route),
        dispatcher: dispatcher.clone(),
        office,
        house: Arc::new(house),
        queue: JobQueue::new(clock.clone(), test.ids.clone()),
        book: Arc::new(book),
        clock,
        random: Arc::new(SystemRandom),
        fence_key: munshi_tiers::prompt::FenceKey::new([7; 16]),
        settings: TurnSettings::default(),
        senders: Vec::new(),
    });
    (engine, dispatcher)
}

/// Puts the ready tenant into the database as `munshi apply` would, with an owner.
async fn apply(test: &TestDb, house: &PackRegistry) -> (TenantId, PersonId) {
    let (_, ready) = house.tenants.iter().find(|(pack, _)| *pack == "ledger").unwrap();
    let folder = test.place.folder().join(ready.name);
    for file in ready.files {
        let path = folder.join(file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file.text).unwrap();
    }
    let installed = InstalledNames {
        tools: house.tools.names().map(ToString::to_string).collect(),
        models: [ModelTarget::offline().name].into(),
    };
    let read = files::read(&folder, None).unwrap().remove(0);
    let plan =
        munshi_tiers::plan_folder(&test.db, &read, VanishedTierPolicy::Keep, &installed).await.unwrap();
    let by = Authorship { author: "asha".to_owned(), note: String::new(), made_at: MORNING };
    munshi_tiers::apply(&test.db, vec![plan], Zone::default(), by, &test.ids, |_, _, _| Ok(()))
        .await
        .unwrap();
    let name = ready.name.parse().unwrap();
    let find = move |tx: &mut munshi_store::PlatformTx<'_>| munshi_store::tenants::find_by_name(tx, &name);
    let tenant = test.db.platform(munshi_store::tenants::TENANTS).read(find).await.unwrap().unwrap().id;
    let rules =
        policy::parse(ready.files.iter().find(|file| file.path == "policy.toml").unwrap().text).unwrap();
    let owner = Person { role: Some(Role::Owner), ..Person::new(&test.ids, "Asha", MORNING) };
    let id = owner.id;
    let people = test.db.write(tenant, move |tx| -> Result<_, munshi_safety::Error> {
        policy::apply(tx, &rules, "test", "", MORNING)?;
        persons::upsert(tx, &owner)?;
        Ok(())
    });
    people.await.unwrap();
    (tenant, id)
}
