//! The schema only ever moves forward, whole or not at all.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{NOTES, add, bodies};
use munshi_store::migrate::{self, MigrationOutcome, MigrationRequest};
use munshi_store::{DatabaseAddress, Db, Error, MIGRATIONS, Migration, Migrations, Result, StoreOptions};
use munshi_test_support::database::{MORNING, TestDbStorage};
use munshi_test_support::{DatabaseEngine, TestDb, on_both_engines};

const MORE: &[Migration] =
    &[Migration { name: "9002_more", text: "CREATE TENANT TABLE more (tenant_id UUID NOT NULL);" }];

const BROKEN: &[Migration] = &[Migration {
    name: "9002_broken",
    text: "CREATE TENANT TABLE more (tenant_id UUID NOT NULL); INSERT INTO nowhere VALUES (1);",
}];

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

async fn try_open(test: &TestDb, lists: &[&[Migration]]) -> Result<Db> {
    Db::open(&test.address, &test.options, &Migrations::new(lists).unwrap()).await
}

on_both_engines! {
    with [MIGRATIONS, NOTES];

    async fn a_newer_database_is_refused_by_an_older_program(test: TestDb) {
        let older = Migrations::new(&[MIGRATIONS]).unwrap();
        let error = Db::open(&test.address, &test.options, &older).await.unwrap_err().to_string();
        assert!(error.contains("made by a newer Munshi (it has migration 9001_notes)"), "{error}");
        let error = migrate::run(request(&test.address, &[MIGRATIONS])).await.unwrap_err().to_string();
        assert!(error.contains("newer Munshi"), "{error}");
    }

    async fn an_older_database_is_refused_until_migrated(test: TestDb) {
        let error = try_open(&test, &[MIGRATIONS, NOTES, MORE]).await.unwrap_err().to_string();
        assert!(error.contains("is older than this program: run `munshi migrate`"), "{error}");
        let outcome = migrate::run(request(&test.address, &[MIGRATIONS, NOTES, MORE])).await.unwrap();
        assert_eq!(outcome.applied, ["9002_more"]);
        try_open(&test, &[MIGRATIONS, NOTES, MORE]).await.unwrap();
        let again = migrate::run(request(&test.address, &[MIGRATIONS, NOTES, MORE])).await.unwrap();
        assert_eq!(again, MigrationOutcome::default());
    }

    async fn an_altered_migration_is_refused(test: TestDb) {
        let altered = Migration { name: NOTES[0].name, text: "CREATE TENANT TABLE other (tenant_id UUID);" };
        let error = try_open(&test, &[MIGRATIONS, &[altered]]).await.unwrap_err().to_string();
        assert!(error.contains("migrations are only ever added"), "{error}");
    }

    async fn a_migration_that_fails_changes_nothing(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        test.db.write(tenant, |tx| add(tx, "kept")).await.unwrap();
        let error = migrate::run(request(&test.address, &[MIGRATIONS, NOTES, BROKEN])).await.unwrap_err().to_string();
        assert!(error.contains("migration 9002_broken failed; nothing was changed"), "{error}");
        let outcome = migrate::run(request(&test.address, &[MIGRATIONS, NOTES, MORE])).await.unwrap();
        assert_eq!(outcome.applied, ["9002_more"], "the broken one left no table behind");
        assert_eq!(test.open_with_more().await.read(tenant, bodies).await.unwrap(), ["kept"]);
    }
}

trait OpenWithMore {
    async fn open_with_more(&self) -> Db;
}

impl OpenWithMore for TestDb {
    async fn open_with_more(&self) -> Db {
        try_open(self, &[MIGRATIONS, NOTES, MORE]).await.unwrap()
    }
}

async fn migrate_from_four_places_at_once(engine: DatabaseEngine) {
    let (address, _place) = tokio::task::spawn_blocking(move || TestDbStorage::create(engine)).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        tasks.spawn(migrate::run(request(&address, &[MIGRATIONS, NOTES])));
    }
    let applied: usize =
        tasks.join_all().await.into_iter().map(|outcome| outcome.unwrap().applied.len()).sum();
    assert_eq!(applied, MIGRATIONS.len() + NOTES.len(), "each migration ran once");
    drop(address);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_nodes_starting_at_once_migrate_once_on_sqlite() {
    migrate_from_four_places_at_once(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_nodes_starting_at_once_migrate_once_on_postgres() {
    migrate_from_four_places_at_once(DatabaseEngine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_is_copied_before_it_is_migrated() {
    let test = TestDb::open(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES]).await;
    let tenant = test.add_tenant("shop").await;
    test.db.write(tenant, |tx| add(tx, "before")).await.unwrap();
    let backups = test.place.folder().join("backups");
    let mut upgrade = request(&test.address, &[MIGRATIONS, NOTES, MORE]);
    upgrade.backups = Some(backups.clone());
    let outcome = migrate::run(upgrade).await.unwrap();
    let copy = outcome.backup.unwrap();
    assert_eq!(copy, backups.join("before-migrating-from-9001-20261115T033000Z.db"));
    let old = Db::open(&DatabaseAddress::sqlite(&copy), &test.options, &test.migrations).await.unwrap();
    assert_eq!(old.read(tenant, bodies).await.unwrap(), ["before"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_tables_belong_to_an_owner_the_app_is_not() {
    let (owner, place) =
        tokio::task::spawn_blocking(|| TestDbStorage::create(DatabaseEngine::Postgres)).await.unwrap();
    let login = format!("munshi_login_{}", std::process::id());
    place.run_as_superuser(&format!("CREATE ROLE {login} LOGIN"));
    let app: DatabaseAddress = place.postgres_url(&login).parse().unwrap();
    let mut first = request(&app, &[MIGRATIONS, NOTES]);
    let refused = migrate::run(first.clone()).await.unwrap_err();
    assert!(matches!(refused, Error::Schema(_) | Error::Refused(_)), "{refused}");
    first.owner = Some(owner);
    migrate::run(first).await.unwrap();
    let migrations = Migrations::new(&[MIGRATIONS, NOTES]).unwrap();
    let db = Db::open(&app, &StoreOptions::default(), &migrations).await.unwrap();
    db.check().await.unwrap();
    drop(db);
    place.run_as_superuser(&format!("DROP OWNED BY {login}; DROP ROLE {login}"));
}
