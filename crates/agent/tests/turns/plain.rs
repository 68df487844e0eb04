//! A message and its answer.

use std::time::Duration;

use munshi_agent::TurnSettings;
use munshi_conversations::{IngestStatus, RunEvent, RunState};
use munshi_llm::pricing::{ModelPrice, PriceBook};
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::Id;
use serde_json::json;

use crate::turns::meter::Writes;
use crate::turns::support::{Plan, Shop, arguments, text_of};

/// With no price, and with one that knows no cache.
fn price_books(model: &str) -> [PriceBook; 2] {
    let price = ModelPrice { input: 1_000_000, output: 5_000_000, ..ModelPrice::FREE };
    [PriceBook::default(), PriceBook::new([(model.to_owned(), price)].into())]
}

async fn plain_turn_is_two_transactions(engine: DatabaseEngine) {
    let writes = Writes::watch();
    let lists = crate::turns::support::migrations();
    for prices in price_books(&Plan::default().targets[0].model) {
        // Whoever might be followed by another message looks in memory alone.
        let settings = TurnSettings { join_window: Duration::from_secs(1), ..TurnSettings::default() };
        let (test, plan) = (TestDb::open(engine, &lists).await, Plan { prices, settings, ..Plan::default() });
        let shop = Shop::open_with(
            &test,
            [ScriptedTurn::text("Hello."), ScriptedTurn::text("Hello again.")],
            plan.clone(),
        )
        .await;
        // The first turn of the day makes the counters; it is no different otherwise.
        for (id, text) in [("1", "Hello."), ("2", "Hello again.")] {
            let before = writes.committed();
            let outcome = shop.ask(id, "hello there, how are you").await;
            assert_eq!(outcome.text, text);
            let prices = &plan.prices;
            assert_eq!(writes.committed() - before, 2, "ingest and respond, and nothing else: {prices:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_turn_is_two_transactions_sqlite() {
    plain_turn_is_two_transactions(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_turn_is_two_transactions_postgres() {
    plain_turn_is_two_transactions(DatabaseEngine::Postgres).await;
}

on_both! {
    /// Of each call it is kept what its prompt was made of and which it was, and nothing of its text.
    async fn a_call_keeps_what_its_prompt_was_made_of(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("Hello."), ScriptedTurn::text("Hello.")]).await;
        let mut hashes = Vec::new();
        for id in ["1", "2"] {
            let received = shop.say(id, "is the blue kettle there").await;
            shop.outcome(&received).await;
            let run = received.run.as_uuid();
            let list = move |tx: &mut munshi_store::Tx<'_>| munshi_llm::calls::list_of_run(tx, run);
            let [call] = &shop.db.read(shop.tenant, list).await.unwrap()[..] else { panic!("one call") };
            let sections = call.sections.clone().unwrap();
            let shares = sections["shares"].as_array().unwrap();
            let tokens: u64 = shares.iter().map(|share| share["tokens"].as_u64().unwrap()).sum();
            assert_eq!(Some(tokens), sections["total"].as_u64(), "{sections}");
            assert!(shares.iter().any(|share| share["section"] == "message"), "{sections}");
            assert!(!sections.to_string().contains("kettle"));
            hashes.push(call.prompt_hash.clone().unwrap());
        }
        assert_eq!((hashes[0].len(), hashes[0] == hashes[1]), (64, false), "the second knew of the first");
    }

    async fn a_message_is_answered(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("Good morning. The shop opens at nine.")]).await;
        let received = shop.say("1", "When do you open, please?").await;
        let events = shop.events(&received, None).await;
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.text, "Good morning. The shop opens at nine.");
        assert_eq!(text_of(&events), outcome.text);
        let Some((_, RunEvent::Done { state, degraded, usage, .. })) = events.last() else { panic!("{events:?}") };
        assert_eq!((state.as_str(), *degraded, usage.model_calls), ("done", false, 1));
        assert_eq!((outcome.state, outcome.halt.clone(), outcome.degraded), (RunState::Done, None, false));
        assert_eq!(outcome.usage.input_tokens, 10);
        assert!(outcome.timings.total > 0 && outcome.timings.first_word.is_some(), "{:?}", outcome.timings);
        assert_eq!(shop.number("SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1").await, 1);
        assert_eq!(shop.number("SELECT COUNT(*) FROM decisions WHERE tenant_id = $1").await, 1);
        let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1";
        assert_eq!(shop.number(held).await, 0, "what was set aside is settled");
        let used = "SELECT used_interactions FROM usage_counters WHERE tenant_id = $1 AND slot = 'people 0 2026-11'";
        assert_eq!(shop.number(used).await, 1);
    }

    async fn the_conversation_goes_back_to_the_model(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("Hello Asha."), ScriptedTurn::text("Twelve.")]).await;
        shop.ask("1", "good morning to you").await;
        shop.ask("2", "how many are left?").await;
        let asked = shop.model.requests();
        let texts: Vec<String> = asked[1].request.messages.iter().map(munshi_llm::ChatMessage::text).collect();
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert_eq!(texts[0], "good morning to you");
        assert!(!texts[1].contains("Asha"), "no model elsewhere learns a name: {texts:?}");
        assert!(texts[1].starts_with("Hello "), "{texts:?}");
    }

    async fn tools_of_every_effect_are_called_once(test: TestDb) {
        let all = ["count", "note", "fetch", "book", "order", "fax"];
        let script = all.iter().map(|tool| ScriptedTurn::call(tool, &arguments("milk"))).chain([ScriptedTurn::text("All done.")]);
        let shop = Shop::open(&test, script).await;
        // Her own words hold every value, so that nothing has to be confirmed.
        let outcome = shop.ask("1", "milk").await;
        assert_eq!(outcome.text, "All done.", "{outcome:?}");
        assert_eq!(outcome.calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), all);
        assert!(outcome.calls.iter().all(|call| call.ok), "{:?}", outcome.calls);
        assert_eq!((shop.notes().await, shop.world.effects().len()), (1, 3));
        assert_eq!(outcome.usage.tool_calls, 6);
        let results = shop.model.requests()[6].request.messages.len();
        assert_eq!(results, 1 + 2 * 6, "the model has seen every result");
    }

    async fn several_calls_at_once_keep_their_order(test: TestDb) {
        use munshi_llm::{ChatEvent as Said, StopReason, TokenUsage};
        let call = |index: usize, text: &str| [
            Said::ToolCallStarted { index, id: format!("c{index}"), name: "note".to_owned() },
            Said::ToolCallArguments { index, fragment: json!({ "text": text }).to_string() },
        ];
        let mut events = vec![Said::Text("One moment.".to_owned())];
        events.extend(call(0, "tea"));
        events.extend(call(1, "salt"));
        events.push(Said::Finished { stop: StopReason::ToolUse, usage: TokenUsage::default() });
        let shop = Shop::open(&test, [ScriptedTurn::events(events), ScriptedTurn::text("Both are noted.")]).await;
        let received = shop.say("1", "tea and salt").await;
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.text, "One moment.\n\nBoth are noted.");
        assert_eq!(shop.notes().await, 2);
        let events = shop.events(&received, None).await;
        let named: Vec<&str> = events.iter().map(|(_, event)| event.name()).filter(|name| *name != "thinking").collect();
        assert_eq!(named, ["token", "tool_call", "tool_result", "tool_call", "tool_result", "token", "suggestions", "done"]);
    }

    async fn the_same_message_ten_times_is_one_run(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("Once.")]).await;
        let many = (0..10).map(|_| shop.say("same", "hello there"));
        let received = futures_util::future::join_all(many).await;
        assert!(received.iter().all(|one| (one.run, one.message) == (received[0].run, received[0].message)));
        assert_eq!(received.iter().filter(|one| one.status == IngestStatus::Begun).count(), 1);
        assert_eq!(shop.outcome(&received[0]).await.text, "Once.");
        assert_eq!((shop.model.requests().len(), shop.number("SELECT COUNT(*) FROM messages WHERE tenant_id = $1").await), (1, 2));
    }
}
