//! Secrets from the command line: kept, listed, removed, the key rotated, and never shown.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use munshi_test_support::DatabaseEngine;

use crate::app::support::{Installation, Ran};

fn set(installation: &Installation, arguments: &[&str], value: &str) -> Ran {
    let mut command = installation.command(&[&["vault", "set"], arguments].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

fn secrets_live_and_the_key_is_rotated(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    installation.json(&["tenant", "add", "shop"]);
    let mut told = set(&installation, &["razorpay.key", "--tenant", "shop"], "hunter2\n").ok();
    told += &set(&installation, &["vault:razorpay.key", "--tenant", "shop", "--json"], "hunter3").ok();
    told += &set(&installation, &["own"], "hunter4").ok();
    let mode = installation.data().join("vault.key").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let listed = installation.json(&["vault", "list", "--tenant", "shop"]);
    assert_eq!(
        (&listed["items"][0]["name"], &listed["items"][0]["version"]),
        (&"razorpay.key".into(), &2.into())
    );
    told += &installation.run(&["vault", "list", "--tenant", "shop"]).ok();
    told += &installation.run(&["vault", "list"]).ok();
    let rotated = installation.json(&["vault", "rotate"]);
    assert_eq!((&rotated["keys"], &rotated["resumed"]), (&2.into(), &false.into()));
    told += &rotated.to_string();
    told += &installation.run(&["vault", "rotate"]).ok();
    installation.json(&["vault", "remove", "own"]);
    let error = installation.run(&["vault", "remove", "own", "--json"]).refused_as(5, "not_found");
    told += &error.to_string();
    let tail = installation.json(&["audit", "tail", "--tenant", "shop"]);
    assert_eq!(tail["items"][1]["event"], "secret.set");
    told += &installation.run(&["audit", "export"]).ok();
    told += &tail.to_string();
    assert!(!told.contains("hunter"), "{told}");
    assert_eq!(installation.json(&["audit", "verify"])["ok"], true);
}

#[test]
fn secrets_live_and_the_key_is_rotated_on_sqlite() {
    secrets_live_and_the_key_is_rotated(DatabaseEngine::Sqlite);
}

#[test]
fn secrets_live_and_the_key_is_rotated_on_postgres() {
    secrets_live_and_the_key_is_rotated(DatabaseEngine::Postgres);
}

#[test]
fn a_key_that_is_wrong_or_badly_kept_is_told() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    set(&installation, &["a"], "hunter2").ok();
    let key = installation.data().join("vault.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let error = set(&installation, &["a"], "x").refused(3);
    assert!(error.contains("chmod 600"), "{error}");
    std::fs::remove_file(&key).unwrap();
    let error = set(&installation, &["a"], "x").refused(3);
    assert!(error.contains("vault.key is missing") && error.contains("Restore that key"), "{error}");
    assert!(!key.exists());
    let error = installation.run(&["serve"]).refused(3);
    assert!(error.contains("vault.key is missing"), "{error}");
}

#[test]
fn what_can_not_be_kept_is_refused() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    assert_eq!(set(&installation, &["Bad Name"], "x").code, 2);
    assert_eq!(set(&installation, &["a"], "\n").code, 2);
    assert_eq!(set(&installation, &["a", "--tenant", "nobody"], "x").code, 5);
    let error = set(&installation, &["a", "hunter2"], "x").refused(2);
    assert!(!error.is_empty(), "a value on the command line is no way to give one");
}
