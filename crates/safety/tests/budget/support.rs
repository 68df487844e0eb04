//! A governor with a tenant, and short words for asking it.

use std::sync::Arc;

use munshi_llm::money::Cost;
use munshi_safety::Error;
use munshi_safety::budget::{
    Account, Amount, Governor, Lane, LimitOn, LimitTo, Measure, Period, Plan, Refused, Reserved, Scope,
    Settings, Settled, set_limit, set_plan,
};
use munshi_store::{Db, params};
use munshi_test_support::TestDb;
use munshi_types::{Clock, FakeClock, Ids, ReservationId, TenantId, Timestamp, Zone};
use uuid::Uuid;

pub(crate) struct Scene {
    pub(crate) db: Db,
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) ids: Ids,
    pub(crate) governor: Arc<Governor>,
    pub(crate) tenant: TenantId,
}

impl Scene {
    pub(crate) async fn of(test: &TestDb) -> Self {
        Self::with(test, Settings::default()).await
    }

    pub(crate) async fn with(test: &TestDb, settings: Settings) -> Self {
        let tenant = test.tenant("shop").await;
        Self::of_tenant(test, tenant).restarted(settings)
    }

    pub(crate) fn of_tenant(test: &TestDb, tenant: TenantId) -> Self {
        let governor = Arc::new(Governor::new(Settings::default(), test.ids.clone()));
        let (db, clock, ids) = (test.db.clone(), test.clock.clone(), test.ids.clone());
        Self { db, clock, ids, governor, tenant }
    }

    /// The same database under other settings, as after a restart.
    pub(crate) fn restarted(&self, settings: Settings) -> Self {
        let governor = Arc::new(Governor::new(settings, self.ids.clone()));
        let (db, clock, ids) = (self.db.clone(), self.clock.clone(), self.ids.clone());
        Self { db, clock, ids, governor, tenant: self.tenant }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) async fn try_reserve(&self, account: &Account, most: Amount) -> Result<Reserved, Refused> {
        let (governor, account, now) = (self.governor.clone(), account.clone(), self.now());
        let asked = self.db.write(self.tenant, move |tx| governor.reserve(tx, &account, &most, now)).await;
        match asked {
            Ok(reserved) => Ok(reserved),
            Err(Error::OverBudget(refused)) => Err(*refused),
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) async fn reserve(&self, account: &Account, most: Amount) -> ReservationId {
        self.try_reserve(account, most).await.unwrap_or_else(|refused| panic!("{refused}")).id
    }

    pub(crate) async fn settle(&self, id: ReservationId, spent: Amount) -> Settled {
        let governor = self.governor.clone();
        self.db.write(self.tenant, move |tx| governor.settle(tx, id, &spent)).await.unwrap()
    }

    /// Uses something up for good.
    pub(crate) async fn spend(&self, account: &Account, amount: Amount) {
        let id = self.reserve(account, amount).await;
        assert_eq!(self.settle(id, amount).await, Settled::Now);
    }

    pub(crate) async fn plan(&self, plan: Plan) {
        let now = self.now();
        self.db.write(self.tenant, move |tx| set_plan(tx, Some(plan), now)).await.unwrap();
    }

    pub(crate) async fn limit(&self, on: LimitOn, to: LimitTo) {
        let now = self.now();
        self.db.write(self.tenant, move |tx| set_limit(tx, on, to, now)).await.unwrap();
    }

    /// Used and held of one measure, in the counter of this scope that ends last.
    pub(crate) async fn counted(
        &self,
        lane: Lane,
        scope: Scope,
        period: Period,
        measure: Measure,
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
    pub(crate) async fn month(&self, measure: Measure) -> (i64, i64) {
        self.counted(Lane::People, Scope::Tenant, Period::Month, measure).await
    }

    pub(crate) fn person(&self) -> Account {
        Account {
            binding: Some(self.ids.next()),
            person: Some(self.ids.next()),
            ..tenant_alone(Lane::People)
        }
    }
}

pub(crate) fn tenant_alone(lane: Lane) -> Account {
    Account { binding: None, person: None, lane, zone: Zone::default() }
}

pub(crate) fn on(lane: Lane, scope: Scope, period: Period, measure: Measure) -> LimitOn {
    LimitOn { lane, scope, id: None, period, measure }
}

pub(crate) fn on_one(id: Uuid, limit: LimitOn) -> LimitOn {
    LimitOn { id: Some(id), ..limit }
}

pub(crate) fn cents(cents: i64) -> Amount {
    Amount::money(Cost::from_micros(cents * 10_000))
}

pub(crate) fn tokens(tokens: u64) -> Amount {
    Amount { tokens, ..Amount::NOTHING }
}
