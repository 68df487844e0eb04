//! A governor with a tenant, and short words for asking it.

use std::sync::Arc;

use munshi_llm::pricing::Cost;
use munshi_safety::Error;
use munshi_safety::budget::{
    BudgetAccount, BudgetAmount, BudgetGovernor, BudgetLane, BudgetLimitSubject, BudgetLimitValue,
    BudgetMeasure, BudgetPeriod, BudgetRefusal, BudgetScope, BudgetSettings, Reservation, SettleOutcome,
    UsagePlan, set_limit, set_plan,
};
use munshi_store::{Db, params};
use munshi_test_support::{TestDb, administer};
use munshi_types::{Clock, FakeClock, IdGenerator, ReservationId, TenantId, Timestamp, Zone};
use uuid::Uuid;

pub(crate) struct Scene {
    pub(crate) db: Db,
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) ids: IdGenerator,
    pub(crate) governor: Arc<BudgetGovernor>,
    pub(crate) tenant: TenantId,
}

impl Scene {
    pub(crate) async fn of(test: &TestDb) -> Self {
        Self::with(test, BudgetSettings::default()).await
    }

    pub(crate) async fn with(test: &TestDb, settings: BudgetSettings) -> Self {
        let tenant = test.add_tenant("shop").await;
        Self::of_tenant(test, tenant).restarted(settings)
    }

    pub(crate) fn of_tenant(test: &TestDb, tenant: TenantId) -> Self {
        let governor = Arc::new(BudgetGovernor::new(BudgetSettings::default(), test.ids.clone()));
        let (db, clock, ids) = (test.db.clone(), test.clock.clone(), test.ids.clone());
        Self { db, clock, ids, governor, tenant }
    }

    /// The same database under other settings, as after a restart.
    pub(crate) fn restarted(&self, settings: BudgetSettings) -> Self {
        let governor = Arc::new(BudgetGovernor::new(settings, self.ids.clone()));
        let (db, clock, ids) = (self.db.clone(), self.clock.clone(), self.ids.clone());
        Self { db, clock, ids, governor, tenant: self.tenant }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) async fn try_reserve(
        &self,
        account: &BudgetAccount,
        most: BudgetAmount,
    ) -> Result<Reservation, BudgetRefusal> {
        let (governor, account, now) = (self.governor.clone(), account.clone(), self.now());
        let asked = self.db.write(self.tenant, move |tx| governor.reserve(tx, &account, &most, now)).await;
        match asked {
            Ok(reserved) => Ok(reserved),
            Err(Error::OverBudget(refused)) => Err(*refused),
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) async fn reserve(&self, account: &BudgetAccount, most: BudgetAmount) -> ReservationId {
        self.try_reserve(account, most).await.unwrap_or_else(|refused| panic!("{refused}")).id
    }

    pub(crate) async fn settle(&self, id: ReservationId, spent: BudgetAmount) -> SettleOutcome {
        let governor = self.governor.clone();
        self.db.write(self.tenant, move |tx| governor.settle(tx, id, &spent)).await.unwrap()
    }

    /// Uses something up for good.
    pub(crate) async fn spend(&self, account: &BudgetAccount, amount: BudgetAmount) {
        let id = self.reserve(account, amount).await;
        assert_eq!(self.settle(id, amount).await, SettleOutcome::Now);
    }

    pub(crate) async fn plan(&self, plan: UsagePlan) {
        let now = self.now();
        self.db
            .write(self.tenant, move |tx| administer(tx, |tx| set_plan(tx, Some(plan), now)))
            .await
            .unwrap();
    }

    pub(crate) async fn limit(&self, on: BudgetLimitSubject, to: BudgetLimitValue) {
        let now = self.now();
        self.db.write(self.tenant, move |tx| administer(tx, |tx| set_limit(tx, on, to, now))).await.unwrap();
    }

    /// Used and held of one measure, in the counter of this scope that ends last.
    pub(crate) async fn counted(
        &self,
        lane: BudgetLane,
        scope: BudgetScope,
        period: BudgetPeriod,
        measure: BudgetMeasure,
    ) -> (i64, i64) {
        let read = move |tx: &mut munshi_store::Tx<'_>| {
            tx.optional(
                "SELECT used_interactions, held_interactions, used_jobs, held_jobs, used_tokens, held_tokens, used_money,
                        held_money
                 FROM usage_counters WHERE tenant_id = $1 AND lane = $2 AND scope = $3 AND period = $4
                 ORDER BY starts_on DESC, slot LIMIT 1",
                params![lane.as_str(), scope.as_str(), period.as_str()],
                |row| Ok((row.get(measure as usize * 2)?, row.get(measure as usize * 2 + 1)?)),
            )
        };
        let found = self.db.read(self.tenant, read).await.unwrap();
        found.unwrap_or_default()
    }

    /// The tenant's month.
    pub(crate) async fn month(&self, measure: BudgetMeasure) -> (i64, i64) {
        self.counted(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Month, measure).await
    }

    pub(crate) fn person(&self) -> BudgetAccount {
        BudgetAccount {
            binding: Some(self.ids.next()),
            person: Some(self.ids.next()),
            ..tenant_alone(BudgetLane::People)
        }
    }
}

pub(crate) fn tenant_alone(lane: BudgetLane) -> BudgetAccount {
    BudgetAccount { binding: None, person: None, lane, zone: Zone::default() }
}

pub(crate) fn on(
    lane: BudgetLane,
    scope: BudgetScope,
    period: BudgetPeriod,
    measure: BudgetMeasure,
) -> BudgetLimitSubject {
    BudgetLimitSubject { lane, scope, id: None, period, measure }
}

pub(crate) fn on_one(id: Uuid, limit: BudgetLimitSubject) -> BudgetLimitSubject {
    BudgetLimitSubject { id: Some(id), ..limit }
}

pub(crate) fn cents(cents: i64) -> BudgetAmount {
    BudgetAmount::money(Cost::from_micros(cents * 10_000))
}

pub(crate) fn tokens(tokens: u64) -> BudgetAmount {
    BudgetAmount { tokens, ..BudgetAmount::NOTHING }
}
