//! Tenants, from the first to the archive, on both engines.

use munshi_test_support::DatabaseEngine;

use crate::app::support::Installation;

fn a_tenant_lives_and_is_put_away(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    assert_eq!(installation.json(&["tenant", "list"])["items"], serde_json::json!([]));
    let added = installation.json(&["tenant", "add", "sharma-kirana"]);
    assert_eq!((&added["status"], &added["zone"]), (&"active".into(), &"Asia/Kolkata".into()));
    installation.json(&["tenant", "add", "corner-shop", "--zone", "europe/london"]);

    let paused = installation.json(&["tenant", "pause", "sharma-kirana"]);
    assert_eq!((&paused["status"], &paused["changed"]), (&"paused".into(), &true.into()));
    assert_eq!(paused["id"], added["id"]);
    assert_eq!(installation.json(&["tenant", "pause", "sharma-kirana"])["changed"], false);
    assert_eq!(installation.json(&["tenant", "resume", "sharma-kirana"])["status"], "active");

    installation.run(&["tenant", "archive", "sharma-kirana", "--json"]).refused_as(7, "refused");
    let archived = installation.json(&["tenant", "archive", "sharma-kirana", "--yes"]);
    assert_eq!(archived["status"], "archived");
    let error = installation.run(&["tenant", "resume", "sharma-kirana"]).refused(7);
    assert!(error.contains("permanently"), "{error}");
    installation.run(&["tenant", "archive", "sharma-kirana"]).refused(7);

    let items = installation.json(&["tenant", "list"])["items"].clone();
    let names: Vec<&str> =
        items.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["corner-shop", "sharma-kirana"], "newest first, the archived too");
}

#[test]
fn a_tenant_lives_and_is_put_away_on_sqlite() {
    a_tenant_lives_and_is_put_away(DatabaseEngine::Sqlite);
}

#[test]
fn a_tenant_lives_and_is_put_away_on_postgres() {
    a_tenant_lives_and_is_put_away(DatabaseEngine::Postgres);
}

#[test]
fn a_name_is_taken_once() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "sharma"]);
    let error = installation.run(&["tenant", "add", "sharma"]).refused(6);
    assert!(error.contains("Tenant sharma already exists.\nhint: Choose another"), "{error}");
    installation.run(&["tenant", "add", "sharma", "--json"]).refused_as(6, "conflict");
}

#[test]
fn unknown_and_impossible_names_are_told_apart() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    for verb in ["pause", "resume", "archive"] {
        let error = installation.run(&["tenant", verb, "nobody"]).refused(5);
        assert!(error.contains("No tenant nobody exists"), "{error}");
        installation.run(&["tenant", verb, "nobody", "--json"]).refused_as(5, "not_found");
        installation.run(&["tenant", verb, "No Body", "--json"]).refused_as(2, "usage");
    }
    for name in ["", "UPPER", "दुकान", "../x", "a b", "-x"] {
        assert_eq!(installation.run(&["tenant", "add", name]).code, 2, "{name}");
    }
    let error = installation.run(&["tenant", "add", "x", "--zone", "Mars/Olympus"]).refused(2);
    assert!(error.contains("Asia/Kolkata"), "{error}");
}

#[test]
fn a_long_list_comes_whole_or_as_much_as_asked_for() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    for number in 0..7 {
        installation.json(&["tenant", "add", &format!("shop-{number}")]);
    }
    let count = |arguments: &[&str]| installation.json(arguments)["items"].as_array().unwrap().len();
    assert_eq!(count(&["tenant", "list"]), 7);
    assert_eq!(count(&["tenant", "list", "--limit", "3"]), 3);
    assert_eq!(count(&["tenant", "list", "--limit", "4000000000"]), 7);
    assert_eq!(installation.run(&["tenant", "list", "--limit", "0"]).code, 2);
}

#[test]
fn a_list_for_people() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let empty = installation.run(&["tenant", "list"]).ok();
    installation.json(&["tenant", "add", "sharma-kirana"]);
    installation.json(&["tenant", "add", "chai", "--zone", "Europe/London"]);
    installation.json(&["tenant", "pause", "chai"]);
    let list = installation.run(&["tenant", "list"]).ok();
    insta::assert_snapshot!(installation.masked(&format!("{empty}---\n{list}")));
}

#[test]
fn before_there_are_tables_it_says_what_to_run() {
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let installation = Installation::on(engine);
        let error = installation.run(&["tenant", "list"]).refused(8);
        assert!(error.contains("munshi migrate"), "{error}");
        installation.run(&["tenant", "list", "--json"]).refused_as(8, "schema");
    }
}
