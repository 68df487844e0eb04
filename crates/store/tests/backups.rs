//! A copy of a live database is whole, and restoring one loses nothing.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use crate::support::{NOTES, add, bodies};
use munshi_store::maintenance::{self, BackupProgress};
use munshi_store::{DatabaseAddress, Db, Error, MIGRATIONS, Migration};
use munshi_test_support::database::MORNING;
use munshi_test_support::{DatabaseEngine, TestDb};

async fn sqlite() -> TestDb {
    TestDb::open(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_taken_under_load_is_one_moment_of_the_database() {
    let test = sqlite().await;
    let tenant = test.add_tenant("shop").await;
    for _ in 0..40 {
        test.db.write(tenant, |tx| add(tx, &"x".repeat(200_000))).await.unwrap();
    }
    let (db, stop) = (test.db.clone(), Arc::new(std::sync::atomic::AtomicBool::new(false)));
    let mut load = tokio::task::JoinSet::new();
    let stopped = stop.clone();
    load.spawn(async move {
        while !stopped.load(std::sync::atomic::Ordering::SeqCst) {
            // Always two rows at once: a copy with an odd number would have caught half a unit.
            db.write(tenant, |tx| {
                add(tx, "left")?;
                add(tx, "right")
            })
            .await
            .unwrap();
        }
    });
    let seen: Arc<Mutex<Vec<BackupProgress>>> = Arc::default();
    let (target, copy) = (test.place.folder().join("copies").join("copy.db"), seen.clone());
    test.db.backup(target.clone(), move |progress| copy.lock().unwrap().push(progress)).await.unwrap();
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    load.join_all().await;
    {
        let steps = seen.lock().unwrap();
        assert!(
            steps.len() > 1 && steps.last().unwrap().done_pages == steps.last().unwrap().total_pages,
            "{steps:?}"
        );
    }
    let restored =
        Db::open(&DatabaseAddress::sqlite(&target), &test.options, &test.migrations).await.unwrap();
    let kept = restored.read(tenant, bodies).await.unwrap();
    let count = |word: &str| kept.iter().filter(|body| *body == word).count();
    assert_eq!(count("left"), count("right"));
    assert_eq!(kept.len() - count("left") * 2, 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_never_overwrites() {
    let test = sqlite().await;
    let target = test.place.folder().join("precious");
    std::fs::write(&target, "photos").unwrap();
    let error = test.db.backup(target.clone(), |_| {}).await.unwrap_err().to_string();
    assert!(error.contains("already exists"), "{error}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "photos");
}

#[tokio::test(flavor = "multi_thread")]
async fn restoring_brings_back_the_copy_and_keeps_what_was_there() {
    let test = sqlite().await;
    let tenant = test.add_tenant("shop").await;
    test.db.write(tenant, |tx| add(tx, "then")).await.unwrap();
    let copy = test.place.folder().join("copy.db");
    test.db.backup(copy.clone(), |_| {}).await.unwrap();
    test.db.write(tenant, |tx| add(tx, "later")).await.unwrap();
    let TestDb { db, address, options, migrations, place, .. } = test;
    drop(db);
    let kept =
        maintenance::restore(&address, copy, &options, &migrations, MORNING, |_| {}).await.unwrap().unwrap();
    assert!(
        kept.starts_with(place.folder())
            && kept.to_string_lossy().ends_with("before-restore-20261115T033000Z")
    );
    let now = Db::open(&address, &options, &migrations).await.unwrap();
    assert_eq!(now.read(tenant, bodies).await.unwrap(), ["then"]);
    let before = Db::open(&DatabaseAddress::sqlite(&kept), &options, &migrations).await.unwrap();
    assert_eq!(before.read(tenant, bodies).await.unwrap(), ["later", "then"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_backup_is_refused_and_nothing_moves() {
    const FUTURE: &[Migration] =
        &[Migration { name: "9009_future", text: "CREATE TENANT TABLE f (tenant_id UUID NOT NULL);" }];
    let test = sqlite().await;
    let newer = TestDb::open(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES, FUTURE]).await;
    let tenant = test.add_tenant("shop").await;
    test.db.write(tenant, |tx| add(tx, "kept")).await.unwrap();
    let folder = test.place.folder();
    let letter = folder.join("letter.db");
    std::fs::write(&letter, "dear aunt ".repeat(1000)).unwrap();
    let foreign = folder.join("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE photos (id INTEGER)").unwrap();
    let future = folder.join("future.db");
    newer.db.backup(future.clone(), |_| {}).await.unwrap();
    for (source, word) in [
        (letter, "not a valid Munshi backup"),
        (foreign, "not a Munshi database"),
        (future, "newer Munshi"),
        (folder.join("missing.db"), "does not exist"),
    ] {
        let outcome =
            maintenance::restore(&test.address, source, &test.options, &test.migrations, MORNING, |_| {})
                .await;
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["kept"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_we_say_what_to_use() {
    let test = TestDb::open(DatabaseEngine::Postgres, &[MIGRATIONS, NOTES]).await;
    let error = test.db.backup(test.place.folder().join("x"), |_| {}).await.unwrap_err();
    assert!(matches!(&error, Error::Address(what) if what.contains("pg_dump")), "{error}");
    let source = test.place.folder().join("x");
    let error = maintenance::restore(&test.address, source, &test.options, &test.migrations, MORNING, |_| {})
        .await
        .unwrap_err();
    assert!(error.to_string().contains("pg_restore"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_another_version_is_copied_too() {
    const FUTURE: &[Migration] =
        &[Migration { name: "9009_future", text: "CREATE TENANT TABLE f (tenant_id UUID NOT NULL);" }];
    let newer = TestDb::open(DatabaseEngine::Sqlite, &[MIGRATIONS, FUTURE]).await;
    let copy = newer.place.folder().join("copy.db");
    maintenance::backup(&newer.address, copy.clone(), &newer.options, |_| {}).await.unwrap();
    maintenance::check_integrity(&DatabaseAddress::sqlite(&copy)).await.unwrap();
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_database_and_its_copies_are_for_nobody_else_to_read() {
    use std::os::unix::fs::PermissionsExt;
    let test = sqlite().await;
    test.add_tenant("shop").await;
    let copy = test.place.folder().join("copy.db");
    test.db.backup(copy.clone(), |_| {}).await.unwrap();
    let folder = test.place.folder();
    for name in ["munshi.db", "munshi.db-wal", "munshi.db-shm", "copy.db"] {
        let mode = std::fs::metadata(folder.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_at_a_copy_does_not_change_it() {
    let test = sqlite().await;
    let copy = test.place.folder().join("copy.db");
    test.db.backup(copy.clone(), |_| {}).await.unwrap();
    let before = std::fs::read(&copy).unwrap();
    munshi_store::migrate::load_state(&DatabaseAddress::sqlite(&copy), &test.options, &test.migrations)
        .await
        .unwrap();
    assert_eq!(std::fs::read(&copy).unwrap(), before);
    assert!(!test.place.folder().join("copy.db-wal").exists());
}

/// Such as a copy that was put in place and was about to get its write-ahead log.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_process_left_half_written_is_put_back_before_it_is_read() {
    let test = sqlite().await;
    let folder = test.place.folder();
    let (copy, killed) = (folder.join("copy.db"), folder.join("killed.db"));
    test.db.backup(copy.clone(), |_| {}).await.unwrap();
    let raw = rusqlite::Connection::open(&copy).unwrap();
    // A page of memory, so that the file is written to before the end.
    raw.execute_batch("PRAGMA cache_size = 1; BEGIN; CREATE TABLE half (text)").unwrap();
    for _ in 0..200 {
        raw.execute("INSERT INTO half VALUES (?1)", ["half".repeat(1000)]).unwrap();
    }
    std::fs::copy(&copy, &killed).unwrap();
    std::fs::copy(folder.join("copy.db-journal"), folder.join("killed.db-journal")).unwrap();
    drop(raw);
    let address = DatabaseAddress::sqlite(&killed);
    let state = munshi_store::migrate::load_state(&address, &test.options, &test.migrations).await.unwrap();
    assert!(state.pending.is_empty() && !state.applied.is_empty());
    let tables = rusqlite::Connection::open(&killed).unwrap();
    let half = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
    assert_eq!(tables.query_row(half, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}
