//! The settings as the program shows them.

use crate::app::support::Installation;

#[test]
fn the_example_is_a_good_file() {
    let installation = Installation::sqlite();
    let example = installation.run(&["config", "example"]).ok();
    assert_eq!(installation.json(&["config", "example"])["toml"], example);
    std::fs::write(installation.folder().join("my.toml"), example).unwrap();
    let checked = installation.json(&["config", "check", "--config", "my.toml"]);
    assert_eq!((&checked["ok"], &checked["file"]), (&true.into(), &"my.toml".into()));
}

#[test]
fn what_is_shown_says_where_it_came_from_and_hides_secrets() {
    let installation =
        Installation::sqlite().with("MUNSHI__STORE__URL", "postgres://me:hunter2@db.local/munshi");
    std::fs::write(installation.folder().join("munshi.toml"), "[jobs]\nworkers = 3\n").unwrap();
    let shown = installation.run(&["config", "show"]).ok();
    assert!(!shown.contains("hunter2") && shown.contains("MUNSHI__STORE__URL"), "{shown}");
    let entries = installation.json(&["config", "show"]);
    let workers = entries.as_array().unwrap().iter().find(|entry| entry["key"] == "jobs.workers").unwrap();
    assert_eq!((&workers["value"], &workers["from"]["line"]), (&3.into(), &2.into()));
}

#[test]
fn every_problem_is_listed_at_once() {
    let installation = Installation::sqlite();
    std::fs::write(installation.folder().join("bad.toml"), "[server]\nlistne = 1\n[jobs]\nworkers = -1\n")
        .unwrap();
    let error = installation.run(&["config", "check", "--config", "bad.toml"]).refused(3);
    insta::assert_snapshot!(error);
    let value =
        installation.run(&["config", "check", "--config", "bad.toml", "--json"]).refused_as(3, "settings");
    assert_eq!(value["error"]["problems"].as_array().unwrap().len(), 2, "{value}");
}

#[test]
fn a_file_that_is_not_there_is_a_problem_for_every_command() {
    let installation = Installation::sqlite();
    for arguments in [&["serve"][..], &["migrate"], &["tenant", "list"], &["backup"], &["config", "show"]] {
        let error = installation.run(&[arguments, &["--config", "missing.toml"]].concat()).refused(3);
        assert!(error.contains("missing.toml: file not found"), "{error}");
    }
    let named = installation.with("MUNSHI_CONFIG", "missing.toml");
    named.run(&["config", "check"]).refused(3);
}

#[test]
fn an_address_the_store_can_not_read_is_a_problem_too() {
    let installation = Installation::sqlite().with("MUNSHI__STORE__URL", "postgres://me:hunter2@h:x/d");
    let error = installation.run(&["config", "check"]).refused(3);
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn models_are_looked_at_more_closely_and_their_keys_hidden() {
    let installation = Installation::sqlite().with("MUNSHI__MODELS__PAID__HEADERS", "X-Team: hunter3");
    let file = installation.folder().join("munshi.toml");
    std::fs::write(&file, "[models.paid]\nprovider = \"azure\"\nmodel = \"m\"\nkey = \"hunter2\"\n").unwrap();
    let error = installation.run(&["config", "check"]).refused(3);
    assert!(error.contains("munshi.toml:1:9: models.paid: `base_url` is missing"), "{error}");
    installation.run(&["serve"]).refused(3);
    let shown = installation.run(&["config", "show"]).ok();
    assert!(shown.contains("[models.paid]") && !shown.contains("hunter"), "{shown}");
}

#[test]
fn a_missing_key_is_told_and_no_more() {
    let installation = Installation::sqlite().with("MUNSHI__MODELS__GPT__MODEL", "m");
    let installation = installation.with("MUNSHI__MODELS__GPT__PROVIDER", "openai");
    let told = installation.run(&["config", "check"]).ok();
    assert!(told.contains("warning: ") && told.contains("set MUNSHI__MODELS__GPT__KEY"), "{told}");
    assert_eq!(installation.json(&["config", "check"])["warnings"].as_array().unwrap().len(), 1);
}
