//! `policy.toml` with the tiers, and what it decides.

use std::fs;

use munshi_test_support::DatabaseEngine;
use serde_json::{Value, json};

use crate::app::support::Installation;

const POLICY: &str = "most_autonomy = \"act\"\n\n[connectors.ledger]\nautonomy = \"act\"\nread = [\"ledger.*\"]\n\
                      write = [\"ledger.sale.*\"]\ndeny = [\"ledger.sale.cancel\"]\nask = [\"ledger.sale.large\"]\n\n\
                      [roles.staff]\ndeny = [\"ledger.report.*\"]\n\n[redaction]\nfields = [\"phone\"]\n\n\
                      [approvals]\nhours = 2\n";

fn write(installation: &Installation, path: &str, text: &str) {
    let path = installation.folder().join("tenants/shop").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A tenant with one binding whose agent has one tool of the house.
fn shop(installation: &Installation) {
    write(installation, "humans/asha.md", "+++\nname = \"Asha\"\nidentity = \"You.\"\n+++\n");
    write(installation, "teams/desk.md", "+++\nname = \"Desk\"\nrole = \"You help.\"\n+++\n");
    let agent = "tools = [\"today\", \"log_sale\"]\n\n[policy]\nautonomy = \"propose\"\nread = [\"house.*\"]\nwrite = [\"ledger.sale.*\"]\n";
    write(installation, "agents/own.toml", agent);
    let binding = "human = \"asha\"\nteam = \"desk\"\nagent = \"own\"\ndoor = \"public\"\nkeys = [\"host:shop.example\"]\n";
    write(installation, "bindings/desk.toml", binding);
}

fn a_policy_goes_in_with_the_tiers_and_comes_out(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    shop(&installation);
    write(&installation, "policy.toml", POLICY);
    let planned = installation.json(&["diff", "tenants/shop"]);
    assert_eq!(planned["plans"][0]["files"][0]["what"], "policy");
    let words = installation.run(&["diff", "tenants/shop"]).ok();
    assert!(words.contains("+ policy\n") && words.contains("    approvals.hours: is now 2\n"), "{words}");
    assert!(!words.contains("which is not installed"), "{words}");
    write(&installation, "policy.toml", &format!("{POLICY}\n[connectors.courier]\nautonomy = \"act\"\n"));
    let doubtful = installation.run(&["diff", "tenants/shop"]).ok();
    let told = "! policy.toml names connector courier, which is not installed";
    assert!(doubtful.contains(told), "{doubtful}");
    write(&installation, "policy.toml", POLICY);
    assert!(words.contains("    connectors.ledger.write:\n      + \"ledger.sale.*\"\n"), "{words}");
    installation.json(&["apply", "tenants/shop", "--author", "asha", "--note", "the first"]);
    assert!(installation.run(&["diff", "tenants/shop"]).ok().contains("no changes"));

    let shown = installation.json(&["policy", "show"]);
    assert_eq!((&shown["version"], &shown["author"]), (&1.into(), &"asha".into()));
    assert_eq!(shown["policy"]["connectors"]["ledger"]["deny"], json!(["ledger.sale.cancel"]));
    let exported = installation.json(&["export", "shop", "out/shop"]);
    assert_eq!(exported["written"].as_array().unwrap().len(), 5);
    let out = installation.folder().join("out/shop/policy.toml");
    assert_eq!(fs::read_to_string(&out).unwrap(), POLICY);
    let again = installation.json(&["diff", "out/shop", "--prune"]);
    assert_eq!((&again["plans"][0]["changes"], &again["plans"][0]["files"]), (&json!([]), &json!([])));

    write(
        &installation,
        "policy.toml",
        &POLICY.replace("hours = 2", "hours = 3").replace("\"act\"\n\n", "\"off\"\n\n"),
    );
    let words = installation.run(&["apply", "tenants/shop", "--author", "ravi"]).ok();
    assert!(
        words.contains("~ policy, version 1 to 2\n") && words.contains("    approvals.hours: 2 is now 3\n"),
        "{words}"
    );
    assert!(words.contains("Applied 1 change."), "{words}");
    let log = installation.json(&["policy", "log"]);
    assert_eq!(
        (&log["versions"][0]["author"], &log["versions"][1]["note"]),
        (&"ravi".into(), &"the first".into())
    );
    assert_eq!(log["versions"][0]["changes"][0]["key"], "approvals.hours");

    fs::remove_file(installation.folder().join("tenants/shop/policy.toml")).unwrap();
    let words = installation.run(&["apply", "tenants/shop", "--prune"]).ok();
    assert!(words.contains("policy.toml is not in the folder, so its settings stay in force"), "{words}");
    assert_eq!(installation.json(&["policy", "show"])["version"], 2);
    let tail = installation.json(&["audit", "tail", "--tenant", "shop"]);
    let mut events: Vec<&Value> =
        tail["items"].as_array().unwrap().iter().map(|entry| &entry["event"]).collect();
    events.retain(|event| **event == "policy.changed");
    assert_eq!(events.len(), 2);
    assert_eq!(installation.json(&["audit", "verify"])["ok"], true);
}

#[test]
fn a_policy_goes_in_with_the_tiers_and_comes_out_on_sqlite() {
    a_policy_goes_in_with_the_tiers_and_comes_out(DatabaseEngine::Sqlite);
}

#[test]
fn a_policy_goes_in_with_the_tiers_and_comes_out_on_postgres() {
    a_policy_goes_in_with_the_tiers_and_comes_out(DatabaseEngine::Postgres);
}

#[test]
fn a_bad_policy_changes_nothing_and_is_told_with_the_rest() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    shop(&installation);
    write(&installation, "agents/own.toml", "[limts]\n");
    write(&installation, "policy.toml", "[connectors.ledger]\nautonomy = \"always\"\n");
    let error = installation.run(&["apply", "tenants/shop"]).refused(9);
    assert!(
        error.contains("tenants/shop/policy.toml:2:12: unknown variant `always`, expected one of `off`"),
        "{error}"
    );
    assert!(error.contains("docs/policy.md lists every key") && error.contains("own.toml:1:2"), "{error}");
    let value = installation.run(&["diff", "tenants/shop", "--json"]).refused_as(9, "files");
    assert_eq!(value["error"]["problems"].as_array().unwrap().len(), 2, "{value}");
    assert_eq!(installation.json(&["tenant", "list"])["items"], json!([]));
    installation.json(&["tenant", "add", "other"]);
    assert!(installation.run(&["policy", "show"]).ok().contains("has no policy"));
    assert!(installation.run(&["policy", "log"]).ok().contains("has no policy yet"));
    assert_eq!(installation.json(&["schema", "policy"])["title"], "Munshi policy: policy.toml");
}

fn stage<'a>(shown: &'a Value, name: &str) -> &'a Value {
    shown["stages"].as_array().unwrap().iter().find(|stage| stage["stage"] == name).unwrap()
}

fn the_deciding_stage_is_told(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    shop(&installation);
    write(&installation, "policy.toml", POLICY);
    installation.json(&["apply", "tenants/shop"]);
    installation.json(&["person", "add", "Asha", "--role", "owner"]);
    installation.json(&["person", "add", "Ravi", "--role", "viewer"]);
    let spec = json!({
        "scope": "ledger.sale.{size}", "effect": "checked", "reach": "business",
        "parameters": { "type": "object", "properties": { "size": { "type": "string" }, "phone": { "type": "string" } }, "required": ["size"] },
    });
    fs::write(installation.folder().join("sale.json"), spec.to_string()).unwrap();
    let sale = |whom: &str, door: &str, size: &str| {
        let arguments = json!({ "size": size, "phone": "+919812345678" }).to_string();
        let line = ["policy", "test", "log_sale", "--as", whom, "--door", door, "--args", &arguments];
        installation.json(&[&line[..], &["--spec", "sale.json", "--connector", "ledger"]].concat())
    };
    let done = sale("Asha", "private", "small");
    assert_eq!((&done["decision"], &done["scope"]), (&"apply".into(), &"ledger.sale.small".into()));
    assert_ne!(done["detail"]["arguments"]["phone"], "+919812345678", "what leaves is redacted");
    for (whom, door, size, decision, stopped) in [
        ("Asha", "private", "large", "ask", "consent"),
        ("Asha", "private", "cancel", "refuse", "scope"),
        ("Ravi", "private", "small", "refuse", "permission"),
        ("Asha", "public", "small", "refuse", "door"),
        ("anonymous", "public", "small", "refuse", "permission"),
    ] {
        let shown = sale(whom, door, size);
        assert_eq!(shown["decision"], decision, "{shown}");
        assert_eq!(stage(&shown, stopped)["outcome"], "stopped", "{shown}");
    }
    let through = ["policy", "test", "today", "--as", "anonymous", "--binding", "desk"];
    assert_eq!(installation.json(&through)["decision"], "apply");
    let unoffered = installation.json(&[
        "policy",
        "test",
        "calculate",
        "--as",
        "Asha",
        "--binding",
        "desk",
        "--args",
        "{\"expression\":\"1\"}",
    ]);
    assert_eq!(unoffered["detail"]["code"], "not_offered");
    let proposes = [
        "policy",
        "test",
        "log_sale",
        "--as",
        "Asha",
        "--door",
        "work",
        "--binding",
        "desk",
        "--args",
        "{\"size\":\"s\"}",
    ];
    let proposes =
        installation.json(&[&proposes[..], &["--spec", "sale.json", "--connector", "ledger"]].concat());
    assert_eq!(proposes["detail"]["reasons"], json!(["proposes"]), "the agent's own policy counts");
    assert_eq!(
        installation.json(&["policy", "test", "nothing", "--as", "Asha", "--door", "work"])["detail"]["code"],
        "unknown_tool"
    );
    let words = installation.run(&["policy", "test", "today", "--as", "anonymous", "--door", "public"]).ok();
    assert!(
        words.contains("It would be executed.\nNothing was done.\n")
            && words.contains("no rate limit is reached"),
        "{words}"
    );
}

#[test]
fn the_deciding_stage_is_told_on_sqlite() {
    the_deciding_stage_is_told(DatabaseEngine::Sqlite);
}

#[test]
fn the_deciding_stage_is_told_on_postgres() {
    the_deciding_stage_is_told(DatabaseEngine::Postgres);
}

#[test]
fn testing_uses_nothing_up() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    shop(&installation);
    write(&installation, "policy.toml", "[rates]\ncalls_per_minute = 1\n");
    installation.json(&["apply", "tenants/shop"]);
    for _ in 0..3 {
        let shown = installation.json(&["policy", "test", "today", "--as", "anonymous", "--door", "public"]);
        assert_eq!(shown["decision"], "apply", "{shown}");
    }
    for wrong in [
        &["policy", "test", "today", "--as", "anonymous"][..],
        &["policy", "test", "today", "--as", "anonymous", "--door", "window"],
        &["policy", "test", "today", "--as", "anonymous", "--door", "public", "--args", "{"],
        &["policy", "test", "today", "--as", "anonymous", "--door", "public", "--house"],
    ] {
        assert_eq!(installation.run(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn who_may_see_the_data_is_shown_and_slips_in_it_are_told() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite)
        .with("MUNSHI__MODELS__LOCAL__PROVIDER", "llamacpp")
        .with("MUNSHI__MODELS__LOCAL__MODEL", "small")
        .with("MUNSHI__MODELS__LOCAL__BASE_URL", "http://127.0.0.1:9/v1")
        .with("MUNSHI__MODELS__LOCAL__RESIDENCY", "in");
    shop(&installation);
    let apply = |policy: &str| {
        write(&installation, "policy.toml", policy);
        installation.run(&["apply", "tenants/shop"]).ok()
    };
    let permitted = || {
        let listed = installation.json(&["models", "--tenant", "shop"]);
        let models = listed["models"].as_array().unwrap().clone();
        models.iter().map(|model| (model["name"].clone(), model["permitted"].clone())).collect::<Vec<_>>()
    };
    let good = apply("[residency]\nproviders = [\"local\"]\nplaces = [\"in\"]\n");
    assert!(!good.contains("residency.providers names") && !good.contains("permits no model"), "{good}");
    assert_eq!(permitted(), [(json!("local"), json!(true)), (json!("offline"), json!(true))]);
    let slip = apply("[residency]\nproviders = [\"locl\"]\n");
    assert!(
        slip.contains("residency.providers names locl") && slip.contains("did you mean local?"),
        "{slip}"
    );
    assert!(slip.contains("permits no model here except offline"), "{slip}");
    assert_eq!(permitted(), [(json!("local"), json!(false)), (json!("offline"), json!(true))]);
    let words = installation.run(&["models", "--tenant", "shop"]).ok();
    assert!(words.contains("not permitted"), "{words}");
    assert_eq!(installation.json(&["models"])["models"][0]["permitted"], Value::Null);
}
