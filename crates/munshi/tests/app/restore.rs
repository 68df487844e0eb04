//! Putting a backup back.

use munshi_test_support::DatabaseEngine;
use serde_json::json;

use crate::app::migrate::FUTURE;
use crate::app::support::{Installation, TABLES, spoil};

fn names(installation: &Installation) -> Vec<String> {
    let list = installation.json(&["tenant", "list"]);
    list["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn there_and_back_again() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "then"]);
    let copy = installation.json(&["backup"])["file"].as_str().unwrap().to_owned();
    installation.json(&["tenant", "add", "later"]);
    assert_eq!(names(&installation), ["later", "then"]);

    let restored = installation.json(&["restore", &copy, "--yes"]);
    assert_eq!(restored["pending"], json!([]));
    assert_eq!(names(&installation), ["then"]);
    let kept = restored["moved_to"].as_str().unwrap();
    installation.json(&["restore", kept, "--yes"]);
    assert_eq!(names(&installation), ["later", "then"], "what was there can be had back");
}

#[test]
fn a_server_is_not_robbed_of_its_database() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let copy = installation.json(&["backup"])["file"].as_str().unwrap().to_owned();
    let error = installation.run(&["restore", &copy, "--yes"]).refused(7);
    assert!(error.contains(&format!("in use by process {}", server.process())), "{error}");
    assert_eq!(server.get("/readyz").0, 200);
}

#[test]
fn it_asks_first_unless_there_is_nothing_to_lose() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let copy = installation.json(&["backup", "copy.db"])["file"].as_str().unwrap().to_owned();
    let error = installation.run(&["restore", &copy]).refused(7);
    assert!(error.contains("add --yes"), "{error}");
    std::fs::remove_file(installation.file()).unwrap();
    let restored = installation.json(&["restore", &copy]);
    assert_eq!(restored["moved_to"], json!(null));
    assert!(installation.file().exists());
}

#[test]
fn a_damaged_database_is_replaced() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "sharma"]);
    installation.json(&["backup", "copy.db"]);
    std::fs::write(installation.file(), "not a database ".repeat(1000)).unwrap();
    installation.run(&["tenant", "list"]).refused(4);
    installation.json(&["restore", "copy.db", "--yes"]);
    assert_eq!(names(&installation), ["sharma"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_backup_is_refused_and_nothing_moves() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "sharma"]);
    let newer = Installation::sqlite();
    newer.migrate_to(&[TABLES, &[FUTURE]].concat()).await;
    let spoiled = installation.json(&["backup", "spoiled.db"])["file"].as_str().unwrap().to_owned();
    spoil(&installation.folder().join(&spoiled));
    std::fs::write(installation.folder().join("letter.txt"), "dear aunt").unwrap();
    std::fs::write(installation.folder().join("empty.db"), "").unwrap();
    let (own, newer) = (installation.file().display().to_string(), newer.file().display().to_string());
    for (file, code, word) in [
        ("missing.db", 5, "no file"),
        ("letter.txt", 7, "not a valid Munshi backup"),
        ("empty.db", 7, "not a Munshi database"),
        (spoiled.as_str(), 7, "not a valid Munshi backup"),
        (newer.as_str(), 8, "newer Munshi"),
        (own.as_str(), 7, "is the database itself"),
    ] {
        let error = installation.run(&["restore", file, "--yes"]).refused(code);
        assert!(error.contains(word), "{file}: {error}");
    }
    assert_eq!(names(&installation), ["sharma"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_backup_says_what_comes_next() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let older = Installation::sqlite();
    older.migrate_to(&[munshi_store::MIGRATIONS]).await;
    let words = installation.run(&["restore", older.file().to_str().unwrap(), "--yes"]).ok();
    insta::assert_snapshot!(installation.masked(&words));
    let server = installation.serve();
    server.wait_for("/readyz", 200);
}
