//! Copies of the database.

use munshi_test_support::DatabaseEngine;

use crate::app::support::{Installation, spoil};

#[test]
fn a_copy_is_made_under_a_running_server() {
    let installation = Installation::sqlite();
    let _server = installation.serve();
    installation.json(&["tenant", "add", "sharma"]);
    let copy = installation.json(&["backup"]);
    let file = std::path::PathBuf::from(copy["file"].as_str().unwrap());
    assert_eq!(file.parent().unwrap(), installation.data().join("backups"));
    assert_eq!(copy["bytes"].as_u64().unwrap(), std::fs::metadata(&file).unwrap().len());
    let named = installation.folder().join("copy.db");
    let words = installation.run(&["backup", named.to_str().unwrap()]).ok();
    assert!(words.starts_with(&format!("Backed up and verified: {}", named.display())), "{words}");
}

#[test]
fn nothing_is_overwritten_and_nothing_is_made_of_nothing() {
    let installation = Installation::sqlite();
    installation.run(&["backup", "--json"]).refused_as(5, "not_found");
    installation.run(&["migrate"]).ok();
    let precious = installation.folder().join("photos");
    std::fs::write(&precious, "photos").unwrap();
    let error = installation.run(&["backup", precious.to_str().unwrap()]).refused(6);
    assert!(error.contains("already exists"), "{error}");
    let error = installation.run(&["backup", "."]).refused(6);
    assert!(error.contains("is a folder"), "{error}");
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "photos");
}

#[test]
fn a_damaged_database_makes_no_backup() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    spoil(&installation.file());
    let target = installation.folder().join("copy.db");
    let error = installation.run(&["backup", target.to_str().unwrap()]).refused(4);
    assert!(error.contains("damaged"), "{error}");
    assert!(!target.exists());
}

#[test]
fn postgres_has_its_own_tools() {
    let installation = Installation::migrated(DatabaseEngine::Postgres);
    let error = installation.run(&["backup"]).refused(7);
    assert!(error.contains("pg_dump"), "{error}");
    std::fs::write(installation.folder().join("x"), "").unwrap();
    let error = installation.run(&["restore", "x", "--yes"]).refused(7);
    assert!(error.contains("pg_restore"), "{error}");
}

#[test]
fn a_folder_that_is_not_there_is_not_made_up() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let error = installation.run(&["backup", "unmounted/disk/copy.db"]).refused(5);
    assert!(error.contains("there is no folder unmounted/disk"), "{error}");
}
