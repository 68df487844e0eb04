//! Tools that take longer than they are waited for: the turn says so and goes on, and the result comes by itself, once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use munshi_conversations::{RunRecoveryScope, RunState, messages, sessions};
use munshi_pack::{FromPack, PackReader, PackReading, PackRegistry, PackTurnContext};
use munshi_store::{PageRequest, params};
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{TestDb, wait_until};
use serde_json::json;

use crate::turns::support::{Plan, Shop, arguments};

const AGENT: &str = "name = \"Plain\"\ntools = [\"count\", \"slow_fetch\", \"quick_fetch\", \"slow_book\", \"slow_fax\", \"late_order\"]\n\
                     [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// Knows by itself which report is wanted.
struct Reports;

impl PackReader for Reports {
    fn read(&self, scene: &PackTurnContext) -> Option<PackReading> {
        let text = scene.message.strip_prefix("REPORT ")?;
        Some(PackReading::Call { tool: "slow_fetch".to_owned(), arguments: arguments(text) })
    }
}

/// What was said in the conversation by the business, the oldest first.
async fn said(shop: &Shop) -> Vec<String> {
    let read = |tx: &mut munshi_store::Tx<'_>| {
        tx.all(
            "SELECT id, text FROM messages WHERE tenant_id = $1 AND speaker = 'persona' ORDER BY number",
            params![],
            crate::turns::support::read_text,
        )
    };
    shop.db.read(shop.tenant, read).await.unwrap()
}

async fn last_reply(shop: &Shop) -> messages::Message {
    let read = |tx: &mut munshi_store::Tx<'_>| -> Result<_, munshi_store::Error> {
        let session =
            sessions::list(tx, sessions::SessionFilter::All, &PageRequest::new(None, 1))?.items.remove(0);
        Ok(messages::list(tx, session.id, &PageRequest::new(None, 1))?.items.remove(0))
    };
    shop.db.read(shop.tenant, read).await.unwrap()
}

async fn until_said(shop: &Shop, count: usize) -> Vec<String> {
    wait_until(async || said(shop).await.len() >= count).await;
    said(shop).await
}

async fn open(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Shop {
    Shop::open_with(test, script, Plan { agent: AGENT.to_owned(), ..Plan::default() }).await
}

/// The process dies while the tool is at it, and another takes it up.
async fn crashed(test: &TestDb, tool: &str, begins: &str) {
    let shop = open(test, [ScriptedTurn::call(tool, &arguments("rice"))]).await;
    let outcome = shop.ask("1", "book the rice").await;
    assert!(outcome.text.contains("working on it"), "{}", outcome.text);
    shop.engine.abandon();
    let other = shop.again(test, []).await;
    other.world.release();
    test.clock.advance(Duration::from_secs(300));
    for _ in 0..2 {
        other.engine.sweep_acts().await.unwrap();
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
    }
    let told = until_said(&other, 2).await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].starts_with(begins), "{told:?}");
    assert_eq!(other.world.effects().len(), 1, "{:?}", other.world.effects());
    assert_eq!(other.number("SELECT COUNT(*) FROM late_acts WHERE tenant_id = $1").await, 0);
}

on_both! {
    async fn what_takes_long_is_told_when_it_is_there(test: TestDb) {
        let shop = open(&test, [ScriptedTurn::call("slow_fetch", &arguments("rice"))]).await;
        let outcome = shop.ask("1", "fetch the rice report").await;
        assert_eq!(outcome.state, RunState::Done);
        assert!(outcome.text.contains("working on it"), "{}", outcome.text);
        assert_eq!(shop.model.requests().len(), 1, "no model is needed to say so");
        assert_eq!(shop.number("SELECT COUNT(*) FROM late_acts WHERE tenant_id = $1").await, 1);
        shop.world.release();
        let told = until_said(&shop, 2).await;
        assert!(told[1].starts_with("What you asked for is ready:") && told[1].contains("booked: rice"), "{told:?}");
        assert_eq!(shop.number("SELECT COUNT(*) FROM late_acts WHERE tenant_id = $1").await, 0);
        let last = last_reply(&shop).await;
        assert_eq!(last.marks["tainted"].as_i64().unwrap() & 4, 4, "others' words were read");
    }

    /// It is worded by the agent's model, which sees the question and the result, and kept as the reply of a run of its own.
    async fn a_late_result_is_worded_and_checked_like_a_reply(test: TestDb) {
        let script = [ScriptedTurn::call("slow_fetch", &arguments("rice")), ScriptedTurn::text("Your rice report is here: booked.")];
        let shop = open(&test, script).await;
        shop.ask("1", "fetch the rice report").await;
        shop.world.release();
        let told = until_said(&shop, 2).await;
        assert_eq!(told[1], "Your rice report is here: booked.");
        let asked = shop.model.requests();
        let seen = format!("{:?}", asked[1].request.messages);
        assert!(seen.contains("fetch the rice report") && seen.contains("booked"), "{seen}");
        assert!(!seen.contains("working on it"), "the model answers the question, not our notice: {seen}");
        assert_eq!(shop.number("SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND kind = 'late' AND state = 'done'").await, 1);
        let decided = "SELECT COUNT(*) FROM decisions WHERE tenant_id = $1";
        assert_eq!(shop.number(decided).await, 2, "it passed every stage of a turn");
    }

    async fn what_is_quick_is_answered_at_once(test: TestDb) {
        let script = [ScriptedTurn::call("quick_fetch", &arguments("rice")), ScriptedTurn::text("Here it is.")];
        let shop = open(&test, script).await;
        shop.world.release();
        assert_eq!(shop.ask("1", "fetch the rice report").await.text, "Here it is.");
        assert_eq!(said(&shop).await.len(), 1);
    }

    async fn a_model_that_asked_for_more_is_told(test: TestDb) {
        let both = ScriptedTurn::calls([("count", json!({})), ("slow_fetch", arguments("rice"))]);
        let shop = open(&test, [both, ScriptedTurn::text("You have none; the report follows.")]).await;
        let outcome = shop.ask("1", "count and fetch").await;
        assert_eq!(outcome.text, "You have none; the report follows.");
        shop.world.release();
        assert_eq!(until_said(&shop, 2).await.len(), 2);
    }

    async fn what_its_turn_has_done_is_not_done_again(test: TestDb) {
        let both = ScriptedTurn::calls([("note", arguments("tea")), ("slow_fetch", arguments("rice"))]);
        let again = ScriptedTurn::call("note", &arguments("tea"));
        let shop = open(&test, [both, ScriptedTurn::text("The report follows."), again, ScriptedTurn::text("Here is the report.")]).await;
        shop.ask("1", "note tea and fetch the rice report").await;
        let before = shop.notes().await;
        shop.world.release();
        let told = until_said(&shop, 2).await;
        assert_eq!(told[1], "Here is the report.");
        assert_eq!(shop.notes().await, before, "a late run words, it does not act");
        let asked = shop.model.requests();
        assert_eq!(asked.last().unwrap().request.tool_choice, munshi_llm::ToolChoice::None);
    }

    async fn a_failure_is_told_too(test: TestDb) {
        let fails = json!({ "text": "rice", "mood": "fails" });
        let shop = open(&test, [ScriptedTurn::call("slow_fetch", &fails)]).await;
        shop.ask("1", "fetch the rice report").await;
        shop.world.release();
        let told = until_said(&shop, 2).await;
        assert!(told[1].starts_with("What I was working on did not succeed"), "{told:?}");
    }

    async fn a_call_ends_with_the_turn_that_lost_its_run(test: TestDb) {
        let shop = open(&test, [ScriptedTurn::call("late_order", &arguments("rice"))]).await;
        let other = shop.again(&test, [ScriptedTurn::text("It is ordered.")]).await;
        let received = shop.say("1", "order the rice").await;
        wait_until(async || shop.world.began.load(Ordering::SeqCst) == 1).await;
        // It could not be renewed in time, and another node takes the run up, looks, and does what is not there yet.
        test.clock.advance(Duration::from_secs(60));
        assert_eq!(other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap(), 1);
        wait_until(async || shop.world.began.load(Ordering::SeqCst) == 2).await;
        // Past the soft limit of the first.
        tokio::time::sleep(Duration::from_secs(2)).await;
        shop.world.release();
        other.outcome(&received).await;
        shop.engine.finish().await;
        assert_eq!(shop.world.effects().len(), 1, "{:?}", shop.world.effects());
    }

    async fn after_a_crash_it_is_told_once_and_done_once(test: TestDb) {
        crashed(&test, "slow_book", "What you asked for is ready:").await;
    }

    async fn what_nobody_can_look_up_is_not_tried_again_after_a_crash(test: TestDb) {
        crashed(&test, "slow_fax", "What I was working on broke off").await;
    }

    /// The act came to its end after its process died, and its run is stopped before anybody has looked at it again.
    async fn what_ended_before_its_run_was_stopped_is_told(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("book", &arguments("rice"))]).await;
        shop.world.hangs.store(true, Ordering::SeqCst);
        let received = shop.say("1", "book the rice").await;
        wait_until(async || shop.world.effects().len() == 1).await;
        shop.engine.abandon();
        shop.world.hangs.store(false, Ordering::SeqCst);
        test.clock.advance(Duration::from_secs(120));
        let other = shop.again(&test, []).await;
        assert_eq!(other.engine.sweep_acts().await.unwrap().ended, 1);
        other.engine.cancel(received.tenant, received.run).await.unwrap();
        let stopped = other.outcome(&received).await;
        assert_eq!(stopped.halt, Some(munshi_conversations::HaltReason::Cancelled), "{stopped:?}");
        let told = until_said(&other, 2).await;
        assert!(told[0].starts_with("I have stopped."), "{told:?}");
        assert!(told[1].starts_with("What you asked for is ready:") && told[1].contains("booked: rice"), "{told:?}");
        assert_eq!((told.len(), other.world.effects().len()), (2, 1));
    }

    /// What a pack read by itself no model elsewhere is told of, also not when its result comes after the run's end.
    async fn the_result_of_what_a_pack_read_stays_here(test: TestDb) {
        let house = PackRegistry { readers: vec![FromPack { pack: "shop", what: Arc::new(Reports) }], ..PackRegistry::default() };
        let plan = Plan { agent: AGENT.to_owned(), house, ..Plan::default() };
        let shop = Shop::open_with(&test, [ScriptedTurn::text("Somebody else has read it.")], plan).await;
        let outcome = shop.ask("1", "REPORT rice").await;
        assert!(outcome.state == RunState::Done && outcome.text.contains("working on it"), "{outcome:?}");
        shop.world.release();
        let told = until_said(&shop, 2).await;
        assert!(told[1].starts_with("What you asked for is ready:") && told[1].contains("booked: rice"), "{told:?}");
        assert_eq!(shop.model.requests().len(), 0);
    }
}
