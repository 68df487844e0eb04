//! The installation's key for fences.

use munshi_test_support::database::MORNING;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_tiers::ensure_fence_key;
use munshi_types::SeededRandom;

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_tiers::MIGRATIONS];

    async fn every_node_has_the_same_key_for_ever(test: TestDb) {
        let nodes = [test.open_again().await, test.open_again().await, test.open_again().await];
        let chances = [SeededRandom::new(1), SeededRandom::new(2), SeededRandom::new(3)];
        let [one, two, three] = [0, 1, 2].map(|at: usize| ensure_fence_key(&nodes[at], &chances[at], MORNING));
        let (one, two, three) = tokio::join!(one, two, three);
        let key = one.unwrap();
        assert_eq!((two.unwrap(), three.unwrap()), (key, key), "whoever came first");
        let later = ensure_fence_key(&test.open_again().await, &SeededRandom::new(4), MORNING).await.unwrap();
        assert_eq!(later, key, "after a restart");
    }

    async fn two_installations_have_two_keys(test: TestDb) {
        let other = TestDb::open_with(test.engine(), &[munshi_store::MIGRATIONS, munshi_tiers::MIGRATIONS], munshi_store::StoreOptions::default()).await;
        let random = SeededRandom::new(7);
        let (here, there) = (ensure_fence_key(&test.db, &random, MORNING).await, ensure_fence_key(&other.db, &random, MORNING).await);
        assert_ne!(here.unwrap(), there.unwrap());
    }
}
