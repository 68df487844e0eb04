//! The people of a tenant from the command line.

use munshi_test_support::DatabaseEngine;
use serde_json::json;

use crate::app::support::Installation;

fn people_come_change_and_go(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    installation.run(&["person", "list", "--json"]).refused_as(5, "not_found");
    installation.json(&["tenant", "add", "shop"]);
    assert_eq!(installation.json(&["person", "list"])["items"], json!([]));
    let asha =
        installation.json(&["person", "add", "Asha Sharma", "--role", "owner", "--phone", "98123 45678"]);
    assert_eq!((&asha["role"], &asha["addresses"][0]["text"]), (&"owner".into(), &"+919812345678".into()));
    let raju =
        ["person", "add", "Raju", "--tag", "customers", "--email", "Raju@Shop.Example", "--language", "hi"];
    let raju = installation.json(&raju);
    assert_eq!((&raju["role"], &raju["tags"]), (&json!(null), &json!(["customers"])));

    let taken = installation.run(&["person", "add", "Other", "--phone", "+919812345678", "--json"]);
    let taken = taken.refused_as(6, "conflict");
    assert!(taken["error"]["message"].as_str().unwrap().contains("belongs to Asha Sharma"), "{taken}");
    assert_eq!(
        installation.json(&["person", "list"])["items"].as_array().unwrap().len(),
        2,
        "nobody was half added"
    );

    let set = [
        "person",
        "set",
        "raju@shop.example",
        "--role",
        "staff",
        "--opened",
        "crm.*",
        "--closed",
        "",
        "--tags",
        "team,north",
    ];
    let set = installation.json(&set);
    assert_eq!(set["changed"], json!(["role", "tags", "opened"]));
    assert_eq!(installation.json(&["person", "set", "Raju", "--role", "staff"])["changed"], json!([]));

    for gone in [
        &["person", "leave", "asha sharma", "--json"][..],
        &["person", "set", "+919812345678", "--role", "admin", "--json"],
    ] {
        let refused = installation.run(gone).refused_as(6, "conflict");
        assert!(refused["error"]["message"].as_str().unwrap().contains("last owner"), "{refused}");
    }
    installation.json(&["person", "set", "Raju", "--role", "owner"]);
    assert_eq!(installation.json(&["person", "leave", "98123 45678"])["changed"], true);
    assert_eq!(installation.json(&["person", "leave", "+919812345678"])["changed"], false);
    installation.run(&["person", "leave", "Raju", "--json"]).refused_as(6, "conflict");
    installation
        .run(&["person", "set", asha["id"].as_str().unwrap(), "--name", "A", "--json"])
        .refused_as(6, "conflict");
    assert_eq!(installation.json(&["person", "list"])["items"].as_array().unwrap().len(), 1);
    assert_eq!(installation.json(&["person", "list", "--all"])["items"].as_array().unwrap().len(), 2);
    installation.json(&["person", "set", asha["id"].as_str().unwrap(), "--back", "--role", "viewer"]);

    let tail = installation.json(&["audit", "tail", "--tenant", "shop"]);
    let mut events: Vec<&str> =
        tail["items"].as_array().unwrap().iter().map(|entry| entry["event"].as_str().unwrap()).collect();
    events.retain(|event| event.starts_with("person."));
    events.sort_unstable();
    events.dedup();
    assert_eq!(
        events,
        ["person.added", "person.changed", "person.left", "person.returned", "person.role_changed"]
    );
    let told = tail.to_string();
    assert!(
        !told.contains("9812345678")
            && !told.contains("98123 45678")
            && !told.contains("raju@")
            && !told.contains("Asha"),
        "{told}"
    );
    assert_eq!(installation.json(&["audit", "verify"])["ok"], true);

    installation.json(&["tenant", "archive", "shop", "--yes"]);
    installation.run(&["person", "add", "X", "--tenant", "shop", "--json"]).refused_as(7, "forbidden");
}

#[test]
fn people_come_change_and_go_on_sqlite() {
    people_come_change_and_go(DatabaseEngine::Sqlite);
}

#[test]
fn people_come_change_and_go_on_postgres() {
    people_come_change_and_go(DatabaseEngine::Postgres);
}

#[test]
fn who_is_meant_has_to_be_clear() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    installation.json(&["person", "add", "राजू", "--role", "staff"]);
    assert_eq!(
        installation.json(&["person", "set", "raju", "--tags", "north"])["name"],
        "राजू",
        "in another script"
    );
    installation.json(&["person", "add", "राजू", "--role", "viewer"]);
    let several = installation.run(&["person", "leave", "राजू", "--json"]).refused_as(2, "invalid");
    assert!(several["error"]["hint"].as_str().unwrap().contains("Use an id"), "{several}");
    installation.run(&["person", "leave", "nobody", "--json"]).refused_as(5, "not_found");
    installation.json(&["tenant", "add", "other"]);
    installation.run(&["person", "list", "--json"]).refused_as(2, "invalid");
    for wrong in [
        &["person", "add", ""][..],
        &["person", "add", "a\nb"],
        &["person", "add", "A", "--role", "boss"],
        &["person", "add", "A", "--phone", "call me"],
        &["person", "add", "A", "--tag", "two words"],
        &["person", "set", "A", "--tenant", "shop"],
        &["person", "set", "A", "--opened", "a b"],
    ] {
        assert_eq!(installation.run(wrong).code, 2, "{wrong:?}");
    }
}
