//! Two who apply at once.

use munshi_test_support::on_both_engines;
use munshi_tiers::{Error, VanishedTierPolicy, history};

use crate::tiers::support::{Shop, perform};

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_tiers::MIGRATIONS];

    async fn who_comes_second_is_told_and_does_nothing(test: TestDb) {
        let (mine, yours) = (Shop::new("sharma"), Shop::new("sharma"));
        mine.apply(&test).await.unwrap();
        mine.edit("humans/meera.md", "warm", "cold");
        yours.edit("teams/counter.md", "casual", "formal");
        yours.edit("humans/meera.md", "Meera\"\nidentity", "Meera ji\"\nidentity");
        let other = test.open_again().await;
        let my_plan = mine.plan(&test.db, VanishedTierPolicy::Keep).await.unwrap();
        let your_plan = yours.plan(&other, VanishedTierPolicy::Keep).await.unwrap();
        perform(&test, &test.db, vec![my_plan]).await.unwrap();
        let told = perform(&test, &other, vec![your_plan]).await.unwrap_err();
        assert_eq!(told.to_string(), "human meera changed since the plan was made; nothing was applied");
        let tiers = history::list_tiers(&test.db, &"sharma".parse().unwrap()).await.unwrap();
        let versions: Vec<(&str, u32)> = tiers.iter().map(|tier| (tier.name.as_str(), tier.version)).collect();
        assert!(versions.contains(&("meera", 2)) && versions.contains(&("counter", 1)), "{versions:?}");
    }

    async fn many_at_once_never_mix(test: TestDb) {
        let first = Shop::new("sharma");
        first.apply(&test).await.unwrap();
        let other = test.open_again().await;
        let mut plans = Vec::new();
        for number in 0..8 {
            let shop = Shop::new("sharma");
            // Each says the same number in two tiers.
            shop.edit("humans/meera.md", "warm", &format!("number {number}"));
            shop.edit("teams/counter.md", "You take orders", &format!("number {number}. You take orders"));
            plans.push(shop.plan(&test.db, VanishedTierPolicy::Keep).await.unwrap());
        }
        let applied = plans.into_iter().enumerate().map(|(at, plan)| {
            let db = if at % 2 == 0 { test.db.clone() } else { other.clone() };
            let test = &test;
            async move { perform(test, &db, vec![plan]).await }
        });
        let outcomes = join_all(applied).await;
        let done = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(done, 1, "{outcomes:?}");
        let overtaken = |outcome: &&munshi_tiers::Result<()>| matches!(outcome, Err(Error::Overtaken { .. }));
        assert_eq!(outcomes.iter().filter(overtaken).count(), 7, "{outcomes:?}");
        let tiers = history::list_tiers(&test.db, &"sharma".parse().unwrap()).await.unwrap();
        let tier = |name: &str| tiers.iter().find(|tier| tier.name.as_str() == name).unwrap().body.clone();
        let said = |text: &serde_json::Value| text.as_str().unwrap().split("number ").nth(1).unwrap()[..1].to_owned();
        assert_eq!(said(&tier("meera")["voice"]["tone"]), said(&tier("counter")["role"]));
    }
}

/// All at once, each on the runtime's own threads.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.map(Box::pin).collect();
    let mut outcomes: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, outcome) in futures.iter_mut().zip(&mut outcomes) {
            if outcome.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *outcome = Some(value);
            }
        }
        if outcomes.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    outcomes.into_iter().flatten().collect()
}
