//! A connector whose service wants somebody to log in: the run waits, whoever may log in gets a link, and what was wanted is
//! done once after it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use munshi_conversations::{KeyUse, RunRecoveryScope, RunState};
use munshi_identity::Role;
use munshi_identity::keys::{KeyCeiling, KeySpeaker};
use munshi_safety::acts::Permit;
use munshi_safety::approvals::ApprovalDecision;
use munshi_safety::policy;
use munshi_store::{Tx, params};
use munshi_test_support::database::MORNING;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{TestDb, wait_until};
use munshi_tools::{
    ConnectorOrigin, LOGIN_NEEDED, RemoteToolHandler, Result, TenantToolSource, TenantTools, ToolConnector,
    ToolFailure, ToolHandler, ToolOutput, ToolRegistry,
};
use munshi_types::{Clock, Effect, IdGenerator, PersonId, Reach, TenantId, Timestamp, ToolSpec};
use serde_json::{Value, json};

use crate::turns::approvals::answer;
use crate::turns::support::{Plan, Shop};

const AGENT: &str = "name = \"Plain\"\ntools = [\"count\"]\nconnectors = [\"books\"]\n\
                     [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
const LINK: &str = "https://munshi.example/connectors/login/secret";

/// A service that lets nobody in until somebody has logged in.
#[derive(Default)]
struct Service {
    done: Mutex<Vec<Value>>,
    /// When somebody logged in, and whether that still counts.
    last: Mutex<Option<(Timestamp, bool)>>,
    offered: Mutex<Vec<PersonId>>,
    /// Who said the code that a page shows.
    proved: Mutex<Vec<PersonId>>,
}

/// What a page shows, and how somebody may say it.
const CODE: &str = "482913";

impl Service {
    fn log_in(&self, at: Timestamp) {
        *self.last.lock().unwrap() = Some((at, true));
    }

    fn done(&self) -> usize {
        self.done.lock().unwrap().len()
    }

    fn offered(&self) -> Vec<PersonId> {
        self.offered.lock().unwrap().clone()
    }
}

struct Add(Arc<Service>);

#[async_trait]
impl RemoteToolHandler for Add {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        if !self.0.last.lock().unwrap().is_some_and(|(_, counts)| counts) {
            return Err(ToolFailure::permanent(LOGIN_NEEDED, "somebody has to log in"));
        }
        self.0.done.lock().unwrap().push(permit.arguments().clone());
        Ok(ToolOutput::new(json!({ "added": true })))
    }
}

struct Books {
    service: Arc<Service>,
    shelf: Arc<TenantTools>,
}

impl TenantToolSource for Books {
    fn tenant_tools(&self, _tenant: TenantId) -> Arc<TenantTools> {
        self.shelf.clone()
    }

    fn is_settled(&self, _tenant: TenantId) -> bool {
        true
    }

    fn create_login_link(&self, _tx: &mut Tx<'_>, connector: &str, to: PersonId) -> Result<Option<String>> {
        assert_eq!(connector, "books");
        self.service.offered.lock().unwrap().push(to);
        Ok(Some(LINK.to_owned()))
    }

    fn supports_login_links(&self) -> bool {
        true
    }

    fn verify_login_code(&self, _tx: &mut Tx<'_>, person: PersonId, words: &str) -> Result<Option<String>> {
        if munshi_identity::codes::extract_digits(words).as_deref() != Some(CODE) {
            return Ok(None);
        }
        self.service.proved.lock().unwrap().push(person);
        Ok(Some("books".to_owned()))
    }

    fn find_login_time(&self, _tx: &mut Tx<'_>, _connector: &str) -> Result<Option<Timestamp>> {
        Ok(self.service.last.lock().unwrap().map(|(at, _)| at))
    }
}

struct Office {
    shop: Shop,
    service: Arc<Service>,
}

impl Office {
    async fn open(test: &TestDb, level: &str, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        let service = Arc::new(Service::default());
        let mut registry = ToolRegistry::default();
        let read = ToolSpec::read_only("books_add".parse().unwrap(), "Adds a line.", "books.line.add");
        let parameters = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        let spec = ToolSpec { effect: Effect::Once, reach: Reach::Business, parameters, ..read };
        let connector = ToolConnector {
            name: "books".to_owned(),
            origin: ConnectorOrigin::Foreign,
            declares: true,
            conduct: None,
        };
        registry.add(spec, connector, ToolHandler::Remote(Arc::new(Add(service.clone())))).unwrap();
        let shelf = Arc::new(TenantTools::new(registry, BTreeSet::new()));
        let shelves = Arc::new(Books { service: service.clone(), shelf });
        let plan = Plan { agent: AGENT.to_owned(), shelves: Some(shelves), ..Plan::default() };
        let shop = Shop::open_with(test, script, plan).await;
        let text = format!(
            "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
             [connectors.books]\nautonomy = \"{level}\"\nread = [\"*\"]\nwrite = [\"*\"]\n"
        );
        let policy = policy::parse(&text).unwrap();
        let put = move |tx: &mut Tx<'_>| policy::apply(tx, &policy, "test", "", MORNING).map(drop);
        shop.db.write(shop.tenant, put).await.unwrap();
        Self { shop, service }
    }

    async fn owner_asks(&self, id: &str, text: &str) -> munshi_agent::MessageReceipt {
        self.shop.engine.receive(self.shop.message(self.shop.owner, id, text)).await.unwrap()
    }

    /// What was said to somebody, the oldest first.
    async fn said_to(&self, person: PersonId) -> Vec<String> {
        let read = move |tx: &mut Tx<'_>| {
            tx.all(
                "SELECT m.id, m.text FROM messages m JOIN sessions s ON s.tenant_id = m.tenant_id AND s.id = m.session_id
                 WHERE m.tenant_id = $1 AND s.tenant_id = $1 AND m.speaker = 'persona' AND s.person_id = $2
                 ORDER BY m.number",
                params![person],
                crate::turns::support::read_text,
            )
        };
        self.shop.db.read(self.shop.tenant, read).await.unwrap()
    }
}

fn add() -> ScriptedTurn {
    ScriptedTurn::call("books_add", &json!({ "text": "rice" }))
}

on_both! {
    async fn the_run_waits_and_the_call_is_made_once(test: TestDb) {
        let office = Office::open(&test, "act", [add(), ScriptedTurn::text("It is added.")]).await;
        let received = office.owner_asks("1", "add rice to the books").await;
        let waits = office.shop.outcome(&received).await;
        assert_eq!(waits.state, RunState::WaitingApproval, "{waits:?}");
        let link = format!("\n{LINK}\nIf the page shows you a code");
        assert!(waits.text.contains("sign in at books") && waits.text.contains(&link), "{}", waits.text);
        assert_eq!(office.service.offered(), [office.shop.owner]);
        // Nothing has happened: it goes on waiting, and says nothing more.
        office.shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        assert_eq!(office.said_to(office.shop.owner).await.len(), 1);
        test.clock.advance(Duration::from_secs(60));
        office.service.log_in(test.clock.now());
        office.shop.engine.resume_after_login().await.unwrap();
        let done = office.shop.outcome(&received).await;
        assert_eq!((done.text.as_str(), done.state), ("It is added.", RunState::Done));
        assert_eq!((office.service.done(), office.service.offered().len()), (1, 1));
        assert_eq!(office.shop.model.requests().len(), 2, "no model was asked for the same again");
        office.shop.engine.resume_after_login().await.unwrap();
        assert_eq!(office.service.done(), 1);
    }

    /// Somebody whose place it is not hears that others were asked; those get the link, in their own language.
    async fn whoever_may_log_in_gets_the_link(test: TestDb) {
        let office = Office::open(&test, "act", [ScriptedTurn::text("नमस्ते।"), add(), ScriptedTurn::text("It is added.")]).await;
        let owner = office.shop.owner;
        let greeting = office.owner_asks("1", "नमस्ते, आप कैसे हैं?").await;
        office.shop.outcome(&greeting).await;
        let received = office.shop.say("2", "add rice to the books").await;
        let waits = office.shop.outcome(&received).await;
        assert_eq!(waits.state, RunState::WaitingApproval, "{waits:?}");
        assert!(waits.text.contains("They have been sent a link") && !waits.text.contains(LINK), "{}", waits.text);
        let told = office.said_to(owner).await;
        assert!(told[1].contains("साइन इन") && told[1].contains(&format!("\n{LINK}\nअगर पेज")), "{told:?}");
        assert_eq!(office.service.offered(), [owner]);
        office.service.log_in(test.clock.now());
        office.shop.engine.resume_after_login().await.unwrap();
        assert_eq!(office.shop.outcome(&received).await.state, RunState::Done);
        assert_eq!(office.service.done(), 1);
    }

    /// The code of a page goes to no model, and counts only from whoever may log in.
    async fn a_code_is_heard_from_whoever_may_log_in(test: TestDb) {
        let script = [add(), ScriptedTurn::text("What is it?"), ScriptedTurn::text("Six hundred, noted."), ScriptedTurn::text("Hello.")];
        let office = Office::open(&test, "act", script).await;
        let owner = office.shop.owner;
        office.shop.outcome(&office.owner_asks("1", "add rice to the books").await).await;
        let staff = office.shop.say("2", CODE).await;
        assert_eq!(office.shop.outcome(&staff).await.text, "What is it?");
        let other = office.owner_asks("3", "600600 came in").await;
        assert_eq!(office.shop.outcome(&other).await.text, "Six hundred, noted.");
        assert!(office.service.proved.lock().unwrap().is_empty());
        let said = office.owner_asks("4", "यह रहा ४८२ ९१३").await;
        let said = office.shop.outcome(&said).await;
        assert_eq!(said.state, RunState::Done);
        assert!(said.text.contains("पेज पर लौटिए") && said.text.contains("books"), "{}", said.text);
        assert_eq!(*office.service.proved.lock().unwrap(), [owner]);
        assert_eq!(office.shop.model.requests().len(), 3, "no model was asked about it");
    }

    /// A program with the owner's key could open the page and write its code by itself: it gets no link, and its code
    /// proves no browser.
    async fn a_program_proves_no_browser(test: TestDb) {
        let script = [add(), ScriptedTurn::text("What is it?")];
        let office = Office::open(&test, "act", script).await;
        let owner = office.shop.owner;
        let key = KeyUse {
            key: IdGenerator::system().next(),
            speaks_as: KeySpeaker::Program,
            ceiling: KeyCeiling { role: Some(Role::Owner), ..KeyCeiling::default() },
        };
        let ask = async |id: &str, text: &str| {
            let message = office.shop.message(owner, id, text);
            let received = office.shop.engine.receive_with_key(message, key.clone()).await.unwrap();
            office.shop.outcome(&received).await
        };
        let asked = ask("1", "add rice to the books").await;
        assert_eq!(asked.state, RunState::WaitingApproval, "{asked:?}");
        answer(&test, &office.shop, owner, asked.approval.unwrap(), ApprovalDecision::Yes).await;
        office.shop.engine.resume(office.shop.tenant, asked.run).await.unwrap();
        let shut = office.shop.engine.wait_for_outcome(office.shop.tenant, asked.run).await.unwrap();
        assert!(shut.text.contains("They have been sent a link") && !shut.text.contains(LINK), "{}", shut.text);
        let code = ask("2", CODE).await;
        assert_eq!(code.text, "What is it?");
        assert!(office.service.proved.lock().unwrap().is_empty());
    }

    /// What somebody approved is not asked again because nobody was logged in.
    async fn a_yes_is_not_lost(test: TestDb) {
        let office = Office::open(&test, "propose", [add(), ScriptedTurn::text("It is added.")]).await;
        let received = office.shop.say("1", "add rice to the books").await;
        let waits = office.shop.outcome(&received).await;
        answer(&test, &office.shop, office.shop.owner, waits.approval.unwrap(), ApprovalDecision::Yes).await;
        office.shop.engine.resume(office.shop.tenant, received.run).await.unwrap();
        let shut = office.shop.outcome(&received).await;
        assert_eq!((shut.state, office.service.done()), (RunState::WaitingApproval, 0), "{shut:?}");
        assert!(shut.text.contains("sign in at books"), "{}", shut.text);
        test.clock.advance(Duration::from_secs(60));
        office.service.log_in(test.clock.now());
        office.shop.engine.resume_after_login().await.unwrap();
        let done = office.shop.outcome(&received).await;
        assert_eq!((done.text.as_str(), done.state), ("It is added.", RunState::Done));
        assert_eq!(office.service.done(), 1);
        let asked = "SELECT COUNT(*) FROM approvals WHERE tenant_id = $1";
        assert_eq!(office.shop.number(asked).await, 1);
    }

    /// The process dies while the run waits; another goes on after the login.
    async fn a_restart_loses_nothing(test: TestDb) {
        let office = Office::open(&test, "act", [add()]).await;
        let received = office.owner_asks("1", "add rice to the books").await;
        assert_eq!(office.shop.outcome(&received).await.state, RunState::WaitingApproval);
        office.shop.engine.abandon();
        office.service.log_in(test.clock.now());
        let other = office.shop.again(&test, [ScriptedTurn::text("It is added.")]).await;
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        let done = other.outcome(&received).await;
        assert_eq!((done.text.as_str(), done.state), ("It is added.", RunState::Done));
        assert_eq!(office.service.done(), 1);
    }

    /// A login that does not help brings another link; a day without one ends it.
    async fn it_does_not_wait_for_ever(test: TestDb) {
        let office = Office::open(&test, "act", [add(), ScriptedTurn::text("Nobody signed in, so it is not added.")]).await;
        let received = office.owner_asks("1", "add rice to the books").await;
        office.shop.outcome(&received).await;
        test.clock.advance(Duration::from_secs(60));
        *office.service.last.lock().unwrap() = Some((test.clock.now(), false));
        test.clock.advance(Duration::from_secs(1));
        office.shop.engine.resume_after_login().await.unwrap();
        let again = office.shop.outcome(&received).await;
        assert_eq!(again.state, RunState::WaitingApproval);
        wait_until(async || office.service.offered().len() > 1).await;
        assert_eq!(office.service.offered().len(), 2, "another link");
        test.clock.advance(Duration::from_secs(25 * 3600));
        office.shop.engine.resume_after_login().await.unwrap();
        let ended = office.shop.outcome(&received).await;
        assert_eq!((ended.text.as_str(), ended.state), ("Nobody signed in, so it is not added.", RunState::Done));
        assert_eq!(office.service.done(), 0);
    }
}
