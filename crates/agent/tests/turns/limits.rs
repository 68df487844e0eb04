//! Limits that are reached: which one is said, and what still answers.

use munshi_agent::{Halt, Outcome};
use munshi_safety::budget::{self, Lane, LimitOn, LimitTo, Measure, Period, Scope};
use munshi_test_support::database::MORNING;
use munshi_test_support::models::Turn;

use crate::support::Shop;

async fn limit(shop: &Shop, scope: Scope, period: Period, measure: Measure, most: u64) {
    let on = LimitOn { lane: Lane::People, scope, id: None, period, measure };
    let set = move |tx: &mut munshi_store::Tx<'_>| budget::set_limit(tx, on, LimitTo::AtMost(most), MORNING);
    shop.db.write(shop.tenant, set).await.unwrap();
}

/// The sentence that was said, and the limit that the run names.
fn refused(shop: &Shop, outcome: &Outcome, phrase: &str) -> String {
    let english = munshi_lang::Voice::all().next().unwrap();
    assert_eq!(outcome.text, shop.book.say(phrase, english, &[]).unwrap(), "{outcome:?}");
    match &outcome.halt {
        Some(Halt::OverBudget(which)) => which.clone(),
        other => panic!("{other:?}"),
    }
}

on_both! {
    async fn what_is_said_goes_by_the_limit(test: TestDb) {
        let shop = Shop::open(&test, [Turn::text("One.")]).await;
        limit(&shop, Scope::Person, Period::Day, Measure::Interactions, 1).await;
        assert_eq!(shop.ask("1", "hello there").await.text, "One.");
        let which = refused(&shop, &shop.ask("2", "hello again").await, "limit-today");
        assert!(which.starts_with("this person's limit for the day is 1 interactions"), "{which}");

        limit(&shop, Scope::Tenant, Period::Month, Measure::Interactions, 1).await;
        let which = refused(&shop, &shop.ask("3", "hello once more").await, "limit-month");
        assert!(which.starts_with("this tenant's limit for the month"), "{which}");

        limit(&shop, Scope::Binding, Period::Day, Measure::Tokens, 10).await;
        let which = refused(&shop, &shop.ask("4", "and one more time").await, "limit-too-small");
        assert!(which.starts_with("this binding's limit for the day is 10 tokens"), "{which}");
        assert_eq!(shop.model.requests().len(), 1);
    }
}
