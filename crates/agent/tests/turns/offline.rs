//! The model of this machine: its open question outlives the turn, and the process.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::{RunRecoveryScope, RunState};
use munshi_lang::Phrasebook;
use munshi_llm::ModelTarget;
use munshi_offline::OfflineProvider;
use munshi_test_support::TestDb;

use crate::turns::support::{Plan, Shop};

fn plan() -> Plan {
    let agent = Plan::default().agent.replace("tools = [", "tools = [\"credit_given\", ");
    Plan { agent, targets: vec![ModelTarget::offline()], ..Plan::default() }
}

async fn shop(test: &TestDb) -> Shop {
    let shop = Shop::open_with(test, [], plan()).await;
    process(test, &shop, test.db.clone())
}

fn process(test: &TestDb, shop: &Shop, db: munshi_store::Db) -> Shop {
    let offline = Arc::new(OfflineProvider::new(Phrasebook::core().unwrap()).unwrap());
    shop.thinking_with(test, db, offline, plan())
}

on_both! {
    async fn a_question_is_answered_in_the_next_message(test: TestDb) {
        let shop = shop(&test).await;
        let asked = shop.ask("1", "Ramesh ko udhaar diya").await;
        assert_eq!(asked.text, "Rakam samajh nahi aayi. Kripya bataiye kitne rupaye hain.", "{asked:?}");
        let done = shop.ask("2", "500").await;
        assert_eq!(done.state, RunState::Done);
        assert_eq!(done.calls.len(), 1, "{done:?}");
        assert_eq!(done.calls[0].arguments["amount"], 50_000);
        assert!(!done.text.contains('⟦') && !done.text.is_empty(), "{}", done.text);
        assert_eq!(shop.notes().await, 1);
        assert_eq!(done.usage.cost_micros, Some(0));
    }

    async fn the_question_outlives_the_process(test: TestDb) {
        let shop = shop(&test).await;
        shop.ask("1", "रमेश को उधार दिया").await;
        shop.engine.abandon();
        let other = process(&test, &shop, test.open_again().await);
        let received = other.say("2", "पाँच सौ").await;
        test.clock.advance(Duration::from_secs(120));
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        let done = other.outcome(&received).await;
        assert_eq!(done.calls.len(), 1, "{done:?}");
        assert_eq!(done.calls[0].arguments["amount"], 50_000);
        assert_eq!(shop.notes().await, 1);
    }
}
