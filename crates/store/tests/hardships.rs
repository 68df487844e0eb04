//! What a careful reader found: backups under load, restores, foreign files, readiness, silent peers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{NOTES, add, bodies};
use munshi_store::maintenance;
use munshi_store::migrate::{self, MigrationRequest};
use munshi_store::{
    DatabaseAddress, Db, Error, MIGRATIONS, Migration, Migrations, Result, StoreOptions, params,
};
use munshi_test_support::database::{MORNING, TestDbStorage};
use munshi_test_support::{DatabaseEngine, PATIENCE, TestDb, process, shim};
use munshi_types::TenantId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

async fn sqlite() -> TestDb {
    TestDb::open(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES]).await
}
fn migrations() -> Migrations {
    Migrations::new(&[MIGRATIONS, NOTES]).unwrap()
}
fn request(address: &DatabaseAddress, lists: &[&[Migration]]) -> MigrationRequest {
    MigrationRequest {
        address: address.clone(),
        owner: None,
        options: StoreOptions::default(),
        migrations: Migrations::new(lists).unwrap(),
        now: MORNING,
        backups: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_steady_writes_ends() {
    let test = sqlite().await;
    let tenant = test.add_tenant("shop").await;
    for _ in 0..60 {
        test.db.write(tenant, |tx| add(tx, &"x".repeat(1_000_000))).await.unwrap();
    }
    let (db, stop) = (test.db.clone(), Arc::new(AtomicBool::new(false)));
    let stopped = stop.clone();
    let mut load = tokio::task::JoinSet::new();
    load.spawn(async move {
        let mut n = 0;
        while !stopped.load(Ordering::SeqCst) {
            db.write(tenant, |tx| add(tx, "tick")).await.unwrap();
            n += 1;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        n
    });
    let target = test.place.folder().join("copy.db");
    let steps = Arc::new(std::sync::Mutex::new((0u64, 0u64, 0u64)));
    let s2 = steps.clone();
    let giveup = stop.clone();
    let began = std::time::Instant::now();
    let mut b = tokio::task::JoinSet::new();
    let db = test.db.clone();
    b.spawn(async move {
        db.backup(target, move |p| {
            let mut s = s2.lock().unwrap();
            s.0 += 1;
            s.1 = s.1.max(p.done_pages);
            s.2 = p.total_pages;
        })
        .await
    });
    let ended = tokio::time::timeout(PATIENCE, b.join_next()).await;
    let took = began.elapsed();
    giveup.store(true, Ordering::SeqCst);
    let n = load.join_all().await;
    let s = *steps.lock().unwrap();
    assert!(ended.is_ok(), "after {took:?}, {} steps, furthest {} of {} pages, {n:?} writes", s.0, s.1, s.2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_ignores_a_log_left_without_its_database() {
    let test = sqlite().await;
    let tenant = test.add_tenant("shop").await;
    test.db.write(tenant, |tx| add(tx, "then")).await.unwrap();
    let folder = test.place.folder();
    let copy = folder.join("copy.db");
    test.db.backup(copy.clone(), |_| {}).await.unwrap();
    test.db.write(tenant, |tx| add(tx, "later")).await.unwrap();
    let wal = std::fs::read(folder.join("munshi.db-wal")).unwrap();
    let TestDb { db, address, options, migrations, place, .. } = test;
    drop(db);
    // kill -9 left the log; the operator moved the bad database away, then restores.
    std::fs::rename(folder.join("munshi.db"), folder.join("bad.db")).unwrap();
    std::fs::write(folder.join("munshi.db-wal"), wal).unwrap();
    maintenance::restore(&address, copy, &options, &migrations, MORNING, |_| {}).await.unwrap();
    let now = Db::open(&address, &options, &migrations).await.unwrap();
    let seen = now.read(tenant, bodies).await;
    assert_eq!(seen.unwrap(), ["then"]);
    drop(place);
}

#[tokio::test(flavor = "multi_thread")]
async fn restoring_twice_in_a_second_keeps_both() {
    let test = sqlite().await;
    let tenant = test.add_tenant("shop").await;
    let copy = test.place.folder().join("copy.db");
    test.db.backup(copy.clone(), |_| {}).await.unwrap();
    test.db.write(tenant, |tx| add(tx, "precious")).await.unwrap();
    let TestDb { db, address, options, migrations, place, .. } = test;
    drop(db);
    let a = maintenance::restore(&address, copy.clone(), &options, &migrations, MORNING, |_| {})
        .await
        .unwrap()
        .unwrap();
    let b =
        maintenance::restore(&address, copy, &options, &migrations, MORNING, |_| {}).await.unwrap().unwrap();
    assert_ne!(a, b);
    let before = Db::open(&DatabaseAddress::sqlite(&a), &options, &migrations).await.unwrap();
    assert_eq!(before.read(tenant, bodies).await.unwrap(), ["precious"]);
    drop(place);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_does_not_alter_the_backup() {
    let test = sqlite().await;
    let copy = test.place.folder().join("copy.db");
    test.db.backup(copy.clone(), |_| {}).await.unwrap();
    let before = std::fs::read(&copy).unwrap();
    let TestDb { db, address, options, migrations, place, .. } = test;
    drop(db);
    maintenance::restore(&address, copy.clone(), &options, &migrations, MORNING, |_| {}).await.unwrap();
    let after = std::fs::read(&copy).unwrap();
    let differing: Vec<usize> = (0..before.len()).filter(|i| before[*i] != after[*i]).take(10).collect();
    assert!(
        differing.is_empty(),
        "bytes {differing:?} of the backup changed: {:?} -> {:?}",
        &before[18..20],
        &after[18..20]
    );
    drop(place);
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_database_is_refused() {
    let (address, place) = TestDbStorage::create(DatabaseEngine::Sqlite);
    let path = place.folder().join("munshi.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE photos (id INTEGER); PRAGMA application_id = 77")
        .unwrap();
    let outcome = migrate::run(request(&address, &[MIGRATIONS])).await;
    let id: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA application_id", [], |r| r.get(0))
        .unwrap();
    assert!(outcome.is_err(), "taken over: {outcome:?}, application_id is now {id:#x}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_not_ready() {
    let test = sqlite().await;
    let tenant = test.add_tenant("shop").await;
    for _ in 0..50 {
        test.db.write(tenant, |tx| add(tx, &"long text ".repeat(200))).await.unwrap();
    }
    let TestDb { db, address, options, migrations, place, .. } = test;
    drop(db);
    let path = place.folder().join("munshi.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let root: u32 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name='notes'", [], |r| r.get(0))
        .unwrap();
    let root = root as usize;
    bytes[(root - 1) * 4096..root * 4096].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let db = Db::open(&address, &options, &migrations).await.unwrap();
    let write = db.write(tenant, |tx| add(tx, "x")).await;
    assert!(matches!(write, Err(Error::Corrupt(_))));
    let ready = db.check().await;
    assert!(ready.is_err(), "ready although every unit answers `damaged`");
}

const DATA: &[Migration] = &[Migration { name: "9002_data", text: "UPDATE notes SET body = 'changed';" }];

async fn data_migration(engine: DatabaseEngine) {
    let test = TestDb::open(engine, &[MIGRATIONS, NOTES]).await;
    let tenant = test.add_tenant("shop").await;
    test.db.write(tenant, |tx| add(tx, "old")).await.unwrap();
    migrate::run(request(&test.address, &[MIGRATIONS, NOTES, DATA])).await.unwrap();
    assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["changed"], "{engine:?}");
}
#[tokio::test(flavor = "multi_thread")]
async fn a_data_migration_sees_its_rows_on_sqlite() {
    data_migration(DatabaseEngine::Sqlite).await;
}
#[tokio::test(flavor = "multi_thread")]
async fn a_data_migration_sees_its_rows_on_postgres() {
    data_migration(DatabaseEngine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_never_answers_times_out() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let address: DatabaseAddress =
        format!("postgres://me@127.0.0.1:{port}/d?sslmode=disable").parse().unwrap();
    let options = StoreOptions { connect_timeout: Duration::from_secs(1), ..StoreOptions::default() };
    let mut t = tokio::task::JoinSet::new();
    t.spawn(async move { Db::open(&address, &options, &migrations()).await.map(|_| ()) });
    let outcome = tokio::time::timeout(PATIENCE, t.join_next()).await;
    let hung = outcome.is_err();
    drop(listener);
    assert!(!hung, "still connecting, with connect_timeout = 1 s");
}

#[tokio::test(flavor = "multi_thread")]
async fn neighbours_of_a_unit_that_had_to_be_stopped_are_told_to_try_again() {
    let options = StoreOptions { statement_timeout: Duration::from_secs(1), ..StoreOptions::default() };
    let test = TestDb::open_with(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES], options).await;
    let tenant = test.add_tenant("shop").await;
    test.db.write(tenant, |tx| add(tx, "first")).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    let db = test.db.clone();
    tasks.spawn(async move {
        (
            "blocker",
            db.write(tenant, |_| {
                std::thread::sleep(Duration::from_millis(200));
                Ok::<_, Error>(())
            })
            .await,
        )
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    for _ in 0..5 {
        let db = test.db.clone();
        tasks.spawn(
            async move { ("neighbour", db.write(tenant, |tx| add(tx, "neighbour").map(|_| ())).await) },
        );
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let db = test.db.clone();
    tasks.spawn(async move { ("slow", db.write(tenant, |tx| tx.execute(
        "UPDATE notes SET done = TRUE WHERE tenant_id = $1 AND 0 > (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE i < 0)", &[]).map(|_| ())).await) });
    let all = tasks.join_all().await;
    let of = |name: &str| {
        all.iter().filter(|(who, _)| *who == name).map(|(_, outcome)| outcome).collect::<Vec<_>>()
    };
    assert!(matches!(of("slow")[0], Err(Error::Busy(what)) if what.contains("ran too long")), "{all:?}");
    let fine = |outcome: &&Result<()>| {
        matches!(outcome, Ok(()))
            || matches!(outcome, Err(Error::Busy(what)) if what.contains("another unit"))
    };
    assert!(of("neighbour").iter().all(fine), "{all:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apostrophe_in_a_comment_swaps_no_parameters() {
    for engine in [DatabaseEngine::Postgres, DatabaseEngine::Sqlite] {
        let test = TestDb::open(engine, &[MIGRATIONS, NOTES]).await;
        let tenant = test.add_tenant("shop").await;
        let id = test.db.write(tenant, |tx| add(tx, "x")).await.unwrap();
        let n: u64 = test
            .db
            .write(tenant, move |tx| {
                tx.execute("-- the tenant's\nDELETE FROM notes WHERE id = $2 AND tenant_id = $1", params![id])
            })
            .await
            .unwrap();
        assert_eq!(n, 1, "{engine:?}");
    }
}

#[test]
fn the_child_meets_a_full_disk() {
    let Some(part) = process::role() else { return };
    let (path, tenant) = part.split_once('|').unwrap();
    let (tenant, full) = tenant.split_once('|').unwrap();
    let tenant: TenantId = tenant.parse().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let db =
            Db::open(&DatabaseAddress::sqlite(path), &StoreOptions::default(), &migrations()).await.unwrap();
        std::fs::write(full, "").unwrap();
        let w = db.write(tenant, |tx| add(tx, "x")).await;
        println!("<<write {w:?}>>");
        println!("<<check {:?}>>", db.check().await.is_ok());
        let noop: Result<u64> = db
            .write(tenant, |tx| tx.execute("DELETE FROM notes WHERE tenant_id = $1 AND body = 'none'", &[]))
            .await;
        println!("<<noop {noop:?}>>");
        println!("<<check after a write unit that changed nothing: ready={}>>", db.check().await.is_ok());
        println!("<<write {:?}>>", db.write(tenant, |tx| add(tx, "x")).await);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_not_ready_until_there_is_room() {
    let test = sqlite().await;
    let tenant = test.add_tenant("shop").await;
    let folder = test.place.folder();
    let mut command = process::build_child_command(
        concat!(module_path!(), "::the_child_meets_a_full_disk"),
        &format!("{}|{tenant}|{}", folder.join("munshi.db").display(), folder.join("full").display()),
    );
    command.env("LD_PRELOAD", shim::build(&folder)).env("DISK_SHIM_FULL", folder.join("full"));
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(out.contains("ready=false") && !out.contains("ready=true"), "{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nul_in_json_and_a_nan_are_refused_by_both() {
    let mut seen = Vec::new();
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let test = TestDb::open(engine, &[MIGRATIONS, NOTES]).await;
        let tenant = test.add_tenant("shop").await;
        let a = munshi_store::JsonText::of(&"a\0b");
        assert!(matches!(a, Err(Error::Refused(_))) && munshi_store::JsonText::of(&"a\\u0000b").is_ok());
        let b: Result<Option<f64>> = test
            .db
            .write(tenant, move |tx| {
                tx.execute(
                    "INSERT INTO samples (tenant_id, id, fraction) VALUES ($1, $2, $3)",
                    params![2_i64, f64::NAN],
                )?;
                tx.one("SELECT fraction FROM samples WHERE tenant_id = $1 AND id = 2", &[], |r| r.get(0))
            })
            .await;
        seen.push(format!("{a:?} {b:?}"));
    }
    assert_eq!(seen[0], seen[1]);
}
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_writes_is_the_same_error_on_both() {
    let mut seen = Vec::new();
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let test = TestDb::open(engine, &[MIGRATIONS, NOTES]).await;
        let tenant = test.add_tenant("shop").await;
        let e = test.db.read(tenant, |tx| add(tx, "x")).await.unwrap_err();
        seen.push((format!("{e:?}").chars().take(24).collect::<String>(), e.is_outage(), e.is_retryable()));
    }
    assert_eq!(seen[0], seen[1]);
}
