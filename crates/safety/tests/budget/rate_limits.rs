//! Rate limits are counted in the database: whichever node counts, it is one count.

use std::time::Duration;

use munshi_safety::Error;
use munshi_safety::rate_limits::{
    LIMITS, LimitRefill, LimitSubject, RateLimit, RateLimitHit, consume, sweep,
};
use munshi_store::{Db, PlatformTx, Tx};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, TenantId};
use sha2::{Digest, Sha256};

const MINUTE: Duration = Duration::from_secs(60);

fn of(subject: LimitSubject, whose: &str, most: u32) -> RateLimit {
    RateLimit::new(subject, whose, (most, MINUTE), LimitRefill::Steady)
}

/// Counts on one node; the limit that was reached, if one was.
async fn uses(db: &Db, test: &TestDb, tenant: TenantId, limits: Vec<RateLimit>) -> Option<RateLimitHit> {
    let now = test.clock.now();
    match db.write(tenant, move |tx: &mut Tx<'_>| consume(tx, &limits, now)).await {
        Ok(()) => None,
        Err(Error::RateLimited(reached)) => Some(reached),
        Err(error) => panic!("{error}"),
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn two_nodes_are_one(test: TestDb) {
        let (tenant, other) = (test.add_tenant("shop").await, test.add_tenant("other").await);
        let nodes = [test.db.clone(), test.open_again().await];
        let limits = || vec![of(LimitSubject::Tenant, "", 100), of(LimitSubject::Person, "asha", 6)];
        for at in 0..6 {
            assert_eq!(uses(&nodes[at % 2], &test, tenant, limits()).await, None, "{at}");
        }
        for node in &nodes {
            let reached = uses(node, &test, tenant, limits()).await.unwrap();
            assert_eq!((reached.subject, reached.most), (LimitSubject::Person, 6));
            assert_eq!(reached.wait, Duration::from_secs(10), "until the first is free again");
        }
        assert_eq!(uses(&nodes[1], &test, tenant, vec![of(LimitSubject::Person, "farid", 6)]).await, None);
        assert_eq!(uses(&nodes[1], &test, other, limits()).await, None, "another tenant's is its own");
        test.clock.advance(Duration::from_secs(10));
        assert_eq!(uses(&nodes[1], &test, tenant, limits()).await, None);
        assert!(uses(&nodes[0], &test, tenant, limits()).await.is_some());
    }

    async fn what_is_refused_counts_for_nothing(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let both = || vec![of(LimitSubject::Tenant, "", 3), of(LimitSubject::Person, "asha", 1)];
        assert_eq!(uses(&test.db, &test, tenant, both()).await, None);
        for _ in 0..5 {
            assert_eq!(uses(&test.db, &test, tenant, both()).await.unwrap().subject, LimitSubject::Person);
        }
        let alone = || vec![of(LimitSubject::Tenant, "", 3)];
        assert_eq!(uses(&test.db, &test, tenant, alone()).await, None, "the refused took nothing of it");
        assert_eq!(uses(&test.db, &test, tenant, alone()).await, None);
        let reached = uses(&test.db, &test, tenant, both()).await.unwrap();
        assert_eq!(reached.subject, LimitSubject::Tenant, "of two the one that was named first");
    }

    async fn a_visit_begins_anew_after_a_silence(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let visit = || vec![RateLimit::new(LimitSubject::Visit, "v", (3, MINUTE), LimitRefill::AfterSilence)];
        for _ in 0..3 {
            assert_eq!(uses(&test.db, &test, tenant, visit()).await, None);
            test.clock.advance(Duration::from_secs(30));
        }
        let reached = uses(&test.db, &test, tenant, visit()).await.unwrap();
        assert_eq!(reached.wait, Duration::from_secs(30), "asking in vain does not make it longer");
        test.clock.advance(Duration::from_secs(30));
        for _ in 0..3 {
            assert_eq!(uses(&test.db, &test, tenant, visit()).await, None);
        }
        assert!(uses(&test.db, &test, tenant, visit()).await.is_some());
    }

    async fn whose_a_row_is_can_not_be_guessed(test: TestDb) {
        let tenants = [test.add_tenant("shop").await, test.add_tenant("other").await];
        let mut found = Vec::new();
        for tenant in tenants {
            uses(&test.db, &test, tenant, vec![of(LimitSubject::AddressDay, "203.0.113.7", 5)]).await;
            let read = |tx: &mut Tx<'_>| {
                tx.one("SELECT bucket FROM rate_limits WHERE tenant_id = $1", &[], |row| row.get::<String>(0))
            };
            found.push(test.db.read(tenant, read).await.unwrap());
        }
        // All addresses there are hash in no time, and a key of the tenant's own stands in between.
        let plain: String = Sha256::digest("203.0.113.7").iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        assert!(found.iter().all(|bucket| bucket.starts_with("address-day:") && !bucket.contains(&plain)), "{found:?}");
        assert_ne!(found[0], found[1]);
        assert!(!format!("{:?}", of(LimitSubject::AddressDay, "203.0.113.7", 5)).contains("203"));
    }

    async fn what_is_free_again_is_swept(test: TestDb) {
        let (tenant, other) = (test.add_tenant("shop").await, test.add_tenant("other").await);
        uses(&test.db, &test, tenant, vec![of(LimitSubject::Person, "asha", 1)]).await;
        test.clock.advance(Duration::from_secs(30));
        uses(&test.db, &test, other, vec![of(LimitSubject::Person, "asha", 1)]).await;
        test.clock.advance(Duration::from_secs(30));
        let now = test.clock.now();
        for swept in [1, 0] {
            let unit = move |tx: &mut PlatformTx<'_>| sweep(tx, now);
            assert_eq!(test.db.platform(LIMITS).write(unit).await.unwrap(), swept);
        }
        assert!(uses(&test.db, &test, other, vec![of(LimitSubject::Person, "asha", 1)]).await.is_some());
    }

    async fn many_at_once_get_no_more_than_there_is(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let nodes = [test.db.clone(), test.open_again().await];
        let (mut tries, now) = (tokio::task::JoinSet::new(), test.clock.now());
        for at in 0..40 {
            // In whatever order they are named, no two wait for each other.
            let mut limits = vec![of(LimitSubject::Tenant, "", 15), of(LimitSubject::AddressMinute, "x", 15)];
            if at % 3 == 0 {
                limits.reverse();
            }
            let node = nodes[at % 2].clone();
            tries.spawn(async move { node.write(tenant, move |tx: &mut Tx<'_>| consume(tx, &limits, now)).await });
        }
        let outcomes = tries.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 15);
        let refused = outcomes.iter().filter(|outcome| matches!(outcome, Err(Error::RateLimited(_))));
        assert_eq!(refused.count(), 25);
    }
}
