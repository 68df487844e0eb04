//! The ready tenant, with an engine that has the model of this machine and the pack.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use munshi_agent::{MessageReceipt, RunOutcome};
use munshi_conversations::RunRecoveryScope;
use munshi_identity::Role;
use munshi_ledger::{LedgerPack, books};
use munshi_llm::{ModelTarget, Provider, ProviderSwitch, WireFormat};
use munshi_offline::OfflineProvider;
use munshi_pack::outgoing::OutboxReader;
use munshi_pack::{Pack, PackRegistry};
use munshi_safety::policy::{self, Policy};
use munshi_store::{Migration, Tx};
use munshi_test_app::{TenantFiles, TestApp, build_message, list_migrations, parse_target};
use munshi_test_support::TestDb;
use munshi_tools::NoActJournal;
use munshi_types::{PersonId, TenantId, TenantPacks, Zone};

/// Every table that turns and books need.
pub(crate) fn migrations() -> Vec<&'static [Migration]> {
    list_migrations(&[munshi_ledger::MIGRATIONS])
}

pub(crate) struct Shop {
    app: TestApp,
    pub(crate) tenant: TenantId,
    pub(crate) owner: PersonId,
    said: AtomicU32,
}

impl std::ops::Deref for Shop {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

/// Runs and acts are held for less than this.
const LAPSED: Duration = Duration::from_secs(120);

/// The pack, with the model of this machine or another.
fn start(test: &TestDb, model: Option<Arc<dyn Provider>>) -> TestApp {
    start_pack(test, LedgerPack::new(test.clock.clone(), test.ids.clone()), model)
}

fn start_pack(test: &TestDb, pack: LedgerPack, model: Option<Arc<dyn Provider>>) -> TestApp {
    let pack: Arc<dyn Pack> = Arc::new(pack);
    let builder = TestApp::builder(test).with_packs(PackRegistry::install_all(&[pack]).unwrap());
    let builder = builder.with_targets(vec![ModelTarget::offline()]);
    model.into_iter().fold(builder, munshi_test_app::TestAppBuilder::with_model).build()
}

/// The pack with a model elsewhere, beside that of this machine, as an installation with a key has it.
fn start_beside(test: &TestDb, remote: Arc<dyn Provider>) -> TestApp {
    let pack: Arc<dyn Pack> = Arc::new(LedgerPack::new(test.clock.clone(), test.ids.clone()));
    let packs = PackRegistry::install_all(&[pack]).unwrap();
    let here = OfflineProvider::new(packs.book.clone()).unwrap();
    let here = Arc::new(here.with_clock(test.clock.clone(), Zone::default().to_jiff()));
    let elsewhere = ModelTarget::new("one", WireFormat::OpenAi, "", "m");
    let builder = TestApp::builder(test).with_packs(packs).with_templates();
    let builder = builder.with_targets(vec![elsewhere, ModelTarget::offline()]);
    builder.with_model(Arc::new(ProviderSwitch { here, remote })).build()
}

impl Shop {
    pub(crate) async fn open(test: &TestDb) -> Self {
        Self::open_with(test, None).await
    }

    /// The ready tenant as `munshi apply` stores it, with an owner; with another model than that of this machine.
    pub(crate) async fn open_with(test: &TestDb, model: Option<Arc<dyn Provider>>) -> Self {
        Self::open_app(start(test, model)).await
    }

    /// The same where the pack can look what is sent by which channel, and what came of it.
    pub(crate) async fn open_with_outbox(
        test: &TestDb,
        model: Arc<dyn Provider>,
        outbox: Arc<dyn OutboxReader>,
    ) -> Self {
        let pack = LedgerPack::new(test.clock.clone(), test.ids.clone()).with_outbox(outbox);
        Self::open_app(start_pack(test, pack, Some(model))).await
    }

    /// With a model elsewhere, which is asked for what this machine's can't say by templates.
    pub(crate) async fn open_beside(test: &TestDb, remote: Arc<dyn Provider>) -> Self {
        Self::open_app(start_beside(test, remote)).await
    }

    async fn open_app(app: TestApp) -> Self {
        let (_, ready) = app.packs.tenants.iter().find(|(pack, _)| *pack == "ledger").unwrap();
        let tenant = app.apply_tenant(&TenantFiles::from_template(ready.name, ready)).await;
        let owner = app.add_person(tenant, "Asha", Some(Role::Owner)).await;
        Self { app, tenant, owner, said: AtomicU32::new(0) }
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
        self.wait_for_outcome(&received).await
    }

    /// What comes of the owner's next message.
    pub(crate) async fn hear_next(&self, text: &str) -> RunOutcome {
        self.hear(self.said.fetch_add(1, Ordering::SeqCst), text).await
    }

    /// What comes of what somebody else says, who works here.
    pub(crate) async fn hear_from(&self, person: PersonId, text: &str) -> RunOutcome {
        let received = self.receive_from(person, self.said.fetch_add(1, Ordering::SeqCst), text).await;
        self.wait_for_outcome(&received).await
    }

    /// The tenant has these packs and no others.
    pub(crate) async fn set_packs(&self, packs: &[&str]) {
        let (packs, now) = (TenantPacks::only(packs.iter().map(ToString::to_string)), self.app.clock.now());
        let set = move |tx: &mut Tx<'_>| {
            let (_, policy) = policy::load_current(tx)?;
            policy::apply(tx, &Policy { packs, ..policy }, "test", "", now)
        };
        self.db.write(self.tenant, set).await.unwrap();
    }

    /// Somebody who works at the counter.
    pub(crate) async fn staff(&self) -> PersonId {
        self.add_person(self.tenant, "Birju", Some(Role::Staff)).await
    }

    async fn receive(&self, number: u32, text: &str) -> MessageReceipt {
        self.receive_from(self.owner, number, text).await
    }

    async fn receive_from(&self, person: PersonId, number: u32, text: &str) -> MessageReceipt {
        let to = parse_target("handle:kirana-counter");
        let message = build_message(to, person, &format!("said-{number}"), text);
        self.engine.receive(message).await.unwrap()
    }

    /// The same shop with another engine, as after a restart.
    pub(crate) fn restarted(self, test: &TestDb) -> Self {
        Self { app: start(test, None), ..self }
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
        let open = "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL AND state <> 'waiting_approval'";
        let was_left = self.read_number(self.tenant, open).await > 0;
        let next = self.restarted(test);
        test.clock.advance(LAPSED);
        next.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        next.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        let outcome = next.wait_for_outcome(&received).await;
        (next, outcome, was_left)
    }

    pub(crate) async fn assert_sound(&self) {
        let finding = self.db.read(self.tenant, books::verify).await.unwrap();
        assert_eq!(finding, None, "{}", finding.as_ref().map(ToString::to_string).unwrap_or_default());
    }
}
