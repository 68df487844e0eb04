//! API keys from the command line: made and shown once, listed, rotated, revoked.

use munshi_identity::keys;
use munshi_test_support::DatabaseEngine;
use munshi_types::{Clock, SystemClock};
use serde_json::json;

use crate::app::support::Installation;

/// Whether the text opens something now, as a server would find.
fn opens(installation: &Installation, text: &str) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = installation.open().await;
        keys::authenticate(&db, text, SystemClock.now()).await.unwrap().is_some()
    })
}

fn keys_live_and_end(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    installation.json(&["tenant", "add", "shop"]);
    assert_eq!(installation.json(&["key", "list"])["items"], json!([]));
    let till = installation.json(&[
        "key",
        "add",
        "till",
        "--speaks-as",
        "person",
        "--role",
        "staff",
        "--area",
        "chat",
        "--area",
        "persons:read",
        "--days",
        "30",
    ]);
    let text = till["text"].as_str().unwrap();
    assert!(text.len() == 60 && text.starts_with(till["secrets"][0]["handle"].as_str().unwrap()), "{till}");
    assert_eq!((&till["role"], &till["areas"]), (&"staff".into(), &json!(["chat", "persons:read"])));
    assert!(opens(&installation, text));
    installation
        .run(&["key", "add", "till", "--speaks-as", "person", "--role", "owner", "--json"])
        .refused_as(6, "conflict");

    installation.json(&["person", "add", "Asha", "--role", "owner", "--phone", "9812345678"]);
    let asha =
        installation.run(&["key", "add", "asha's", "--speaks-as", "person", "--person", "98123 45678"]).ok();
    let asha = asha.lines().find(|line| line.starts_with("mk_")).unwrap();
    assert!(opens(&installation, asha));

    let rotated = installation.json(&["key", "rotate", "till", "--grace", "0"]);
    let second = rotated["text"].as_str().unwrap();
    assert!(!opens(&installation, text) && opens(&installation, second));
    let handle = &asha[..11];
    assert_eq!(installation.json(&["key", "revoke", handle])["changed"], true);
    assert_eq!(installation.json(&["key", "revoke", handle])["changed"], false);
    assert!(!opens(&installation, asha) && opens(&installation, second));
    installation.run(&["key", "rotate", handle, "--json"]).refused_as(6, "conflict");
    installation.run(&["key", "revoke", "nothing", "--json"]).refused_as(5, "not_found");

    let listed = installation.json(&["key", "list"]);
    let states: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|item| (&item["name"], &item["state"])).collect();
    assert_eq!(states, [(&json!("asha's"), &json!("revoked")), (&json!("till"), &json!("open"))]);
    let tail = installation.json(&["audit", "tail", "--tenant", "shop"]);
    let events: Vec<&str> =
        tail["items"].as_array().unwrap().iter().map(|entry| entry["event"].as_str().unwrap()).collect();
    for event in ["api_key.made", "api_key.rotated", "api_key.revoked"] {
        assert!(events.contains(&event), "{events:?}");
    }
    let told = format!("{listed}{tail}{}", installation.run(&["key", "list"]).ok());
    for secret in [text, second, asha] {
        assert!(!told.contains(&secret[11..]), "{told}");
    }
    assert_eq!(installation.json(&["audit", "verify"])["ok"], true);
    installation.json(&["tenant", "archive", "shop", "--yes"]);
    assert!(!opens(&installation, second));
    installation
        .run(&["key", "add", "x", "--speaks-as", "person", "--role", "owner", "--tenant", "shop", "--json"])
        .refused_as(7, "forbidden");
    installation.json(&["key", "revoke", "till", "--tenant", "shop"]);
}

#[test]
fn keys_live_and_end_on_sqlite() {
    keys_live_and_end(DatabaseEngine::Sqlite);
}

#[test]
fn keys_live_and_end_on_postgres() {
    keys_live_and_end(DatabaseEngine::Postgres);
}

#[test]
fn a_key_for_one_binding_knows_it_by_id() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tenants");
    let shop = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .min()
        .unwrap();
    let tenant = shop.file_name().unwrap().to_str().unwrap().to_owned();
    installation.run(&["apply", shop.to_str().unwrap()]).ok();
    let tiers = installation.json(&["tier", "list", &tenant]);
    let binding = tiers["items"].as_array().unwrap().iter().find(|tier| tier["kind"] == "binding").unwrap();
    let name = binding["name"].as_str().unwrap();
    let made = installation.json(&[
        "key",
        "add",
        "widget",
        "--speaks-as",
        "person",
        "--role",
        "viewer",
        "--binding",
        name,
    ]);
    assert_eq!(made["bindings"].as_array().unwrap().len(), 1, "{made}");
    installation
        .run(&[
            "key",
            "add",
            "x",
            "--speaks-as",
            "person",
            "--role",
            "viewer",
            "--binding",
            "nowhere",
            "--json",
        ])
        .refused_as(2, "invalid");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    for wrong in [
        &["key", "add", "x"][..],
        &["key", "add", "x", "--role", "owner"],
        &["key", "add", "x", "--role", "owner", "--speaks-as", "robot"],
        &["key", "add", "", "--speaks-as", "person", "--role", "owner"],
        &["key", "add", "x", "--speaks-as", "person", "--role", "boss"],
        &["key", "add", "x", "--speaks-as", "person", "--role", "owner", "--person", "Asha"],
        &["key", "add", "x", "--speaks-as", "person", "--role", "owner", "--area", "everything"],
        &["key", "add", "x", "--speaks-as", "person", "--role", "owner", "--days", "0"],
        &["key", "rotate", "x", "--grace", "9999"],
    ] {
        assert_eq!(installation.run(wrong).code, 2, "{wrong:?}");
    }
    let pasted = format!("mk_{}", "a".repeat(57));
    let error = installation.run(&["key", "revoke", &pasted]).refused(5);
    assert!(!error.contains(&pasted[..20]), "{error}");
}
