//! What goes with a reply: what may come next, what was spoken of, choices, and what packs have to say.

use std::sync::Arc;

use munshi_conversations::{RunEvent, RunState};
use munshi_pack::{FromPack, Objection, PackCheck, PackReader, PackReading, PackRegistry, PackTurnContext};
use munshi_safety::pipeline::ActConcern;
use munshi_store::Tx;
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use crate::turns::support::{Plan, Shop, arguments, text_of};

fn with(house: PackRegistry) -> Plan {
    Plan { house, ..Plan::default() }
}

/// Reads a bank's messages by itself.
struct Bank;

impl PackReader for Bank {
    fn read(&self, scene: &PackTurnContext) -> Option<PackReading> {
        let text = scene.message.strip_prefix("BANK: ")?;
        if text.is_empty() || text == "?" {
            return Some(PackReading::Say { phrase: "cannot-read-sms".to_owned(), slots: Vec::new() });
        }
        Some(PackReading::Call { tool: "count".to_owned(), arguments: json!({ "text": text }) })
    }
}

/// Wants large notes confirmed, reads what was noted, and has no liking for guesses.
struct Careful;

impl PackCheck for Careful {
    fn check_before_act(
        &self,
        _: &mut Tx<'_>,
        _: &PackTurnContext,
        tool: &str,
        arguments: &Value,
    ) -> munshi_store::Result<Vec<ActConcern>> {
        let is_large = tool == "note" && arguments["text"] == "large";
        let concern = || ActConcern { phrase: "ask-go-ahead".to_owned(), slots: Vec::new() };
        Ok(is_large.then(concern).into_iter().collect())
    }

    fn check_after_act(
        &self,
        _: &mut Tx<'_>,
        _: &PackTurnContext,
        _: &str,
        result: &Value,
    ) -> munshi_store::Result<Option<Objection>> {
        let objection = || Objection {
            what: "the books do not agree".to_owned(),
            phrase: "stuck".to_owned(),
            slots: Vec::new(),
            replaces: false,
        };
        Ok((result["noted"] == "odd").then(objection))
    }

    fn check_reply(&self, _: &PackTurnContext, draft: &str, _: &[Value]) -> Vec<Objection> {
        let replaces = draft.contains("I guess");
        let phrase = "not-understood".to_owned();
        let objection = Objection { what: "a guess".to_owned(), phrase, slots: Vec::new(), replaces };
        if replaces { vec![objection] } else { Vec::new() }
    }
}

on_both! {
    async fn what_may_come_next_is_not_a_part_of_the_reply(test: TestDb) {
        let said = "We open at nine.\n>>next: When do you close? | Where are you?";
        let shop = Shop::open(&test, [ScriptedTurn::text(said)]).await;
        let received = shop.say("1", "when do you open").await;
        let events = shop.events(&received, None).await;
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.text, "We open at nine.");
        assert_eq!(text_of(&events), outcome.text);
        assert!((2..=4).contains(&outcome.suggestions.len()), "{:?}", outcome.suggestions);
        assert!(outcome.suggestions.contains(&"When do you close?".to_owned()), "{:?}", outcome.suggestions);
        assert!(events.iter().any(|(_, event)| matches!(event, RunEvent::Suggestions { suggestions } if *suggestions == outcome.suggestions)));
    }

    async fn a_name_of_two_is_asked_about_and_a_number_picks_one(test: TestDb) {
        let script = [ScriptedTurn::call("balance", &arguments("Ramesh")), ScriptedTurn::text("He owes 450 rupees."), ScriptedTurn::text("Yes, he.")];
        let shop = Shop::open(&test, script).await;
        let which = shop.ask("1", "what does Ramesh owe").await;
        assert_eq!(which.state, RunState::Done);
        assert!(which.text.contains("1. Ramesh Kumar") && which.text.contains("2. Ramesh Gupta"), "{}", which.text);
        assert!(which.suggestions.iter().any(|text| text.contains("Ramesh Gupta")), "{:?}", which.suggestions);
        assert_eq!(shop.model.requests().len(), 1, "no model puts the question");
        let done = shop.ask("2", "दूसरा वाला").await;
        assert_eq!(done.text, "He owes 450 rupees.");
        assert_eq!(done.calls[0].arguments["text"], "Ramesh Gupta", "{:?}", done.calls);
        shop.ask("3", "are you sure about him").await;
        let asked = shop.model.requests();
        let prompt = asked.last().unwrap().request.system.join("\n");
        assert!(prompt.contains("c-17"), "what was spoken of stands before the model: {prompt}");
    }

    /// Nobody was shown the choices: the client had gone when the answer came.
    async fn a_number_picks_nothing_from_choices_that_no_response_carried(test: TestDb) {
        let script = [ScriptedTurn::call("balance", &arguments("Ramesh")), ScriptedTurn::text("One of what?")];
        let shop = Shop::open(&test, script).await;
        let asked = shop.say("1", "what does Ramesh owe").await;
        let which = shop.engine.wait_for_outcome(asked.tenant, asked.run).await.unwrap();
        assert!(which.text.contains("1. Ramesh Kumar"), "{}", which.text);
        let next = shop.ask("2", "1").await;
        assert_eq!((next.text.as_str(), next.calls.len()), ("One of what?", 0));
    }

    async fn a_pack_reads_a_message_without_a_model(test: TestDb) {
        let house = PackRegistry { readers: vec![FromPack { pack: "shop", what: Arc::new(Bank) }], ..PackRegistry::default() };
        let shop = Shop::open_with(&test, [], with(house)).await;
        let said = shop.ask("1", "BANK: ?").await;
        assert!(said.text.contains("SMS"), "{}", said.text);
        let done = shop.ask("2", "BANK: credited 500").await;
        assert_eq!((done.state, done.calls.len()), (RunState::Done, 1), "{done:?}");
        assert_eq!(shop.model.requests().len(), 0);
    }

    async fn what_a_check_wants_confirmed_is_asked_first(test: TestDb) {
        let house = PackRegistry { checks: vec![FromPack { pack: "shop", what: Arc::new(Careful) }], ..PackRegistry::default() };
        let script = [ScriptedTurn::call("note", &arguments("large")), ScriptedTurn::text("Written.")];
        let shop = Shop::open_with(&test, script, with(house)).await;
        assert_eq!(shop.ask("1", "note large").await.state, RunState::WaitingApproval);
        assert_eq!(shop.notes().await, 0);
        assert_eq!(shop.ask("2", "yes").await.text, "Written.");
        assert_eq!(shop.notes().await, 1);
    }

    async fn what_a_check_finds_is_said(test: TestDb) {
        let house = PackRegistry { checks: vec![FromPack { pack: "shop", what: Arc::new(Careful) }], ..PackRegistry::default() };
        let script = [ScriptedTurn::call("note", &arguments("odd")), ScriptedTurn::text("Written."), ScriptedTurn::text("I guess it is nine.")];
        let shop = Shop::open_with(&test, script, with(house)).await;
        let odd = shop.ask("1", "note odd").await;
        assert_eq!(odd.text, "Written.\n\nI tried twice and could not do it. Please tell me what to do.");
        assert_eq!(odd.violations, ["pack-check"]);
        let received = shop.say("2", "when do you open").await;
        let events = shop.events(&received, None).await;
        let replaced = shop.outcome(&received).await;
        assert!(!replaced.text.contains("guess") && replaced.text.contains("understand"), "{}", replaced.text);
        assert_eq!(text_of(&events), replaced.text);
    }
}
