//! What the person asks or tells is known to the rules of their turn.

use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;

use crate::turns::support::{Plan, Shop};

/// A shop whose agent keeps these rules too.
async fn with_rules(test: &TestDb, rules: &str, script: impl IntoIterator<Item = ScriptedTurn>) -> Shop {
    let plan = Plan::default();
    let agent = plan.agent.replace("\"no-secrets\"", rules);
    Shop::open_with(test, script, Plan { agent, ..plan }).await
}

on_both! {
    async fn whoever_asks_for_a_machine_is_told(test: TestDb) {
        let shop = with_rules(&test, r#""admits-ai""#, [ScriptedTurn::text("Ha ha, good one!"), ScriptedTurn::text("We open at nine.")]).await;
        let told = shop.ask("1", "wait, are you a robot?").await;
        assert!(told.text.contains("AI"), "{}", told.text);
        assert_eq!(told.violations, ["admits-ai"]);
        assert_eq!(shop.ask("2", "when do you open").await.text, "We open at nine.");
    }

    async fn a_price_is_not_named_again_unless_asked(test: TestDb) {
        let price = || ScriptedTurn::text("It comes in red. It is ₹499.");
        let shop = with_rules(&test, r#""price-cooldown""#, [price(), price(), price()]).await;
        assert!(shop.ask("1", "tell me about the kettle").await.text.contains("499"));
        assert!(!shop.ask("2", "which colours are there").await.text.contains("499"));
        assert!(shop.ask("3", "how much is it").await.text.contains("499"));
    }

    async fn a_danger_that_nobody_answered_stays_one(test: TestDb) {
        let script = [ScriptedTurn::fault(munshi_llm::ModelError::Unauthorised), ScriptedTurn::text("Rest a while."), ScriptedTurn::text("Good.")];
        let shop = with_rules(&test, r#""red-flag""#, script).await;
        assert!(shop.ask("1", "my father has severe chest pain").await.degraded);
        let told = shop.ask("2", "are you there").await;
        assert!(told.text.contains("112") || told.text.contains("108"), "{}", told.text);
        assert_eq!(shop.ask("3", "thank you, the doctor is here").await.text, "Good.", "help was named: it is over");
    }

    async fn the_locale_of_a_message_is_told_to_the_model(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("Hello."), ScriptedTurn::text("Hello.")]).await;
        let mut message = shop.message(shop.staff, "1", "hello there");
        message.locale = Some("en-IN".to_owned());
        let received = shop.engine.receive(message).await.unwrap();
        shop.outcome(&received).await;
        shop.ask("2", "hello again").await;
        let asked = shop.model.requests();
        let told = |at: usize| asked[at].request.system.iter().any(|block| block.contains("Locale en-IN."));
        assert_eq!((told(0), told(1)), (true, false));
        // What asks for suggestions is the same in every turn, and comes after all that is cached.
        let last = asked[0].request.system.last().unwrap();
        assert!(last.trim_end().ends_with(munshi_agent::suggest::ASKING), "{last}");
    }
}
