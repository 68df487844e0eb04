//! Many at once: never one over, none lost, none stuck.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use munshi_safety::Error;
use munshi_safety::budget::{
    BudgetAccount, BudgetAmount, BudgetGovernor, BudgetLane, BudgetLimitValue, BudgetMeasure, BudgetPeriod,
    BudgetScope, BudgetSettings, SettleOutcome, UsagePlan, sweep,
};
use munshi_store::{Db, Row, Tx, across_tenants};
use munshi_test_support::on_both_engines;
use munshi_types::{Clock, FakeClock, Id, Random, ReservationId, SeededRandom, TenantId, Zone};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::budget::support::{Scene, on, tenant_alone};

/// How many reservations are asked for in all, where nobody says otherwise; by how many callers; and how many a unit
/// asks for.
const RESERVATIONS: u64 = 6_000;
const CALLERS: u64 = 32;
const A_UNIT: u64 = 10;
const TENANTS: usize = 4;

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn the_last_permitted_call_passes_once_ever(test: TestDb) {
        let scene = Scene::of(&test).await;
        scene.plan(UsagePlan::Free).await;
        let account = tenant_alone(BudgetLane::People);
        scene.spend(&account, BudgetAmount { interactions: 49, ..BudgetAmount::NOTHING }).await;
        let mut callers = JoinSet::new();
        for _ in 0..64 {
            let (db, governor, tenant) = (scene.db.clone(), scene.governor.clone(), scene.tenant);
            let (account, now) = (account.clone(), scene.now());
            callers.spawn(async move {
                let unit = move |tx: &mut Tx<'_>| governor.reserve(tx, &account, &BudgetAmount::interaction(), now);
                match db.write(tenant, unit).await {
                    Ok(_) => true,
                    Err(Error::OverBudget(_)) => false,
                    Err(error) => panic!("{error}"),
                }
            });
        }
        let passed = callers.join_all().await.into_iter().filter(|passed| *passed).count();
        assert_eq!(passed, 1);
        assert_eq!(scene.month(BudgetMeasure::Interactions).await, (49, 1));
    }

    async fn a_new_day_begun_by_many_at_once_counts_each_of_them(test: TestDb) {
        let scene = Scene::of(&test).await;
        scene.plan(UsagePlan::Free).await;
        let (binding, person) = (Some(scene.ids.next()), Some(scene.ids.next()));
        let account = BudgetAccount { binding, person, ..tenant_alone(BudgetLane::People) };
        for day in 0..3_u64 {
            scene.clock.advance(Duration::from_secs(86_400));
            let mut callers = JoinSet::new();
            for _ in 0..16 {
                let (db, governor, tenant) = (scene.db.clone(), scene.governor.clone(), scene.tenant);
                let (account, now) = (account.clone(), scene.now());
                callers.spawn(async move {
                    db.write(tenant, move |tx| governor.reserve(tx, &account, &BudgetAmount::interaction(), now)).await
                });
            }
            assert!(callers.join_all().await.into_iter().all(|one| one.is_ok()));
            let held = |scope| scene.counted(BudgetLane::People, scope, BudgetPeriod::Day, BudgetMeasure::Interactions);
            assert_eq!((held(BudgetScope::Tenant).await, held(BudgetScope::Person).await), ((0, 16), (0, 16)), "day {day}");
        }
    }

    async fn a_new_month_begun_by_many_accounts_at_once_is_no_ring_of_locks(test: TestDb) {
        let scene = Scene::of(&test).await;
        scene.plan(UsagePlan::Business).await;
        let bindings: Vec<_> = (0..3).map(|_| scene.ids.next()).collect();
        let persons: Vec<_> = (0..4).map(|_| scene.ids.next()).collect();
        for month in 0..20_u64 {
            scene.clock.advance(Duration::from_secs(31 * 86_400));
            let mut callers = JoinSet::new();
            for number in 0..48_usize {
                let (db, governor, tenant) = (scene.db.clone(), scene.governor.clone(), scene.tenant);
                let (binding, person) = (Some(bindings[number % 3]), Some(persons[number % 4]));
                let (account, now) = (BudgetAccount { binding, person, ..tenant_alone(BudgetLane::People) }, scene.now());
                callers.spawn(async move {
                    db.write(tenant, move |tx| governor.reserve(tx, &account, &BudgetAmount::interaction(), now)).await
                });
            }
            for reserved in callers.join_all().await {
                reserved.unwrap_or_else(|error| panic!("month {month}: {error}"));
            }
        }
    }

    async fn many_reservations_never_go_over_and_none_is_lost(test: TestDb) {
        let town = Arc::new(Town::build(&test).await);
        let watching = tokio::task::JoinSet::from_iter([town.clone().watch()]);
        let mut callers = JoinSet::new();
        for number in 0..CALLERS {
            callers.spawn(Caller::new(town.clone(), number).run());
        }
        let mut books = Books::default();
        for theirs in callers.join_all().await {
            books.merge(theirs);
        }
        town.is_over.store(true, Ordering::SeqCst);
        let looks: u64 = watching.join_all().await.into_iter().sum();
        println!(
            "{} granted, {} refused, {} abandoned, seen {looks} times",
            books.granted, books.refused, books.abandoned
        );
        assert_eq!(books.granted + books.refused, town.wanted);
        assert!(books.granted > town.wanted / 4 && books.refused > town.wanted / 5, "the limits are tight");
        assert!(looks > 20, "somebody looked meanwhile");
        town.check(&books).await;
    }
}

/// `MUNSHI_TEST_RESERVATIONS=100000` is the long form.
#[allow(clippy::disallowed_methods, reason = "a developer asks for the long form in the environment")]
fn wanted() -> u64 {
    let given = std::env::var("MUNSHI_TEST_RESERVATIONS").ok();
    given.map_or(RESERVATIONS, |count| count.parse().expect("a whole number"))
}

/// Tenants with bindings and persons, under limits that are reached.
struct Town {
    db: Db,
    governor: Arc<BudgetGovernor>,
    clock: Arc<FakeClock>,
    homes: Vec<Home>,
    /// How many reservations there are to be.
    wanted: u64,
    asked: AtomicU64,
    is_over: AtomicBool,
}

struct Home {
    tenant: TenantId,
    bindings: Vec<munshi_types::BindingId>,
    persons: Vec<munshi_types::PersonId>,
}

impl Town {
    async fn build(test: &munshi_test_support::TestDb) -> Self {
        let settings = BudgetSettings { plan: UsagePlan::Business, ..BudgetSettings::default() };
        let wanted = wanted();
        let mut homes = Vec::new();
        for number in 0..TENANTS {
            let tenant = test.add_tenant(&format!("home-{number}")).await;
            let scene = Scene::of_tenant(test, tenant);
            let ids = &test.ids;
            homes.push(Home {
                tenant,
                bindings: (0..3).map(|_| ids.next()).collect(),
                persons: (0..12).map(|_| ids.next()).collect(),
            });
            for lane in [BudgetLane::People, BudgetLane::Background] {
                let limits = [
                    (BudgetScope::Tenant, BudgetPeriod::Month, BudgetMeasure::Tokens, wanted * 4 / 10),
                    (
                        BudgetScope::Tenant,
                        BudgetPeriod::Day,
                        BudgetMeasure::Interactions,
                        wanted * 45 / 1_000,
                    ),
                    (BudgetScope::Binding, BudgetPeriod::Day, BudgetMeasure::Money, wanted * 15 / 100),
                    (BudgetScope::Person, BudgetPeriod::Day, BudgetMeasure::Tokens, wanted * 3 / 100),
                    (BudgetScope::Person, BudgetPeriod::Month, BudgetMeasure::Jobs, wanted / 3_000),
                ];
                for (scope, period, measure, limit) in limits {
                    scene.limit(on(lane, scope, period, measure), BudgetLimitValue::AtMost(limit)).await;
                }
            }
        }
        let governor = Arc::new(BudgetGovernor::new(settings, test.ids.clone()));
        let (db, clock) = (test.db.clone(), test.clock.clone());
        Self { db, governor, clock, homes, wanted, asked: AtomicU64::new(0), is_over: AtomicBool::new(false) }
    }

    /// Looks at every counter again and again while the others work: at no moment is one over its limit.
    async fn watch(self: Arc<Self>) -> u64 {
        let mut looks = 0;
        while !self.is_over.load(Ordering::SeqCst) {
            let home = &self.homes[usize::try_from(looks).unwrap() % TENANTS];
            for counter in counters(&self.db, home.tenant).await {
                for measure in BudgetMeasure::ALL {
                    let (used, held, limit) = counter.figures[measure as usize];
                    assert!(limit.is_none_or(|limit| used + held <= limit), "{counter:?}");
                }
            }
            looks += 1;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        looks
    }

    /// In the end: what is used is what was spent, to the last token; nothing is held; all room that is left can be had.
    async fn check(&self, books: &Books) {
        self.clock.advance(Duration::from_secs(7_200));
        let settings = self.governor.settings();
        let swept = sweep(&self.db, settings, self.clock.now()).await.unwrap();
        assert!(swept.expired < books.abandoned, "some had expired and made room before: {swept:?}");
        for home in &self.homes {
            let found = counters(&self.db, home.tenant).await;
            assert!(!found.is_empty());
            for counter in &found {
                let spent = books
                    .spent
                    .get(&(home.tenant, counter.lane.clone(), counter.id))
                    .copied()
                    .unwrap_or_default();
                for measure in BudgetMeasure::ALL {
                    let (used, held, _) = counter.figures[measure as usize];
                    assert_eq!((used, held), (spent[measure as usize], 0), "{measure} of {counter:?}");
                }
            }
            self.take_the_rest(home, &found).await;
        }
        let left = |tx: &mut munshi_store::PlatformTx<'_>| {
            tx.one(
                across_tenants("SELECT count(*) FROM usage_reservations WHERE state = 'held'"),
                &[],
                |row| row.get(0),
            )
        };
        let left: munshi_store::Result<i64> =
            self.db.platform(munshi_safety::budget::BUDGET).read(left).await;
        assert_eq!(left.unwrap(), 0);
    }

    async fn take_the_rest(&self, home: &Home, found: &[Counter]) {
        let month = found
            .iter()
            .find(|counter| counter.slot.starts_with("people 0") && counter.slot.len() == 16)
            .unwrap();
        let (used, _, limit) = month.figures[BudgetMeasure::Tokens as usize];
        let rest = u64::try_from(limit.unwrap() - used).unwrap();
        let (governor, now) = (self.governor.clone(), self.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            let account = tenant_alone(BudgetLane::People);
            let amount = |tokens| BudgetAmount { tokens, ..BudgetAmount::NOTHING };
            assert!(matches!(
                governor.reserve(tx, &account, &amount(rest + 1), now),
                Err(Error::OverBudget(_))
            ));
            let reserved = governor.reserve(tx, &account, &amount(rest), now)?;
            governor.release(tx, reserved.id)
        };
        assert_eq!(self.db.write(home.tenant, unit).await.unwrap(), SettleOutcome::Now);
    }
}

#[derive(Debug)]
struct Counter {
    slot: String,
    lane: String,
    id: Uuid,
    /// Used, held and limit of each measure.
    figures: [(i64, i64, Option<i64>); 4],
}

async fn counters(db: &Db, tenant: TenantId) -> Vec<Counter> {
    let read = |row: &Row<'_>| {
        let of = |at: usize| Ok::<_, munshi_store::Error>((row.get(at)?, row.get(at + 4)?, row.get(at + 8)?));
        Ok(Counter {
            slot: row.get(0)?,
            lane: row.get(1)?,
            id: row.get(2)?,
            figures: [of(3)?, of(4)?, of(5)?, of(6)?],
        })
    };
    let all = move |tx: &mut Tx<'_>| {
        tx.all(
            "SELECT slot, lane, scope_id, used_interactions, used_jobs, used_tokens, used_money, held_interactions,
                    held_jobs, held_tokens, held_money, limit_interactions, limit_jobs, limit_tokens, limit_money
             FROM usage_counters WHERE tenant_id = $1",
            &[],
            read,
        )
    };
    let found: munshi_store::Result<Vec<Counter>> = db.read(tenant, all).await;
    found.unwrap()
}

/// What a caller has done, by its own account.
#[derive(Default)]
struct Books {
    granted: u64,
    refused: u64,
    abandoned: u64,
    /// By tenant, lane, and binding or person; all zeros for the tenant itself.
    spent: BTreeMap<(TenantId, String, Uuid), [i64; 4]>,
}

impl Books {
    fn merge(&mut self, other: Self) {
        self.granted += other.granted;
        self.refused += other.refused;
        self.abandoned += other.abandoned;
        for (key, theirs) in other.spent {
            let mine = self.spent.entry(key).or_default();
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    fn spend(&mut self, tenant: TenantId, account: &BudgetAccount, spent: &BudgetAmount) {
        let ids = [Some(Uuid::nil()), account.binding.map(Id::as_uuid), account.person.map(Id::as_uuid)];
        let figures =
            [spent.interactions, spent.jobs, spent.tokens, spent.money.unwrap().as_micros().unsigned_abs()];
        for id in ids.into_iter().flatten() {
            let sums = self.spent.entry((tenant, account.lane.to_string(), id)).or_default();
            sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += i64::try_from(figure).unwrap());
        }
    }
}

/// One of many who reserve and settle, release, or forget.
struct Caller {
    town: Arc<Town>,
    random: SeededRandom,
    books: Books,
}

/// What was granted and is still to be ended.
type Open = (ReservationId, BudgetAccount, BudgetAmount);

impl Caller {
    fn new(town: Arc<Town>, number: u64) -> Self {
        Self { town, random: SeededRandom::new(number + 1), books: Books::default() }
    }

    fn below(&self, bound: u64) -> u64 {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes);
        u64::from_le_bytes(bytes) % bound
    }

    async fn run(mut self) -> Books {
        while self.town.asked.fetch_add(A_UNIT, Ordering::SeqCst) < self.town.wanted {
            if self.below(20) == 0 {
                // An hour in all, so that what is forgotten expires on the way.
                self.town.clock.advance(Duration::from_secs(3_600 * 20 * A_UNIT / self.town.wanted));
            }
            let home = usize::try_from(self.below(TENANTS as u64)).unwrap();
            let open = self.ask(home).await;
            // Others come in between.
            tokio::task::yield_now().await;
            self.end(home, open).await;
        }
        self.books
    }

    fn account(&self, home: usize, lane: BudgetLane) -> BudgetAccount {
        let home = &self.town.homes[home];
        let binding = home.bindings[usize::try_from(self.below(3)).unwrap()];
        let person = home.persons[usize::try_from(self.below(12)).unwrap()];
        let binding = (self.below(5) > 0).then_some(binding);
        BudgetAccount { binding, person: (self.below(5) > 0).then_some(person), lane, zone: Zone::default() }
    }

    /// A unit that asks for several, as one that plans a few calls does.
    async fn ask(&mut self, home: usize) -> Vec<Open> {
        let lane = if self.below(4) == 0 { BudgetLane::Background } else { BudgetLane::People };
        let asked: Vec<(BudgetAccount, BudgetAmount)> = (0..A_UNIT)
            .map(|_| {
                let job = u64::from(self.below(10) == 0);
                let money = munshi_llm::pricing::Cost::from_micros(i64::try_from(self.below(20)).unwrap());
                let (interactions, tokens) = (1, self.below(30));
                let amount = BudgetAmount { interactions, jobs: job, tokens, output: 0, money: Some(money) };
                (self.account(home, lane), amount)
            })
            .collect();
        let (governor, now) = (self.town.governor.clone(), self.town.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            let mut open: Vec<Open> = Vec::new();
            for (account, amount) in asked {
                match governor.reserve(tx, &account, &amount, now) {
                    Ok(reserved) => open.push((reserved.id, account, amount)),
                    Err(Error::OverBudget(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(open)
        };
        let open = self.town.db.write(self.town.homes[home].tenant, unit).await.unwrap();
        let granted = open.len() as u64;
        self.books.granted += granted;
        self.books.refused += A_UNIT - granted;
        open
    }

    /// Some are settled, some released, some settled twice, some never ended.
    async fn end(&mut self, home: usize, open: Vec<Open>) {
        let tenant = self.town.homes[home].tenant;
        let mut ended = Vec::new();
        for (id, account, most) in open {
            let spent = match self.below(10) {
                0 => {
                    self.books.abandoned += 1;
                    continue;
                }
                1..=5 => BudgetAmount::NOTHING,
                6 => most.without_billing(),
                _ => BudgetAmount { tokens: most.tokens / 2, ..most },
            };
            self.books.spend(tenant, &account, &spent);
            ended.push((id, spent, self.below(8) == 0));
        }
        let governor = self.town.governor.clone();
        let unit = move |tx: &mut Tx<'_>| {
            for (id, spent, again) in ended {
                assert_eq!(governor.settle(tx, id, &spent)?, SettleOutcome::Now);
                if again {
                    assert_eq!(governor.settle(tx, id, &spent)?, SettleOutcome::NotHeld);
                }
            }
            Ok::<(), Error>(())
        };
        self.town.db.write(tenant, unit).await.unwrap();
    }
}
