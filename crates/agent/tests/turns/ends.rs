//! Turns that end without an answer of their own, each in the person's language.

use munshi_conversations::{Error, HaltReason, RunState};
use munshi_llm::ModelError;
use munshi_safety::budget::BudgetSettings as Budgets;
use munshi_test_support::models::ScriptedTurn;
use serde_json::json;

use crate::turns::support::{Plan, Shop, arguments};

async fn interactions(shop: &Shop) -> i64 {
    let sql = "SELECT COALESCE(MAX(used_interactions), 0) FROM usage_counters WHERE tenant_id = $1 AND slot = 'people 0 2026-11'";
    shop.number(sql).await
}

on_both! {
    async fn no_model_is_an_excuse_and_not_billed(test: TestDb) {
        let script = (0..9).map(|_| ScriptedTurn::fault(ModelError::Unauthorised));
        let shop = Shop::open(&test, script).await;
        let outcome = shop.ask("1", "आज कितनी बिक्री हुई?").await;
        assert!(matches!(outcome.halt, Some(HaltReason::NoModel(_))));
        assert!(outcome.degraded);
        assert_eq!(outcome.language.unwrap().as_str(), "hi");
        assert!(outcome.text.chars().any(|letter| ('\u{900}'..='\u{97f}').contains(&letter)), "{}", outcome.text);
        assert_eq!(interactions(&shop).await, 0);
        let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1";
        assert_eq!(shop.number(held).await, 0);
    }

    async fn an_aadhaar_number_is_not_kept(test: TestDb) {
        let shop = Shop::open(&test, []).await;
        let received = shop.say("1", "my aadhaar is 2345 6789 0124 please keep it").await;
        let outcome = shop.outcome(&received).await;
        assert!(matches!(outcome.halt, Some(HaltReason::RefusedAtDoor(_))), "{outcome:?}");
        assert!(outcome.text.contains("Aadhaar") && outcome.degraded);
        let kept = shop.messages_of(received.run).await;
        assert!(kept.len() == 2 && kept.iter().all(|said| !said.text.contains("2345")), "{kept:?}");
        assert_eq!((shop.model.requests().len(), interactions(&shop).await), (0, 0));
        let recorded = "SELECT COUNT(*) FROM decisions WHERE tenant_id = $1 AND outcome = 'refused_at_door'
                        AND agent_version = 1 AND model_calls = 0";
        assert_eq!(shop.number(recorded).await, 1);
        let events = shop.events(&received, None).await;
        assert_eq!(crate::turns::support::text_of(&events), outcome.text);
        assert_eq!(events.last().unwrap().1.name(), "done");
    }

    async fn a_limit_is_said_and_nothing_is_asked(test: TestDb) {
        let budgets = Budgets { person_interactions_day: Some(1), ..Budgets::default() };
        let shop = Shop::open_with(&test, [ScriptedTurn::text("One.")], Plan { budgets, ..Plan::default() }).await;
        assert_eq!(shop.ask("1", "hello there").await.text, "One.");
        let outcome = shop.ask("2", "hello again").await;
        assert!(matches!(outcome.halt, Some(HaltReason::OverBudget(_))), "{outcome:?}");
        assert!(outcome.text.contains("limit") && outcome.degraded);
        assert_eq!((shop.model.requests().len(), interactions(&shop).await), (1, 1));
        let recorded = "SELECT COUNT(*) FROM decisions WHERE tenant_id = $1 AND outcome = 'over_budget'";
        assert_eq!(shop.number(recorded).await, 1);
    }

    async fn calls_beyond_the_cap_are_noted_within_one_message_too(test: TestDb) {
        let calls: Vec<_> = (0..8).map(|nth| ("count", json!({ "nth": nth }))).collect();
        let shop = Shop::open(&test, [ScriptedTurn::calls(calls), ScriptedTurn::text("There are none.")]).await;
        let outcome = shop.ask("1", "count them eight times").await;
        assert_eq!((outcome.text.as_str(), outcome.state), ("There are none.", RunState::Done));
        assert_eq!(outcome.violations, ["tool-cap"]);
    }

    async fn the_same_call_that_failed_twice_is_not_tried_again(test: TestDb) {
        let failing = || ScriptedTurn::call("count", &json!({ "mood": "fails" }));
        let shop = Shop::open(&test, [failing(), failing(), failing()]).await;
        let outcome = shop.ask("1", "kitna maal bacha hai bataiye").await;
        assert!(matches!(outcome.halt, Some(HaltReason::Stuck(_))), "{outcome:?}");
        assert!(outcome.text.contains("do baar"), "in their own language: {}", outcome.text);
        assert_eq!(shop.world.looks.load(std::sync::atomic::Ordering::SeqCst), 2);
        assert!(!outcome.degraded);
    }

    async fn a_tool_that_fails_too_often_ends_the_turn(test: TestDb) {
        let failing = |nth: u32| ScriptedTurn::call("count", &json!({ "mood": "fails", "nth": nth }));
        let shop = Shop::open(&test, (1..=5).map(failing)).await;
        let outcome = shop.ask("1", "count everything").await;
        assert!(matches!(outcome.halt, Some(HaltReason::Stuck(_))), "{outcome:?}");
        assert_eq!(shop.world.looks.load(std::sync::atomic::Ordering::SeqCst), 3);
    }

    async fn more_calls_than_the_agent_may_make_end_the_turn(test: TestDb) {
        let calls = (0..8).map(|nth| ScriptedTurn::call("count", &json!({ "nth": nth })));
        let shop = Shop::open(&test, calls).await;
        let outcome = shop.ask("1", "count everything").await;
        assert_eq!(outcome.halt, Some(HaltReason::ToolCap));
        assert_eq!(outcome.calls.len(), 6);
        assert_eq!(outcome.violations, ["tool-cap"]);
        assert!(outcome.text.contains("smaller part"), "{}", outcome.text);
    }

    async fn what_is_refused_is_replanned_once(test: TestDb) {
        let agent = Plan::default().agent.replace("write = [\"*\"]", "write = []");
        let plan = Plan { agent, ..Plan::default() };
        let script = [ScriptedTurn::call("note", &arguments("milk")), ScriptedTurn::call("book", &arguments("milk")), ScriptedTurn::text("never")];
        let shop = Shop::open_with(&test, script, plan).await;
        let outcome = shop.ask("1", "note milk").await;
        assert!(matches!(outcome.halt, Some(HaltReason::Stuck(_))), "{outcome:?}");
        assert!(outcome.text.contains("permission"), "{}", outcome.text);
        assert_eq!((shop.notes().await, shop.world.effects().len()), (0, 0));
    }

    async fn a_run_has_a_budget_of_its_own(test: TestDb) {
        let mut budgets = Budgets::default();
        budgets.run.iterations = 4;
        let calls = (0..8).map(|nth| ScriptedTurn::call("count", &json!({ "nth": nth })));
        let shop = Shop::open_with(&test, calls, Plan { budgets, ..Plan::default() }).await;
        let outcome = shop.ask("1", "count everything").await;
        assert!(matches!(outcome.halt, Some(HaltReason::RunSpent(_))), "{outcome:?}");
    }

    async fn rules_hold_while_the_reply_streams(test: TestDb) {
        let said = "Your key is here. Use sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD for it. Then all is well.";
        let pieces = said.as_bytes().chunks(7).map(|piece| munshi_llm::ChatEvent::Text(String::from_utf8(piece.to_vec()).unwrap()));
        let end = munshi_llm::ChatEvent::Finished { stop: munshi_llm::StopReason::EndTurn, usage: Default::default() };
        let shop = Shop::open(&test, [ScriptedTurn::events(pieces.chain([end]))]).await;
        let received = shop.say("1", "what is the key").await;
        let events = shop.events(&received, None).await;
        let outcome = shop.outcome(&received).await;
        assert!(!outcome.text.contains("abcdefgh") && outcome.text.contains("all is well"), "{}", outcome.text);
        assert_eq!(crate::turns::support::text_of(&events), outcome.text);
        assert!(!format!("{events:?}").contains("abcdefgh"));
        assert!(outcome.violations.contains(&"no-secrets".to_owned()), "{:?}", outcome.violations);
    }

    async fn what_leads_nowhere_is_said(test: TestDb) {
        let shop = Shop::open(&test, []).await;
        let mut lost = shop.message(shop.staff, "1", "hello");
        lost.to = munshi_types::InboundTarget::Address("handle:nobody".parse().unwrap());
        assert!(matches!(shop.engine.receive(lost).await, Err(Error::NoBinding(_))));
        assert!(matches!(shop.engine.receive(shop.message(shop.staff, "1", "  ")).await, Err(Error::Unfit(_))));
        let unknown = shop.engine.wait_for_outcome(shop.tenant, test.ids.next()).await;
        assert!(matches!(unknown, Err(Error::NoRun)));
        assert!(matches!(shop.engine.follow(shop.tenant, test.ids.next(), None).await, Err(Error::NoRun)));
    }

    async fn nothing_said_is_no_answer(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("  ")]).await;
        let outcome = shop.ask("1", "hello there").await;
        assert_eq!(outcome.state, RunState::Halted);
        assert!(outcome.degraded && !outcome.text.is_empty());
    }
}
