//! The sweep keeps the tables small and says what it found.

use std::time::Duration;

use munshi_safety::budget::{
    BudgetLane, BudgetMeasure, BudgetSettings, BudgetSweepReport, SettleOutcome, sweep,
};
use munshi_store::across_tenants;
use munshi_test_support::on_both_engines;

use crate::budget::support::{Scene, tenant_alone, tokens};

const DAY: Duration = Duration::from_secs(86_400);

impl Scene {
    async fn sweep(&self) -> BudgetSweepReport {
        sweep(&self.db, self.governor.settings(), self.now()).await.unwrap()
    }

    async fn rows(&self) -> (i64, i64) {
        let count = |text| {
            move |tx: &mut munshi_store::PlatformTx<'_>| tx.one(across_tenants(text), &[], |row| row.get(0))
        };
        let platform = self.db.platform(munshi_safety::budget::BUDGET);
        let reservations = platform.read(count("SELECT count(*) FROM usage_reservations")).await;
        let days = platform.read(count("SELECT count(*) FROM usage_counters WHERE period = 'day'")).await;
        let both: (munshi_store::Result<i64>, munshi_store::Result<i64>) = (reservations, days);
        (both.0.unwrap(), both.1.unwrap())
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn what_expired_is_counted_and_in_the_end_forgotten(test: TestDb) {
        let scene = Scene::of(&test).await;
        let other = Scene::of_tenant(&test, test.add_tenant("other").await);
        for (number, scene) in [&scene, &other].into_iter().enumerate() {
            for _ in 0..=number {
                scene.reserve(&scene.person(), tokens(5)).await;
                scene.reserve(&tenant_alone(BudgetLane::Background), tokens(5)).await;
            }
        }
        assert_eq!(scene.sweep().await, BudgetSweepReport::default(), "nothing has expired yet");
        let late = scene.reserve(&scene.person(), tokens(7)).await;
        scene.clock.advance(Duration::from_secs(3600));
        let fresh = scene.reserve(&scene.person(), tokens(3)).await;
        assert_eq!(scene.sweep().await, BudgetSweepReport { expired: 7, ..BudgetSweepReport::default() });
        assert_eq!(scene.sweep().await, BudgetSweepReport::default());
        assert_eq!((scene.month(BudgetMeasure::Tokens).await, other.month(BudgetMeasure::Tokens).await), ((0, 3), (0, 0)));
        assert_eq!(scene.settle(late, tokens(7)).await, SettleOutcome::Late, "still to be booked");
        assert_eq!(scene.settle(fresh, tokens(3)).await, SettleOutcome::Now);
        scene.clock.advance(8 * DAY);
        assert_eq!(scene.sweep().await, BudgetSweepReport { forgotten: 6, ..BudgetSweepReport::default() });
        assert_eq!(scene.rows().await.0, 0);
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (10, 0));
    }

    async fn more_than_one_step_is_swept_too(test: TestDb) {
        let scene = Scene::of(&test).await;
        let (governor, account, now) = (scene.governor.clone(), scene.person(), scene.now());
        let many = move |tx: &mut munshi_store::Tx<'_>| {
            for _ in 0..1_203 {
                governor.reserve(tx, &account, &tokens(1), now)?;
            }
            Ok::<(), munshi_safety::Error>(())
        };
        scene.db.write(scene.tenant, many).await.unwrap();
        scene.clock.advance(DAY);
        assert_eq!(scene.sweep().await.expired, 1_203);
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (0, 0));
    }

    async fn old_days_go_and_months_stay(test: TestDb) {
        let scene = Scene::with(&test, BudgetSettings { keep: 30 * DAY, ..BudgetSettings::default() }).await;
        scene.spend(&scene.person(), tokens(5)).await;
        assert_eq!(scene.rows().await.1, 3);
        scene.clock.advance(32 * DAY);
        assert_eq!(scene.sweep().await.removed, 3);
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (5, 0));
    }
}
