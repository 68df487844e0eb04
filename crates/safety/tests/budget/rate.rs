//! How often: bursts, the pace after them, wrong clocks, many callers.

use std::time::Duration;

use munshi_safety::budget::rate_quota::{RateDecision, RateQuota, consume};
use munshi_test_support::on_both_engines;
use tokio::task::JoinSet;

use crate::budget::support::Scene;

impl Scene {
    async fn take(&self, name: &'static str, rate: RateQuota) -> RateDecision {
        let now = self.now();
        self.db.write(self.tenant, move |tx| consume(tx, name, rate, now)).await.unwrap()
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn a_burst_and_then_an_even_pace(test: TestDb) {
        let scene = Scene::of(&test).await;
        let rate = RateQuota::per_minute(6);
        for _ in 0..6 {
            assert_eq!(scene.take("tool send", rate).await, RateDecision::Taken);
        }
        assert_eq!(scene.take("tool send", rate).await, RateDecision::Wait(Duration::from_secs(10)));
        assert_eq!(scene.take("tool other", rate).await, RateDecision::Taken, "each name has its own");
        scene.clock.advance(Duration::from_secs(9));
        assert_eq!(scene.take("tool send", rate).await, RateDecision::Wait(Duration::from_secs(1)));
        scene.clock.advance(Duration::from_secs(1));
        assert_eq!(scene.take("tool send", rate).await, RateDecision::Taken);
        assert!(matches!(scene.take("tool send", rate).await, RateDecision::Wait(_)));
        scene.clock.advance(Duration::from_secs(3600));
        for _ in 0..6 {
            assert_eq!(scene.take("tool send", rate).await, RateDecision::Taken);
        }
        assert!(matches!(scene.take("tool send", rate).await, RateDecision::Wait(_)), "rest is not saved up");
        assert_eq!(scene.take("never", RateQuota::per_minute(0)).await, RateDecision::Wait(Duration::MAX));
    }

    async fn a_clock_that_was_wrong_locks_nobody_out_and_one_that_differs_gives_nothing_away(test: TestDb) {
        let scene = Scene::of(&test).await;
        let (rate, right) = (RateQuota::per_minute(2), scene.now());
        scene.clock.set(right.plus(Duration::from_secs(90)));
        for _ in 0..2 {
            assert_eq!(scene.take("a", rate).await, RateDecision::Taken);
        }
        scene.clock.set(right);
        assert!(matches!(scene.take("a", rate).await, RateDecision::Wait(_)), "a node that is a little behind");
        scene.clock.set(right.plus(Duration::from_secs(86_400 * 365)));
        for _ in 0..2 {
            assert_eq!(scene.take("b", rate).await, RateDecision::Taken);
        }
        scene.clock.set(right);
        for _ in 0..2 {
            assert_eq!(scene.take("b", rate).await, RateDecision::Taken);
        }
        assert!(matches!(scene.take("b", rate).await, RateDecision::Wait(_)));
    }

    async fn many_at_once_get_no_more_than_there_is(test: TestDb) {
        let scene = Scene::of(&test).await;
        let (rate, now, mut callers) = (RateQuota::per_minute(20), scene.now(), JoinSet::new());
        for _ in 0..100 {
            let (db, tenant) = (scene.db.clone(), scene.tenant);
            callers.spawn(async move { db.write(tenant, move |tx| consume(tx, "tool", rate, now)).await.unwrap() });
        }
        let taken = callers.join_all().await.into_iter().filter(|took| *took == RateDecision::Taken).count();
        assert_eq!(taken, 20);
    }
}
