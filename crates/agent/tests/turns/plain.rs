//! A message and its answer.

use munshi_agent::{Event, RunState};
use munshi_test_support::models::Turn;
use munshi_test_support::{TestDb, on_both_engines};

use crate::support::{MIGRATIONS, Shop, arguments, text_of};

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4], MIGRATIONS[5], MIGRATIONS[6], MIGRATIONS[7]];

    async fn a_message_is_answered(test: TestDb) {
        let shop = Shop::open(&test, [Turn::text("Good morning. The shop opens at nine.")]).await;
        let received = shop.say("1", "When do you open, please?").await;
        let events = shop.events(&received, None).await;
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.text, "Good morning. The shop opens at nine.");
        assert_eq!(text_of(&events), outcome.text);
        assert!(matches!(events.last(), Some((_, Event::Done { state, degraded: false, .. })) if state == "done"));
        assert_eq!((outcome.state, outcome.halt, outcome.degraded), (RunState::Done, None, false));
        assert_eq!(outcome.usage.model_calls, 1);
        assert_eq!(shop.number("SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1").await, 1);
        assert_eq!(shop.number("SELECT COUNT(*) FROM decisions WHERE tenant_id = $1").await, 1);
        let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1";
        assert_eq!(shop.number(held).await, 0, "what was set aside is settled");
    }

    async fn a_tool_is_called_and_told_of(test: TestDb) {
        let script = [Turn::call("note", &arguments("milk")), Turn::text("Noted: milk.")];
        let shop = Shop::open(&test, script).await;
        let outcome = shop.ask("1", "note milk").await;
        assert_eq!(outcome.text, "Noted: milk.");
        assert_eq!(shop.notes().await, 1);
        assert_eq!(outcome.calls.len(), 1);
        assert!(outcome.calls[0].ok && outcome.calls[0].tool == "note");
    }
}
