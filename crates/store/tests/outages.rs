//! What breaks is said clearly, nothing is half-written, and the store recovers by itself.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{NOTES, add, bodies};
use munshi_store::{DatabaseAddress, Db, Error, MIGRATIONS, Migrations, Result, StoreOptions, Tx};
use munshi_test_support::database::{TestDbStorage, server_url};
use munshi_test_support::private_server::PrivateServer;
use munshi_test_support::proxy::Proxy;
use munshi_test_support::{DatabaseEngine, PATIENCE, TestDb, UnitHold, wait_until};
use uuid::Uuid;

fn migrations() -> Migrations {
    Migrations::new(&[MIGRATIONS, NOTES]).unwrap()
}

/// A database behind a proxy.
async fn behind_proxy(test: &TestDb) -> (Proxy, Db) {
    let server: SocketAddr = place_of(&server_url()).parse().unwrap();
    let proxy = Proxy::start(server).await;
    let url = test.place.postgres_url("munshi_owner");
    let address: DatabaseAddress =
        url.replace(&server.to_string(), &proxy.address.to_string()).parse().unwrap();
    let options = StoreOptions { connections: 2, connect_timeout: PATIENCE, ..StoreOptions::default() };
    let db = Db::open(&address, &options, &migrations()).await.unwrap();
    (proxy, db)
}

fn place_of(url: &str) -> &str {
    url.split_once('@').unwrap().1.split_once('/').unwrap().0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_line_to_postgres_is_said_and_mended() {
    let test = TestDb::open(DatabaseEngine::Postgres, &[MIGRATIONS, NOTES]).await;
    let tenant = test.add_tenant("shop").await;
    let (proxy, db) = behind_proxy(&test).await;
    db.write(tenant, |tx| add(tx, "before")).await.unwrap();
    db.check().await.unwrap();
    proxy.cut();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let lost = db.write(tenant, |tx| add(tx, "lost")).await.unwrap_err();
    assert!(matches!(lost, Error::Unavailable { .. }) && lost.is_outage(), "{lost}");
    assert!(db.check().await.is_err());
    proxy.restore();
    db.check().await.unwrap();
    db.write(tenant, |tx| add(tx, "after")).await.unwrap();
    assert_eq!(db.read(tenant, bodies).await.unwrap(), ["after", "before"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_cut_while_committing_leaves_the_outcome_unknown() {
    let test = TestDb::open(DatabaseEngine::Postgres, &[MIGRATIONS, NOTES]).await;
    let tenant = test.add_tenant("shop").await;
    let (proxy, db) = behind_proxy(&test).await;
    proxy.cut_after_commit();
    let outcome = db.write(tenant, |tx| add(tx, "who knows")).await;
    assert!(matches!(outcome, Err(Error::OutcomeUnknown)), "{outcome:?}");
    proxy.restore();
    assert_eq!(db.read(tenant, bodies).await.unwrap(), ["who knows"], "here it had arrived");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_the_server_ended_are_replaced_unnoticed() {
    let test = TestDb::open(DatabaseEngine::Postgres, &[MIGRATIONS, NOTES]).await;
    let tenant = test.add_tenant("shop").await;
    for _ in 0..20 {
        test.db.read(tenant, bodies).await.unwrap();
    }
    test.place.run_as_superuser(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    for number in 0..20 {
        test.db.write(tenant, move |tx| add(tx, &format!("{number}"))).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_postgres_is_named_without_its_password() {
    let address: DatabaseAddress = "postgres://me:hunter2@127.0.0.1:1/shop?sslmode=disable".parse().unwrap();
    let error = Db::open(&address, &StoreOptions::default(), &migrations()).await.unwrap_err();
    let text = error.to_string();
    assert!(error.is_outage() && text.contains("127.0.0.1:1/shop") && !text.contains("hunter2"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_runs_too_long_is_stopped_on_both() {
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let options = StoreOptions { statement_timeout: Duration::from_secs(1), ..StoreOptions::default() };
        let test = TestDb::open_with(engine, &[MIGRATIONS, NOTES], options).await;
        let tenant = test.add_tenant("shop").await;
        test.db.write(tenant, |tx| add(tx, "first")).await.unwrap();
        let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                       SELECT count(*) FROM n, notes WHERE notes.tenant_id = $1 AND i < 0";
        let outcome: Result<i64> =
            test.db.read(tenant, move |tx| tx.one(endless, &[], |row| row.get(0))).await;
        assert!(
            matches!(&outcome, Err(Error::Busy(what)) if what.contains("too long")),
            "{engine:?} {outcome:?}"
        );
        test.db.write(tenant, |tx| add(tx, "next")).await.unwrap();
    }
}

/// A process that stands still in the middle of a transaction: stopped, swapped out, or cut off.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_stands_still_keeps_nobody_waiting() {
    let options = StoreOptions { idle_timeout: Duration::from_secs(2), ..StoreOptions::default() };
    let test = TestDb::open_with(DatabaseEngine::Postgres, &[MIGRATIONS, NOTES], options).await;
    let tenant = test.add_tenant("shop").await;
    test.db.write(tenant, |tx| add(tx, "first")).await.unwrap();
    let change =
        |tx: &mut Tx<'_>| tx.execute("UPDATE notes SET body = body || '!' WHERE tenant_id = $1", &[]);
    for says_more in [true, false] {
        let (still, other, hold) = (test.open_again().await, test.db.clone(), UnitHold::default());
        let held = hold.clone();
        let stopped = still.write(tenant, move |tx| {
            change(tx)?;
            held.wait();
            if says_more { change(tx) } else { Ok(0) }
        });
        let goes_on = async {
            hold.reached().await;
            let began = Instant::now();
            other.write(tenant, change).await.unwrap();
            let waited = began.elapsed();
            hold.release();
            waited
        };
        let (stopped, waited) = tokio::join!(stopped, goes_on);
        assert!(waited > Duration::from_secs(1) && waited < Duration::from_secs(10), "{waited:?}");
        let error = stopped.unwrap_err();
        assert!(error.is_retryable(), "it was undone, and may be done again: {error:?}");
        still.write(tenant, change).await.unwrap();
    }
    assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["first!!!!"], "what stood still is not there");
}

/// A unit that has the writer until it is let go.
#[derive(Clone, Default)]
struct LongUnit {
    begun: Arc<AtomicBool>,
    released: Arc<AtomicBool>,
}

impl LongUnit {
    fn add(&self, tx: &mut Tx<'_>, body: &str) -> Result<Uuid> {
        self.begun.store(true, Ordering::SeqCst);
        let began = Instant::now();
        while !self.released.load(Ordering::SeqCst) && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        add(tx, body)
    }

    async fn until_begun(&self) {
        wait_until(async || self.begun.load(Ordering::SeqCst)).await;
    }

    fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_waits_too_long_for_its_turn_never_runs() {
    let options = StoreOptions { queue_timeout: Duration::from_secs(1), ..StoreOptions::default() };
    let test = TestDb::open_with(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES], options).await;
    let tenant = test.add_tenant("shop").await;
    let (db, slow, held) = (test.db.clone(), test.db.clone(), LongUnit::default());
    let mut tasks = tokio::task::JoinSet::new();
    let unit = held.clone();
    tasks.spawn(async move { slow.write(tenant, move |tx| unit.add(tx, "slow")).await });
    held.until_begun().await;
    let late = db.write(tenant, |tx| add(tx, "late")).await;
    assert!(matches!(&late, Err(Error::Busy(what)) if what.contains("in the queue")), "{late:?}");
    held.release();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(db.read(tenant, bodies).await.unwrap(), ["slow"], "what had begun was waited for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_whose_caller_left_before_it_began_never_runs() {
    let test = TestDb::open(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES]).await;
    let tenant = test.add_tenant("shop").await;
    let (slow, held) = (test.db.clone(), LongUnit::default());
    let mut tasks = tokio::task::JoinSet::new();
    let unit = held.clone();
    tasks.spawn(async move { slow.write(tenant, move |tx| unit.add(tx, "slow")).await });
    held.until_begun().await;
    let left =
        tokio::time::timeout(Duration::from_millis(50), test.db.write(tenant, |tx| add(tx, "left"))).await;
    assert!(left.is_err());
    held.release();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["slow"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_another_program_holds_is_busy() {
    let options = StoreOptions { busy_timeout: Duration::from_millis(100), ..StoreOptions::default() };
    let test = TestDb::open_with(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES], options).await;
    let tenant = test.add_tenant("shop").await;
    let other = rusqlite::Connection::open(test.place.folder().join("munshi.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcome = test.db.write(tenant, |tx| add(tx, "waiting")).await;
    assert!(matches!(&outcome, Err(Error::Busy(what)) if what.contains("another program")), "{outcome:?}");
    assert!(outcome.unwrap_err().is_retryable());
    other.execute_batch("ROLLBACK").unwrap();
    test.db.write(tenant, |tx| add(tx, "now")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_database_is_damaged_and_left_alone() {
    let (address, place) = TestDbStorage::create(DatabaseEngine::Sqlite);
    let path = place.folder().join("munshi.db");
    std::fs::write(&path, "a letter to my aunt, much longer than a header. ".repeat(100)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = Db::open(&address, &StoreOptions::default(), &migrations()).await.unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)), "{error}");
    assert!(error.to_string().contains("munshi restore"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_pages_are_found() {
    let test = TestDb::open(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES]).await;
    let tenant = test.add_tenant("shop").await;
    for _ in 0..50 {
        test.db.write(tenant, |tx| add(tx, &"long text ".repeat(200))).await.unwrap();
    }
    let TestDb { db, address, place, .. } = test;
    drop(db);
    let path = place.folder().join("munshi.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let error = munshi_store::maintenance::check_integrity(&address).await.unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_can_not_be_written_is_named() {
    let address = DatabaseAddress::sqlite("/proc/munshi/munshi.db");
    let request = munshi_store::migrate::MigrationRequest {
        address,
        owner: None,
        options: StoreOptions::default(),
        migrations: migrations(),
        now: munshi_test_support::database::MORNING,
        backups: None,
    };
    let error = munshi_store::migrate::run(request).await.unwrap_err();
    assert!(error.is_outage() && error.to_string().contains("/proc/munshi"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_bypasses_the_rules_is_refused() {
    let server = tokio::task::spawn_blocking(PrivateServer::start).await.unwrap();
    let address: DatabaseAddress = server.url.parse().unwrap();
    let request = munshi_store::migrate::MigrationRequest {
        address: address.clone(),
        owner: None,
        options: StoreOptions::default(),
        migrations: migrations(),
        now: munshi_test_support::database::MORNING,
        backups: None,
    };
    munshi_store::migrate::run(request).await.unwrap();
    let db = Db::open(&address, &StoreOptions::default(), &migrations()).await.unwrap();
    db.check().await.unwrap();
    let url = server.url.clone();
    std::thread::spawn(move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute("ALTER ROLE munshi_app BYPASSRLS").unwrap();
    })
    .join()
    .unwrap();
    let error = Db::open(&address, &StoreOptions::default(), &migrations()).await.unwrap_err().to_string();
    assert!(error.contains("bypasses row-level security"), "{error}");
    drop(server);
    let gone = db.check().await.unwrap_err();
    assert!(gone.is_outage(), "{gone}");
}
