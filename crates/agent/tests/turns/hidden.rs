//! What is kept from the store, and what from models elsewhere.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::retention::SummaryInput;
use munshi_conversations::{HaltReason, RunRecoveryScope, RunState, messages};
use munshi_identity::{ContactAddress, Person, persons};
use munshi_pack::{
    ContextSource, FromPack, PackReader, PackReading, PackRegistry, PackTurnContext, PromptContribution,
};
use munshi_privacy::ProtectedEntity;
use munshi_test_support::database::MORNING;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{TestDb, wait_until};
use munshi_tools::NoActJournal;
use munshi_types::{AttachedFile, InboundSender};
use serde_json::json;

use crate::turns::support::{Plan, Shop, arguments};

/// A customer who has written before, and whoever the tools name.
const PEOPLE: [&str; 5] = ["Lakshmi", "Iyer", "Zubeida", "Pratibha", "Menon"];

async fn with_a_customer(test: &TestDb, shop: &Shop) {
    let ids = test.ids.clone();
    let put =
        move |tx: &mut munshi_store::Tx<'_>| persons::upsert(tx, &Person::new(&ids, "Lakshmi Iyer", MORNING));
    shop.db.write(shop.tenant, put).await.unwrap();
}

/// Says how many requests there were, none of which had a name in it.
fn unseen(shop: &Shop) -> usize {
    let requests = shop.model.requests();
    for asked in &requests {
        let whole = format!("{:?}", asked.request);
        for name in PEOPLE {
            assert!(!whole.contains(name), "{name} was sent: {whole}");
        }
    }
    requests.len()
}

on_both! {
    async fn a_number_in_the_name_of_a_file_is_not_kept(test: TestDb) {
        let shop = Shop::open(&test, []).await;
        let mut inbound = shop.message(shop.staff, "1", "here is my card");
        let name = Some("aadhaar_2345_6789_0124.jpg".to_owned());
        inbound.attached = vec![AttachedFile { media_type: "image/jpeg".to_owned(), name, reference: "f/1".to_owned() }];
        let received = shop.engine.receive(inbound).await.unwrap();
        let outcome = shop.outcome(&received).await;
        assert!(matches!(outcome.halt, Some(HaltReason::RefusedAtDoor(_))), "{outcome:?}");
        let kept = shop.messages_of(received.run).await;
        assert!(kept.len() == 2 && kept.iter().all(|said| said.attached.is_empty()), "{kept:?}");
    }

    async fn a_number_in_somebodys_name_is_not_kept(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("Welcome.")]).await;
        let mut inbound = shop.message(shop.staff, "1", "hello there");
        let name = Some("Ravi UID 2345/6789/0124".to_owned());
        inbound.from = InboundSender { phone: Some("+919812345678".to_owned()), name, ..InboundSender::default() };
        let received = shop.engine.receive(inbound).await.unwrap();
        assert_eq!(shop.outcome(&received).await.text, "Welcome.", "the message itself is taken");
        let phone = ContactAddress::phone("+919812345678").unwrap();
        let kept = shop.db.read(shop.tenant, move |tx| persons::find_by_address(tx, &phone)).await.unwrap();
        let name = kept.unwrap().name;
        assert!(!name.contains("6789"), "{name}");
    }

    async fn a_model_elsewhere_reads_nobodys_name(test: TestDb) {
        let script = [
            ScriptedTurn::call("debtors", &json!({})),
            ScriptedTurn::text("Zubeida owes 1,200; Pratibha Menon has paid."),
            ScriptedTurn::text("That is all."),
        ];
        let shop = Shop::open(&test, script).await;
        with_a_customer(&test, &shop).await;
        let outcome = shop.ask("1", "who has to pay? write it to Lakshmi Iyer").await;
        assert!(outcome.text.starts_with("Zubeida owes"), "{outcome:?}");
        assert_eq!(outcome.calls[0].result["result"]["customers"][0]["name"], "Zubeida", "tools have real values");
        // What was said and spoken of comes back in the next turn.
        assert_eq!(shop.ask("2", "and what else did you find").await.text, "That is all.");
        assert_eq!(unseen(&shop), 3);
    }

    async fn nor_after_something_was_said_that_is_not_kept(test: TestDb) {
        let script = [
            ScriptedTurn::call("record", &arguments("a")),
            ScriptedTurn::call("debtors", &json!({})),
            ScriptedTurn::text("Zubeida Contractor was here; Pratibha Menon has paid."),
            ScriptedTurn::text("That is all."),
        ];
        let agent = Plan::default().agent.replace("\"fax\"]", "\"fax\", \"record\"]");
        let shop = Shop::open_with(&test, script, Plan { agent, ..Plan::default() }).await;
        with_a_customer(&test, &shop).await;
        shop.ask("1", "look it up, and who has to pay?").await;
        assert_eq!(shop.ask("2", "and what else did you find").await.text, "That is all.");
        assert_eq!(unseen(&shop), 4);
        let whole = format!("{:?}", shop.model.requests().last().unwrap().request);
        assert!(!whole.contains("Contractor"), "what the reply said is hidden as any name is: {whole}");
    }

    async fn nor_where_a_question_had_to_be_answered_first(test: TestDb) {
        let script = [
            ScriptedTurn::call("debtors", &json!({})),
            ScriptedTurn::call("drop", &arguments("old list")),
            ScriptedTurn::text("It is gone."),
        ];
        let shop = Shop::open(&test, script).await;
        with_a_customer(&test, &shop).await;
        let waiting = shop.ask("1", "see who has to pay, then drop the old list").await;
        assert_eq!(waiting.state, RunState::WaitingApproval, "{waiting:?}");
        assert_eq!(shop.ask("2", "yes").await.text, "It is gone.");
        assert_eq!(unseen(&shop), 3);
    }

    async fn nor_where_another_process_goes_on(test: TestDb) {
        let hanging = ScriptedTurn::events([munshi_llm::ChatEvent::Started { request_id: None, model: None }]).hanging();
        let shop = Shop::open(&test, [ScriptedTurn::call("debtors", &json!({})), ScriptedTurn::call("note", &arguments("milk")), hanging]).await;
        with_a_customer(&test, &shop).await;
        let received = shop.say("1", "see who has to pay and note milk").await;
        wait_until(async || shop.model.requests().len() == 3).await;
        assert_eq!(unseen(&shop), 3);
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("It is noted.")]).await;
        test.clock.advance(Duration::from_secs(120));
        other.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        assert_eq!(other.outcome(&received).await.text, "It is noted.");
        assert_eq!(unseen(&other), 1);
    }

    async fn a_summary_tells_a_model_elsewhere_no_name(test: TestDb) {
        let house = PackRegistry { contexts: vec![FromPack { pack: "shop", what: Arc::new(Contacts) }], ..PackRegistry::default() };
        let script = [
            ScriptedTurn::call("debtors", &json!({})), ScriptedTurn::text("Zubeida owes 1,200."), ScriptedTurn::text("They spoke of who owes."),
        ];
        let shop = Shop::open_with(&test, script, Plan { house, ..Plan::default() }).await;
        let received = shop.say("1", "Rajendra Prasad took 500 today, who else owes us").await;
        shop.outcome(&received).await;
        let (session, binding) = (received.session, shop.binding().await);
        let read = move |tx: &mut munshi_store::Tx<'_>| messages::list_by_run(tx, received.run);
        let messages = shop.db.read(shop.tenant, read).await.unwrap();
        let material = SummaryInput { binding, session, language: None, before: None, messages };
        let summary = shop.engine.summariser().unwrap().summarise(shop.tenant, &material).await;
        assert_eq!(summary.as_deref(), Some("They spoke of who owes."));
        assert_eq!(unseen(&shop), 3);
        for asked in shop.model.requests() {
            let whole = format!("{:?}", asked.request);
            assert!(!whole.contains("Rajendra") && !whole.contains("Prasad"), "{whole}");
        }
    }

    async fn what_a_pack_read_stays_here_in_later_turns_too(test: TestDb) {
        let house = PackRegistry { readers: vec![FromPack { pack: "shop", what: Arc::new(Bank) }], ..PackRegistry::default() };
        let shop = Shop::open_with(&test, [ScriptedTurn::text("Hello.")], Plan { house, ..Plan::default() }).await;
        assert_eq!(shop.ask("1", "BANK: 500 credited to a/c 4711").await.text, "It is done.");
        assert_eq!(shop.ask("2", "hello there").await.text, "Hello.");
        let asked = format!("{:?}", shop.model.requests());
        assert!(asked.contains("hello there") && !asked.contains("credited") && !asked.contains("It is done."), "{asked}");
    }
}

/// Somebody in the books of a pack.
struct Contacts;

impl ContextSource for Contacts {
    fn gather(
        &self,
        _: &mut munshi_store::Tx<'_>,
        _: &PackTurnContext,
    ) -> munshi_store::Result<PromptContribution> {
        let people = vec![ProtectedEntity { names: vec!["Rajendra Prasad".to_owned()], values: Vec::new() }];
        Ok(PromptContribution { people, ..PromptContribution::default() })
    }
}

/// Reads a bank's messages by itself.
struct Bank;

impl PackReader for Bank {
    fn read(&self, scene: &PackTurnContext) -> Option<PackReading> {
        let text = scene.message.strip_prefix("BANK: ")?;
        Some(PackReading::Call { tool: "count".to_owned(), arguments: arguments(text) })
    }
}
