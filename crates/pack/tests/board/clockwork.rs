//! Jobs, schedules and heartbeats of packs: once each, whoever runs them and whatever fails.

use std::sync::Arc;
use std::time::Duration;

use munshi_jobs::{
    JOBS, JobFailure, JobKind, JobQueue, JobRegistry, JobRunner, JobRunnerOptions, JobState, NewJob,
    dead_letters,
};
use munshi_pack::alerts::{self, AlertFilter, StoredAlert};
use munshi_pack::operation::PackServices;
use munshi_pack::{
    InvalidPack, Pack, PackInstaller, PackJob, PackJobCall, PackJobParts, PackRegistry, PackScheduleTime,
};
use munshi_safety::policy;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, Migration, PageRequest, Tx, params};
use munshi_test_support::{TestDb, on_both_engines, wait_until};
use munshi_types::{ActId, Clock, SystemRandom, Tenant, TenantId, TenantStatus, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::pack::Board;

const DIARY: &[Migration] = &[Migration {
    name: "9102_diary",
    text: "CREATE TENANT TABLE diary (tenant_id UUID NOT NULL, id UUID NOT NULL, text TEXT NOT NULL,
             written_at TIMESTAMP NOT NULL, PRIMARY KEY (tenant_id, id));",
}];

/// Writes a line for each job, so that one done twice is seen.
struct Diary {
    /// Set: the first try stops before its end until it is told to go on.
    hold: Option<Arc<Notify>>,
}

impl Pack for Diary {
    fn name(&self) -> &'static str {
        "diary"
    }

    fn migrations(&self) -> &'static [Migration] {
        DIARY
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        room.add_job(WriteLine { hold: self.hold.clone() })?;
        let night = PackScheduleTime::Daily { hour: 1, minute: 30 };
        room.add_schedule::<WriteLine>("night", night, &Line { text: "night".to_owned() })
    }
}

struct WriteLine {
    hold: Option<Arc<Notify>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    text: String,
}

impl PackJob for WriteLine {
    const KIND: JobKind = JobKind::new("diary.write");
    type Payload = Line;

    async fn run(&self, call: PackJobCall<Line>) -> Result<(), JobFailure> {
        if let (Some(hold), 1) = (&self.hold, call.attempt) {
            hold.notified().await;
        }
        if call.payload.text == "never" {
            return Err(JobFailure::Passing("no ink".to_owned()));
        }
        let (step, id) = (call.ids.next::<ActId>(), call.ids.next::<ActId>());
        let (now, text) = (call.now, call.payload.text.clone());
        if text == "steps" {
            call.write(move |tx| add_line(tx, step, "step", now)).await?;
        }
        call.finish(move |tx| add_line(tx, id, &text, now)).await
    }
}

fn add_line(tx: &mut Tx<'_>, id: ActId, text: &str, now: Timestamp) -> Result<(), JobFailure> {
    let sql = "INSERT INTO diary (tenant_id, id, text, written_at) VALUES ($1, $2, $3, $4)";
    tx.execute(sql, params![id, text, now])?;
    Ok(())
}

pub(crate) fn queue(test: &TestDb) -> JobQueue {
    JobQueue::new(test.clock.clone(), test.ids.clone())
}

fn runner(test: &TestDb, db: &Db, packs: &Arc<PackRegistry>) -> JobRunner {
    let (db, queue) = (db.clone(), queue(test));
    let parts = PackJobParts {
        db: db.clone(),
        clock: test.clock.clone(),
        ids: test.ids.clone(),
        queue: queue.clone(),
        services: PackServices::default(),
    };
    let mut registry = JobRegistry::default();
    packs.register_jobs(&mut registry, &parts).unwrap();
    JobRunner::new(db, &queue, Arc::new(SystemRandom), registry, JobRunnerOptions::default())
}

fn install(packs: &[Arc<dyn Pack>]) -> Arc<PackRegistry> {
    Arc::new(PackRegistry::install_all(packs).unwrap())
}

fn diary() -> Arc<PackRegistry> {
    install(&[Arc::new(Diary { hold: None })])
}

async fn add_tenant_in(test: &TestDb, name: &str, zone: &str) -> TenantId {
    let tenant = Tenant {
        id: test.ids.next(),
        name: name.parse().unwrap(),
        zone: zone.parse::<Zone>().unwrap(),
        status: TenantStatus::Active,
        created_at: test.clock.now(),
    };
    let id = tenant.id;
    test.db.platform(TENANTS).write(move |tx| tenants::add(tx, &tenant)).await.unwrap();
    id
}

async fn lines(db: &Db, tenant: TenantId) -> Vec<(String, Timestamp)> {
    let sql = "SELECT text, written_at FROM diary WHERE tenant_id = $1 ORDER BY written_at, id";
    db.read(tenant, move |tx| tx.all(sql, params![], |row| Ok((row.get(0)?, row.get(1)?))))
        .await
        .unwrap_or_else(|error: munshi_store::Error| panic!("{error}"))
}

async fn times(db: &Db, tenant: TenantId) -> Vec<String> {
    lines(db, tenant).await.into_iter().map(|(_, at)| at.to_string()).collect()
}

async fn enqueue(test: &TestDb, tenant: TenantId, job: NewJob) {
    let queue = queue(test);
    test.db.write(tenant, move |tx| queue.enqueue(tx, &job)).await.unwrap();
}

fn line(text: &str) -> NewJob {
    WriteLine::request(&Line { text: text.to_owned() }).unwrap()
}

async fn count_in(test: &TestDb, state: JobState) -> usize {
    let request = PageRequest::new(None, 100);
    let list = move |tx: &mut munshi_store::PlatformTx<'_>| dead_letters::list(tx, state, None, &request);
    test.db.platform(JOBS).read(list).await.unwrap().items.len()
}

async fn list_alerts(test: &TestDb, tenant: TenantId, filter: AlertFilter) -> Vec<StoredAlert> {
    let request = PageRequest::new(None, 100);
    test.db.read(tenant, move |tx: &mut Tx<'_>| alerts::list(tx, filter, &request)).await.unwrap().items
}

async fn count_events(test: &TestDb, tenant: TenantId, event: &'static str) -> i64 {
    let sql = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = $2";
    let read = move |tx: &mut Tx<'_>| tx.one(sql, params![event], |row| row.get(0));
    test.db.read(tenant, read).await.unwrap_or_else(|error: munshi_store::Error| panic!("{error}"))
}

async fn pin(test: &TestDb, tenant: TenantId, title: &'static str) {
    let (id, now) = (test.ids.next::<ActId>(), test.clock.now());
    let sql = "INSERT INTO notices (tenant_id, id, title, text, pinned_at) VALUES ($1, $2, $3, '', $4)";
    let write = move |tx: &mut Tx<'_>| tx.execute(sql, params![id, title, now]);
    test.db
        .write(tenant, write)
        .await
        .map(drop)
        .unwrap_or_else(|error: munshi_store::Error| panic!("{error}"));
}

/// Lets hours pass on two nodes; each looks every half hour.
async fn pass_hours(test: &TestDb, nodes: &[JobRunner; 2], hours: u32) {
    for _ in 0..hours * 2 {
        test.clock.advance(Duration::from_secs(1800));
        let (one, two) = tokio::join!(nodes[0].drain(), nodes[1].drain());
        assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_safety::MIGRATIONS,
          munshi_pack::MIGRATIONS, crate::pack::MIGRATIONS, DIARY];

    async fn a_schedule_runs_once_a_day_by_each_tenants_own_clock(test: TestDb) {
        let packs = diary();
        let nodes = [runner(&test, &test.db, &packs), runner(&test, &test.open_again().await, &packs)];
        test.clock.set("2026-10-23T18:00:00Z".parse().unwrap());
        let (delhi, london) = (add_tenant_in(&test, "delhi", "Asia/Kolkata").await, add_tenant_in(&test, "london", "Europe/London").await);
        nodes[0].drain().await.unwrap();
        // Clocks in London go back in the second night, when 1:30 is there twice.
        pass_hours(&test, &nodes, 60).await;
        assert_eq!(times(&test.db, delhi).await, ["2026-10-23T20:00:00Z", "2026-10-24T20:00:00Z", "2026-10-25T20:00:00Z"]);
        assert_eq!(times(&test.db, london).await, ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]);
    }

    async fn a_tenant_without_the_pack_has_none_of_its_work(test: TestDb) {
        let node = runner(&test, &test.db, &install(&[Arc::new(Diary { hold: None }), Arc::new(Board::new(test.clock.clone()))]));
        test.clock.set("2026-10-23T18:00:00Z".parse().unwrap());
        let (with, without) = (add_tenant_in(&test, "with", "Asia/Kolkata").await, add_tenant_in(&test, "without", "Asia/Kolkata").await);
        let (policy, now) = (policy::parse("packs = [\"ledger\"]").unwrap(), test.clock.now());
        test.db.write(without, move |tx: &mut Tx<'_>| policy::apply(tx, &policy, "test", "", now)).await.unwrap();
        for tenant in [with, without] {
            pin(&test, tenant, "Leak").await;
            enqueue(&test, tenant, line("asked for")).await;
        }
        node.drain().await.unwrap();
        for wait in [86_400, 30 * 86_400, 7_200] {
            test.clock.advance(Duration::from_secs(wait));
            node.drain().await.unwrap();
        }
        assert!(lines(&test.db, with).await.len() > 1, "the clock and the pack itself made work");
        assert!(!list_alerts(&test, with, AlertFilter::All).await.is_empty());
        assert!(lines(&test.db, without).await.is_empty());
        assert!(list_alerts(&test, without, AlertFilter::All).await.is_empty());
        assert_eq!(count_in(&test, JobState::Dead).await, 1, "what was asked for waits for the pack; the clock's work does not");
    }

    async fn a_skipped_hour_runs_right_after_and_missed_days_run_once(test: TestDb) {
        let packs = diary();
        test.clock.set("2027-03-27T18:00:00Z".parse().unwrap());
        let london = add_tenant_in(&test, "london", "Europe/London").await;
        let nodes = [runner(&test, &test.db, &packs), runner(&test, &test.open_again().await, &packs)];
        nodes[0].drain().await.unwrap();
        pass_hours(&test, &nodes, 12).await;
        assert_eq!(times(&test.db, london).await, ["2027-03-28T01:00:00Z"]);
        drop(nodes);
        // Nobody is up for five days; then both start again.
        test.clock.advance(Duration::from_secs(5 * 86_400));
        let nodes = [runner(&test, &test.db, &packs), runner(&test, &test.open_again().await, &packs)];
        let (one, two) = tokio::join!(nodes[0].drain(), nodes[1].drain());
        assert_eq!(one.unwrap() + two.unwrap(), 1);
        assert_eq!(lines(&test.db, london).await.len(), 2);
        pass_hours(&test, &nodes, 24).await;
        assert_eq!(times(&test.db, london).await[2..], ["2027-04-03T00:30:00Z"]);
    }

    async fn a_tenant_made_later_has_it_and_a_pack_that_is_gone_leaves_none(test: TestDb) {
        let packs = diary();
        test.clock.set("2026-10-20T00:00:00Z".parse().unwrap());
        let node = runner(&test, &test.db, &packs);
        node.drain().await.unwrap();
        let later = add_tenant_in(&test, "later", "UTC").await;
        node.drain().await.unwrap();
        test.clock.advance(Duration::from_secs(2 * 3600));
        node.drain().await.unwrap();
        assert_eq!(lines(&test.db, later).await.len(), 1);
        runner(&test, &test.db, &install(&[])).drain().await.unwrap();
        test.clock.advance(Duration::from_secs(86_400));
        assert_eq!(node_without_schedules(&test).await, 0);
    }

    async fn a_job_that_lost_its_worker_is_done_once_by_another(test: TestDb) {
        let hold = Arc::new(Notify::new());
        let packs = install(&[Arc::new(Diary { hold: Some(hold.clone()) })]);
        let tenant = test.add_tenant("shop").await;
        enqueue(&test, tenant, line("steps")).await;
        let (first, second) = (runner(&test, &test.db, &packs), runner(&test, &test.open_again().await, &packs));
        let mut stuck = tokio::task::JoinSet::new();
        stuck.spawn(async move { first.drain().await });
        wait_until(async || count_in(&test, JobState::Running).await == 1).await;
        // The first worker hangs between its claim and its end for longer than its lease.
        test.clock.advance(Duration::from_secs(120));
        assert_eq!(second.drain().await.unwrap(), 1);
        assert_eq!(lines(&test.db, tenant).await.len(), 2);
        hold.notify_one();
        stuck.join_next().await.unwrap().unwrap().unwrap();
        assert_eq!(lines(&test.db, tenant).await.len(), 2, "the first one's step was refused");
        assert_eq!((count_in(&test, JobState::Done).await, count_in(&test, JobState::Dead).await), (1, 0));
    }

    async fn one_key_is_one_job_and_what_never_works_ends_among_the_dead(test: TestDb) {
        let (packs, tenant) = (diary(), test.add_tenant("shop").await);
        let node = runner(&test, &test.db, &packs);
        for _ in 0..3 {
            enqueue(&test, tenant, line("only").unique("only")).await;
        }
        enqueue(&test, tenant, NewJob::new("diary.write", &serde_json::json!({ "words": 1 })).unwrap()).await;
        enqueue(&test, tenant, line("never").attempts(3)).await;
        node.drain().await.unwrap();
        assert_eq!(lines(&test.db, tenant).await.len(), 1);
        assert_eq!(count_in(&test, JobState::Dead).await, 1, "what it can't read it never will");
        for _ in 0..2 {
            test.clock.advance(Duration::from_secs(3600));
            node.drain().await.unwrap();
        }
        assert_eq!(count_in(&test, JobState::Dead).await, 2);
        assert_eq!(lines(&test.db, tenant).await.iter().filter(|(text, _)| text == "only").count(), 1);
    }

    async fn an_alert_is_told_once_and_cleared_when_it_has_passed(test: TestDb) {
        let packs = install(&[Arc::new(Board::new(test.clock.clone()))]);
        let (shop, other) = (test.add_tenant("shop").await, test.add_tenant("neighbour").await);
        let nodes = [runner(&test, &test.db, &packs), runner(&test, &test.open_again().await, &packs)];
        nodes[0].drain().await.unwrap();
        pin(&test, shop, "Water").await;
        pass_hours(&test, &nodes, 2).await;
        assert!(list_alerts(&test, shop, AlertFilter::All).await.is_empty());
        test.clock.advance(Duration::from_secs(30 * 86_400));
        pass_hours(&test, &nodes, 3).await;
        let open = list_alerts(&test, shop, AlertFilter::Open).await;
        assert_eq!(open.len(), 1);
        assert_eq!((open[0].pack.as_str(), open[0].heartbeat.as_str()), ("board", "stale"));
        assert_eq!(open[0].text, "The notice Water has been up for more than thirty days.");
        assert!(open[0].told_at == Some(open[0].first_seen) && open[0].last_seen > open[0].first_seen);
        assert_eq!(count_events(&test, shop, "alert.raised").await, 1);
        assert!(list_alerts(&test, other, AlertFilter::All).await.is_empty());
        let remove = |tx: &mut Tx<'_>| tx.execute("DELETE FROM notices WHERE tenant_id = $1", params![]);
        test.db.write(shop, remove).await.map(drop).unwrap_or_else(|error: munshi_store::Error| panic!("{error}"));
        pass_hours(&test, &nodes, 3).await;
        assert!(list_alerts(&test, shop, AlertFilter::Open).await.is_empty());
        let all = list_alerts(&test, shop, AlertFilter::All).await;
        assert!(all.len() == 1 && all[0].cleared_at.is_some(), "{all:?}");
        let events = (count_events(&test, shop, "alert.raised").await, count_events(&test, shop, "alert.cleared").await);
        assert_eq!(events, (1, 1));
    }

    async fn the_nights_sweep_takes_old_notices_down(test: TestDb) {
        let packs = install(&[Arc::new(Board::new(test.clock.clone()))]);
        let shop = test.add_tenant("shop").await;
        let node = runner(&test, &test.db, &packs);
        node.drain().await.unwrap();
        pin(&test, shop, "Water").await;
        for (days, left) in [(89, 1), (3, 0)] {
            test.clock.advance(Duration::from_secs(days * 86_400));
            node.drain().await.unwrap();
            assert_eq!(test.db.read(shop, |tx| crate::pack::all(tx).map(|all| all.len())).await.unwrap(), left);
        }
    }
}

/// How many jobs are due where a runner knows none of the packs.
async fn node_without_schedules(test: &TestDb) -> usize {
    runner(test, &test.db, &install(&[])).drain().await.unwrap();
    count_in(test, JobState::Ready).await
}
