//! Two messages of one person, and stopping one.

use std::time::Duration;

use munshi_agent::RunCancelOutcome;
use munshi_conversations::{HaltReason, IngestStatus, RunState};
use munshi_llm::{ChatEvent as Said, StopReason, TokenUsage};
use munshi_test_support::models::{ScriptGate, ScriptedTurn};

use crate::turns::support::{Shop, arguments};

fn word(text: &str) -> Said {
    Said::Text(text.to_owned())
}

on_both! {
    async fn two_messages_at_once_are_answered_in_order(test: TestDb) {
        let gate = ScriptGate::default();
        let held = ScriptedTurn::text("First.").with_gate(&gate);
        let shop = Shop::open(&test, [held, ScriptedTurn::text("Second."), ScriptedTurn::text("Third.")]).await;
        let first = shop.say("1", "the first thing").await;
        let second = shop.say("2", "the second thing").await;
        let third = shop.say("3", "the third thing").await;
        assert_eq!(first.status, IngestStatus::Begun);
        assert_eq!(second.status, IngestStatus::Queued { behind: Some(first.run) });
        assert_eq!(third.status, IngestStatus::Queued { behind: Some(second.run) });
        gate.open();
        let texts = [shop.outcome(&first).await.text, shop.outcome(&second).await.text, shop.outcome(&third).await.text];
        assert_eq!(texts, ["First.", "Second.", "Third."]);
        let asked = shop.model.requests();
        let last: Vec<String> = asked[2].request.messages.iter().map(munshi_llm::ChatMessage::text).collect();
        assert_eq!(last, ["the first thing", "First.", "the second thing", "Second.", "the third thing"]);
        assert_eq!(shop.events(&second, None).await.last().unwrap().1.name(), "done");
    }

    async fn a_run_is_stopped_while_the_model_speaks(test: TestDb) {
        let hanging = ScriptedTurn::events([word("Well, to begin with. "), word("And then ")]).hanging();
        let shop = Shop::open(&test, [hanging, ScriptedTurn::text("Next.")]).await;
        let received = shop.say("1", "tell me everything").await;
        let mut following = shop.engine.follow(received.tenant, received.run, None).await.unwrap();
        while following.next().await.unwrap().1.name() != "token" {}
        assert_eq!(shop.engine.cancel(received.tenant, received.run).await.unwrap(), RunCancelOutcome::Asked);
        let outcome = shop.outcome(&received).await;
        assert_eq!((outcome.state, outcome.halt.clone()), (RunState::Halted, Some(HaltReason::Cancelled)));
        assert!(outcome.text.starts_with("Well, to begin with.") && outcome.text.contains("cancelled"), "{}", outcome.text);
        assert_eq!(shop.engine.cancel(received.tenant, received.run).await.unwrap(), RunCancelOutcome::TooLate);
        assert_eq!(shop.ask("2", "and now?").await.text, "Next.", "the conversation goes on");
        let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1";
        assert_eq!(shop.number(held).await, 0);
    }

    async fn what_was_done_before_a_stop_is_not_denied(test: TestDb) {
        let hanging = ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging();
        let shop = Shop::open(&test, [ScriptedTurn::call("note", &arguments("milk")), hanging]).await;
        let received = shop.say("1", "note milk please").await;
        while shop.model.requests().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        shop.engine.cancel(received.tenant, received.run).await.unwrap();
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.halt, Some(HaltReason::Cancelled));
        assert!(outcome.text.contains("What was done before"), "{}", outcome.text);
        assert_eq!(shop.notes().await, 1);
    }

    async fn a_run_that_waits_its_turn_can_be_stopped(test: TestDb) {
        let hanging = ScriptedTurn::events([word("Well. ")]).hanging();
        let shop = Shop::open(&test, [hanging]).await;
        let first = shop.say("1", "the first thing").await;
        let second = shop.say("2", "the second thing").await;
        assert_eq!(shop.engine.cancel(second.tenant, second.run).await.unwrap(), RunCancelOutcome::Asked);
        assert_eq!(shop.outcome(&second).await.halt, Some(HaltReason::Cancelled));
        shop.engine.cancel(first.tenant, first.run).await.unwrap();
        assert_eq!(shop.outcome(&first).await.halt, Some(HaltReason::Cancelled));
    }

    async fn a_model_that_breaks_off_is_asked_again_and_what_it_said_is_void(test: TestDb) {
        use munshi_llm::ModelError;
        let broken = || ScriptedTurn::events_then_fault([word("The total is five. "), word("No, it ")], ModelError::Interrupted);
        let whole = ScriptedTurn::events([word("The total "), word("is six."), Said::Finished { stop: StopReason::EndTurn, usage: TokenUsage::default() }]);
        let shop = Shop::open(&test, [broken(), broken(), whole]).await;
        let received = shop.say("1", "what is the total").await;
        let events = shop.events(&received, None).await;
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.text, "The total is six.");
        assert_eq!(crate::turns::support::text_of(&events), "The total is six.");
        assert_eq!(shop.model.requests().len(), 3);
        assert_eq!(shop.number("SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1").await, 3);
    }

    async fn a_model_that_only_breaks_off_is_excused(test: TestDb) {
        use munshi_llm::ModelError;
        let broken = || ScriptedTurn::events_then_fault([word("The total is five. "), word("No, it ")], ModelError::Interrupted);
        let shop = Shop::open(&test, [broken(), broken(), broken()]).await;
        let outcome = shop.ask("1", "what is the total").await;
        assert!(matches!(outcome.halt, Some(HaltReason::NoModel(_))), "{:?}", outcome.halt);
        assert!(outcome.degraded && !outcome.text.contains("five"), "{}", outcome.text);
    }
}
