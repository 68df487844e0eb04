//! What a bare yes is an answer to, and what it takes over.

use std::time::Duration;

use munshi_agent::RunState;
use munshi_test_support::models::Turn;

use crate::support::{Shop, arguments};

const PENDING: &str = "SELECT COUNT(*) FROM approvals WHERE tenant_id = $1 AND state = 'pending'";

on_both! {
    async fn a_yes_to_something_else_is_no_yes(test: TestDb) {
        let script = [
            Turn::call("drop", &arguments("old")), Turn::text("It is 500. Shall I list the last five?"),
            Turn::text("Here they are."), Turn::text("As you like."), Turn::call("drop", &arguments("old")),
        ];
        let shop = Shop::open(&test, script).await;
        assert_eq!(shop.ask("1", "remove old").await.state, RunState::WaitingApproval);
        assert!(shop.ask("2", "what is my balance?").await.text.ends_with("the last five?"));
        assert_eq!(shop.ask("3", "yes").await.text, "Here they are.");
        assert_eq!(shop.ask("4", "no").await.text, "As you like.", "nor is a no to something else one to this");
        assert_eq!((shop.notes().await, shop.number(PENDING).await), (0, 1));
        // Asked again, and answered right after: one of the two is to be named.
        assert_eq!(shop.ask("5", "remove old, please").await.state, RunState::WaitingApproval);
        let which = shop.ask("6", "yes").await;
        assert!(which.text.contains("1. ") && which.text.contains("2. "), "{}", which.text);
        assert_eq!(shop.notes().await, 0);
    }

    async fn a_yes_before_the_question_is_no_answer_to_it(test: TestDb) {
        let slow = Turn::call("drop", &arguments("all")).slow(Duration::from_millis(200));
        let shop = Shop::open(&test, [slow, Turn::text("All right.")]).await;
        let first = shop.say("1", "remove all").await;
        let second = shop.say("2", "ok").await;
        assert_eq!(shop.outcome(&first).await.state, RunState::WaitingApproval);
        assert_eq!(shop.outcome(&second).await.text, "All right.");
        assert_eq!((shop.notes().await, shop.number(PENDING).await), (0, 1));
    }
}
