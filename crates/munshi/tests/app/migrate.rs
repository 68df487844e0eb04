//! Bringing tables to this version, and telling what does not fit.

use munshi_store::Migration;
use munshi_test_support::DatabaseEngine;
use serde_json::json;

use crate::app::support::{Installation, TABLES};

pub(crate) const FUTURE: &[Migration] =
    &[Migration { name: "9009_future", text: "CREATE TENANT TABLE future (tenant_id UUID NOT NULL);" }];

fn pending_is_shown_then_applied(engine: DatabaseEngine) {
    let installation = Installation::on(engine);
    let planned = installation.json(&["migrate", "--dry-run"]);
    assert_eq!(planned["applied"], json!([]));
    let pending = planned["pending"].as_array().unwrap().clone();
    assert!(pending.len() >= 3, "{planned}");
    assert!(!installation.file().exists(), "looking made the database");
    assert_eq!(installation.json(&["migrate"])["applied"].as_array().unwrap(), &pending);
    assert_eq!(installation.json(&["migrate"])["applied"], json!([]));
    assert_eq!(installation.json(&["migrate", "--dry-run"])["pending"], json!([]));
}

#[test]
fn pending_is_shown_then_applied_on_sqlite() {
    pending_is_shown_then_applied(DatabaseEngine::Sqlite);
}

#[test]
fn pending_is_shown_then_applied_on_postgres() {
    pending_is_shown_then_applied(DatabaseEngine::Postgres);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_database_is_copied_before_it_is_migrated() {
    let installation = Installation::sqlite();
    installation.migrate_to(&[munshi_store::MIGRATIONS]).await;
    installation.run(&["tenant", "list"]).refused(8);
    let outcome = installation.json(&["migrate"]);
    assert_eq!(outcome["applied"][0], "0003_jobs", "{outcome}");
    let copy = std::path::PathBuf::from(outcome["backup"].as_str().unwrap());
    assert!(copy.starts_with(installation.data().join("backups")) && copy.exists(), "{outcome}");

    let without = Installation::sqlite().with("MUNSHI__STORE__BACKUP_BEFORE_MIGRATE", "false");
    without.migrate_to(&[munshi_store::MIGRATIONS]).await;
    assert_eq!(without.json(&["migrate"])["backup"], json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_database_is_refused_by_every_command() {
    let installation = Installation::sqlite();
    installation.migrate_to(&[TABLES, &[FUTURE]].concat()).await;
    for arguments in [&["serve"][..], &["migrate"], &["tenant", "list"], &["jobs", "list"]] {
        let error = installation.run(arguments).refused(8);
        assert!(error.contains("newer Munshi"), "{error}");
    }
    // A copy can always be made.
    installation.json(&["backup"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_not_changed_under_a_server() {
    let installation = Installation::sqlite();
    installation.migrate_to(&[munshi_store::MIGRATIONS]).await;
    // As an older server would hold it.
    let lock = std::fs::File::create(installation.data().join("munshi.lock")).unwrap();
    lock.lock().unwrap();
    installation.run(&["migrate", "--json"]).refused_as(7, "refused");
    assert_ne!(installation.json(&["migrate", "--dry-run"])["pending"], json!([]));
    drop(lock);
    installation.json(&["migrate"]);
    let _server = installation.serve();
    assert_eq!(installation.json(&["migrate"])["applied"], json!([]), "nothing to do is no conflict");
}

#[test]
fn words_for_people() {
    let installation = Installation::sqlite();
    let planned = installation.run(&["migrate", "--dry-run"]).ok();
    let done = installation.run(&["migrate"]).ok();
    let again = installation.run(&["migrate"]).ok();
    assert!(
        planned.starts_with("0 applied, ") && planned.contains(" pending:\n  0001_tenants\n"),
        "{planned}"
    );
    assert!(done.starts_with("Applied ") && done.contains("\n  ✓ 0001_tenants\n"), "{done}");
    assert_eq!(again, "The schema is up to date; nothing changed.\n");
}

#[test]
fn the_owner_migrates_and_the_server_needs_no_more_than_its_own_login() {
    let installation = Installation::on(DatabaseEngine::Postgres);
    let login = format!("visitor_{}", std::process::id());
    installation.place.run_as_superuser(&format!("CREATE ROLE {login} LOGIN"));
    let owner = installation.place.postgres_url("munshi_owner");
    let installation = installation.with_login(&login);
    let error = installation.run(&["serve"]).refused(8);
    assert!(error.contains("owner_url") || error.contains("as an administrator"), "{error}");

    let installation = installation.with("MUNSHI__STORE__OWNER_URL", owner);
    assert_ne!(installation.json(&["migrate"])["applied"], json!([]));
    let installation = installation.with("MUNSHI__STORE__OWNER_URL", "");
    let server = installation.serve();
    server.wait_for("/readyz", 200);
    drop(server);
    installation.place.run_as_superuser(&format!("DROP OWNED BY {login}; DROP ROLE {login}"));
}
