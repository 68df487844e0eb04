//! Operations from the command line: on the local database and on a server, with the same words.

use munshi_test_support::DatabaseEngine;

use crate::app::support::{Installation, Ran};
use crate::app::tiers::{edit, write_folder};

fn add_key(installation: &Installation, name: &str, role: &str) -> String {
    let made = installation.json(&["key", "add", name, "--speaks-as", "person", "--role", role]);
    made["text"].as_str().unwrap().to_owned()
}

/// Commands that say the same of a database and of a server.
const ALIKE: &[&[&str]] = &[
    &["key", "list"],
    &["key", "list", "--limit", "1"],
    &["key", "list", "--tenant", "shop"],
    &["key", "show", "till"],
    &["key", "show", "nobody's"],
    &["key", "rotate", "till"],
    &["key", "add", "owner", "--speaks-as", "person", "--role", "staff"],
    &["key", "add", "x", "--speaks-as", "person", "--role", "staff", "--binding", "nowhere"],
    &["key", "add", "x", "--speaks-as", "person", "--person", "nobody"],
    &["acts", "list"],
    &["acts", "show", "00000000-0000-0000-0000-000000000001"],
    &["acts", "show", "nonsense"],
    &["violations", "list"],
    &["sessions", "list"],
    &["sessions", "show", "00000000-0000-0000-0000-000000000001"],
    &["messages", "list", "00000000-0000-0000-0000-000000000001"],
    &["messages", "search", "nothing", "of", "this"],
    &["messages", "search", "\"—\""],
    &["messages", "search", "rice", "--since", "yesterday"],
    &["runs", "list"],
    &["runs", "list", "--state", "done", "--limit", "1"],
    &["runs", "list", "--state", "asleep"],
    &["runs", "show", "00000000-0000-0000-0000-000000000001"],
    &["runs", "cancel", "00000000-0000-0000-0000-000000000001"],
    &["tier", "list", "shop"],
    &["tier", "list", "shop", "--kind", "agent"],
    &["tier", "log", "shop", "human", "meera"],
    &["tier", "show", "shop", "human", "meera@1"],
    &["tier", "show", "shop", "human", "meera@9"],
    &["tier", "show", "shop", "agent", "own"],
    &["tier", "show", "shop", "agent", "own", "--written"],
    &["tier", "diff", "shop", "human", "meera"],
    &["tier", "diff", "shop", "human", "meera", "2", "1"],
    &["tier", "diff", "shop", "human", "meera", "2", "9"],
    &["tier", "diff", "shop", "human", "nobody"],
    &["bindings", "list"],
    &["bindings", "show", "counter"],
    &["bindings", "show", "nowhere"],
    &["stats"],
    &["stats", "--binding", "counter", "--days", "30"],
    &["stats", "--binding", "nowhere"],
    &["usage", "--tenant", "shop"],
    &["usage", "--tenant", "shop", "--by", "binding", "--since", "2026-11-01"],
    &["person", "list"],
    &["person", "list", "--all", "--limit", "1"],
    &["person", "show", "asha"],
    &["person", "show", "@raju"],
    &["person", "show", "nobody"],
    &["person", "add", "Other", "--phone", "98123 45678"],
    &["person", "add", "a\nb"],
    &["person", "add", "A", "--tag", "two words"],
    &["person", "set", "raju", "--language", "klingon"],
    &["person", "set", "asha", "--role", "none"],
    &["person", "set", "asha", "--role", "owner"],
    &["person", "leave", "asha"],
    &["key", "list", "--order", "asc"],
    &["key", "list", "--order", "asc", "--limit", "1"],
    &["key", "list", "--order", "sideways"],
    &["person", "list", "--order", "asc"],
    &["person", "list", "--order", "desc"],
    &["bindings", "list", "--order", "desc"],
    &["acts", "list", "--order", "asc"],
    &["acts", "list", "--order", "sideways"],
    &["acts", "list", "--order", "asc", "--after", "1-00000000000000000000000000000007"],
    &["tier", "list", "shop", "--order", "desc"],
    &["tier", "log", "shop", "human", "meera", "--order", "asc"],
    &["policy", "log", "--order", "asc"],
    &["models", "capabilities", "--tenant", "shop", "--order", "desc"],
];

#[test]
fn a_command_says_the_same_of_a_database_and_of_a_server() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    let owner = add_key(&installation, "owner", "owner");
    add_key(&installation, "till", "staff");
    installation.json(&["key", "revoke", "till"]);
    installation.json(&["person", "add", "Asha", "--role", "owner", "--phone", "98123 45678"]);
    installation.json(&["person", "add", "Raju", "--tag", "customers", "--handle", "raju"]);
    let folder = write_folder(&installation, "tenants/shop");
    installation.json(&["apply", "tenants/shop", "--author", "asha"]);
    edit(&folder, "humans/meera.md", "I always did.", "I never stopped.");
    edit(&folder, "humans/meera.md", "warm", "brisk");
    installation.json(&["apply", "tenants/shop", "--author", "ravi", "--note", "shorter"]);
    let server = installation.serve();
    let url = format!("http://{}", server.address);
    let remote = |words: &[&str]| {
        installation.run(&[words, &["--server", url.as_str(), "--server-key", owner.as_str()]].concat())
    };
    // Its use is noted once a minute.
    remote(&["key", "list"]).ok();
    for words in ALIKE.iter().copied() {
        for format in [&[][..], &["--json"]] {
            let words = [words, format].concat();
            let (here, there) = (installation.run(&words), remote(&words));
            assert_eq!((here.code, &here.out, &here.err), (there.code, &there.out, &there.err), "{words:?}");
        }
    }
    let diff = installation.json(&["tier", "diff", "shop", "human", "meera", "2", "1"]);
    let changes = diff["changes"].as_array().unwrap();
    let tone = changes.iter().find(|change| change["key"] == "voice.tone").unwrap();
    assert_eq!(
        (&tone["before"], &tone["after"], changes.len()),
        (&"brisk".into(), &"warm".into(), 2),
        "{diff}"
    );
    compare_as_keeper(&installation, &url);
    // What is written there is there.
    let made = remote(&["key", "add", "far", "--speaks-as", "program", "--role", "viewer", "--json"]).ok();
    assert!(made.contains("mk_"), "{made}");
    assert_eq!(installation.json(&["key", "show", "far"])["state"], "open");
    remote(&["person", "set", "Raju", "--role", "staff"]).ok();
    assert_eq!(installation.json(&["person", "show", "Raju"])["role"], "staff");
    remote(&["person", "set", "Raju", "--role", "none", "--tags", ""]).ok();
    let raju = installation.json(&["person", "show", "Raju"]);
    assert_eq!((raju["role"].is_null(), raju["tags"].as_array().unwrap().len()), (true, 0), "{raju}");
    remote(&["person", "leave", "Raju"]).ok();
    assert_eq!(installation.json(&["person", "list"])["items"].as_array().unwrap().len(), 1);
    drop(server);
}

/// What whoever keeps the installation types.
const KEPT: &[&[&str]] = &[
    &["keeper-key", "list"],
    &["keeper-key", "revoke", "nobody"],
    &["tenant", "list"],
    &["tenant", "list", "--limit", "1"],
    &["tenant", "list", "--limit", "1", "--order", "asc"],
    &["operator", "list", "--order", "desc"],
    &["operator", "list", "--invited", "--order", "asc"],
    &["models", "list", "--order", "desc"],
    &["jobs", "list", "--state", "done", "--order", "asc"],
    &["tenant", "show", "shop"],
    &["tenant", "show", "nobody"],
    &["tenant", "pause", "nobody"],
    &["tenant", "resume", "shop"],
    &["tenant", "add", "shop"],
    &["jobs", "list"],
    &["jobs", "list", "--state", "ready", "--tenant", "nobody"],
    &["jobs", "show", "00000000-0000-0000-0000-000000000001"],
    &["jobs", "retry", "00000000-0000-0000-0000-000000000001"],
    &["usage", "plan", "shop"],
    &["usage", "plan", "shop", "gold"],
    &["usage", "limit", "shop", "tenant.year.money", "5"],
    &["usage", "limit", "shop", "tenant.month.money", "none"],
    &["usage", "limit", "nobody", "tenant.month.money", "5"],
    &["limits", "list", "--tenant", "shop"],
    &["backups", "list"],
    &["proposals", "list", "--tenant", "shop"],
    &["proposals", "show", "00000000-0000-0000-0000-000000000001", "--tenant", "shop"],
    &["proposals", "grant", "00000000-0000-0000-0000-000000000001", "--digest", "00", "--tenant", "shop"],
    &["ledger", "check", "--tenant", "shop"],
    &["ledger", "profile", "--tenant", "shop"],
    &["ledger", "profile", "--tenant", "nobody"],
    &["ledger", "profile", "--scheme", "simple", "--tenant", "shop"],
    &["ledger", "profile", "--business", "Gupta Kirana", "--tenant", "shop"],
    &["models"],
    &["models", "list", "--tenant", "shop"],
    &["models", "--tenant", "nobody"],
    &["models", "capabilities", "--tenant", "shop"],
    &["models", "set", "cheap", "offline", "--tenant", "shop"],
    &["models", "set", "planner", "offline"],
    &["models", "set", "cheap", "nobody's"],
    &["models", "set", "embeddings", "offline", "offline"],
    &["models", "test", "nobody's"],
    &["audit", "tail", "--tenant", "shop", "--limit", "3"],
    &["audit", "list", "--tenant", "shop", "--limit", "2"],
    &["audit", "list", "--tenant", "shop", "--limit", "2", "--order", "asc"],
    &["audit", "list", "--tenant", "shop", "--event", "person.added"],
    &["audit", "verify", "--tenant", "shop"],
    &["vault", "list"],
    &["vault", "list", "--tenant", "shop"],
    &["vault", "remove", "nothing"],
    &["host-key", "list"],
    &["host-key", "retire", "nothing"],
    &["connector", "list"],
    &["connector", "show", "nothing"],
    &["connector", "accept", "nothing"],
    &["connector", "logs", "nothing"],
    &["connector", "remove", "nothing"],
    &["connector", "test", "nothing"],
    &["connector", "login", "nothing"],
    &["connector", "logout", "nothing"],
    &["connector", "add", "ledger", "--url", "https://far.example/mcp"],
    &["connector", "add", "x", "--url", "ftp://far.example"],
    &["key", "show", "till"],
    &["acts", "list", "--tenant", "nobody"],
];

fn compare_backups(installation: &Installation, remote: &dyn Fn(&[&str]) -> Ran) {
    let copy = remote(&["backup", "--json"]).ok();
    let listed = installation.json(&["backups", "list"]);
    assert_eq!(listed["items"][0], serde_json::from_str::<serde_json::Value>(&copy).unwrap());
    let refused = remote(&["backup", "here.db"]).refused(2);
    assert!(refused.contains("names its backups itself"), "{refused}");
    let told = installation.json(&["audit", "list", "--event", "backup.made"]);
    assert_eq!(told["items"].as_array().unwrap().len(), 1, "{told}");
}

/// What belongs to the installation, and a tenant's own that is named.
fn compare_as_keeper(installation: &Installation, url: &str) {
    let made = installation.json(&["keeper-key", "add", "keeper", "--speaks-as", "person"]);
    let keeper = made["text"].as_str().unwrap().to_owned();
    let remote =
        |words: &[&str]| installation.run(&[words, &["--server", url, "--server-key", &keeper]].concat());
    remote(&["keeper-key", "list"]).ok();
    for words in KEPT {
        for format in [&[][..], &["--json"]] {
            let words = [words, format].concat();
            let (here, there) = (installation.run(&words), remote(&words));
            assert_eq!((here.code, &here.out, &here.err), (there.code, &there.out, &there.err), "{words:?}");
        }
    }
    compare_backups(installation, &remote);
    remote(&["tenant", "add", "second"]).ok();
    remote(&["tenant", "pause", "second"]).ok();
    assert_eq!(installation.json(&["tenant", "show", "second"])["status"], "paused");
    let several = remote(&["key", "list", "--json"]);
    several.refused_as(2, "invalid");
    remote(&["tenant", "archive", "second", "--yes"]).ok();
    let once = ["usage", "plan", "shop", "pro", "--idempotency-key", "k1", "--json"];
    assert_eq!(remote(&once).ok(), remote(&once).ok());
    let told = installation.json(&["audit", "list", "--tenant", "shop", "--event", "budget.changed"]);
    assert_eq!(told["items"].as_array().unwrap().len(), 1, "{told}");
    installation.run(&["vault", "rotate", "--idempotency-key", "k1"]).refused(2);
    let elsewhere =
        ["keeper-key", "add", "x", "--speaks-as", "person", "--server", url, "--server-key", &keeper];
    installation.run(&elsewhere).refused(2);
    remote(&["keeper-key", "revoke", "keeper"]).ok();
    remote(&["tenant", "list", "--json"]).refused_as(7, "unauthenticated");
}

#[test]
fn a_server_is_asked_only_for_what_it_can_do_and_by_whom_it_knows() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    installation.json(&["tenant", "add", "other"]);
    let made = installation.json(&[
        "key",
        "add",
        "v",
        "--speaks-as",
        "person",
        "--role",
        "viewer",
        "--tenant",
        "shop",
    ]);
    let viewer = made["text"].as_str().unwrap();
    let server = installation.serve();
    let url = format!("http://{}", server.address);
    let with = |words: &[&str], key: &str| {
        installation.run(&[words, &["--server", url.as_str(), "--server-key", key, "--json"]].concat())
    };
    with(&["key", "list"], viewer).refused_as(7, "forbidden");
    with(&["acts", "list"], viewer).ok();
    with(&["acts", "list", "--tenant", "other"], viewer).refused_as(5, "not_found");
    with(&["acts", "list"], "mk_no").refused_as(7, "unauthenticated");
    with(&["tenant", "list"], viewer).refused_as(7, "forbidden");
    with(&["doctor"], viewer).refused_as(2, "usage");
    with(&["serve"], viewer).refused_as(2, "usage");
    let plain = ["acts", "list", "--server", "http://munshi.example", "--server-key", "mk_1", "--json"];
    installation.run(&plain).refused_as(2, "usage");
    installation.run(&["acts", "list", "--server", &url, "--json"]).refused_as(2, "usage");
    drop(server);
}

#[test]
fn a_conversation_is_looked_at_here_and_there_and_who_looked_is_told() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["apply", &format!("{}/../../tenants/saathi", env!("CARGO_MANIFEST_DIR"))]);
    let told = installation.json(&["ask", "business-work", "what is today's date?"]);
    let (session, run) = (told["session"].as_str().unwrap(), told["run"].as_str().unwrap());
    let owner = add_key(&installation, "owner", "owner");
    let server = installation.serve();
    let url = format!("http://{}", server.address);
    let there = ["--server", url.as_str(), "--server-key", owner.as_str()];
    for words in [
        &["sessions", "list"][..],
        &["sessions", "show", session],
        &["messages", "list", session, "--as", "asha"],
        &["messages", "list", session, "--limit", "1"],
        &["messages", "search", "DATE today"],
        &["messages", "search", "\"date today\""],
        &["runs", "list", "--session", session],
        &["runs", "show", run],
        &["runs", "cancel", run],
        &["acts", "list"],
        &["stats"],
    ] {
        for format in [&[][..], &["--json"]] {
            let words = [words, format].concat();
            let (here, there) = (installation.run(&words), installation.run(&[&words[..], &there].concat()));
            assert_eq!((here.code, &here.out, &here.err), (there.code, &there.out, &there.err), "{words:?}");
            assert_eq!(here.code, 0, "{here:?}");
        }
    }
    drop(server);
    assert_eq!(installation.json(&["messages", "list", session])["items"].as_array().unwrap().len(), 2);
    assert_eq!(installation.json(&["runs", "cancel", run])["cancelled"], false, "it has ended");
    let tail = installation.json(&["audit", "tail", "--tenant", "saathi", "--limit", "100"]);
    let entries = tail["items"].as_array().unwrap();
    let opened: Vec<&str> = entries
        .iter()
        .filter(|entry| entry["event"] == "conversation.opened")
        .map(|entry| entry["actor"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(opened.iter().filter(|actor| **actor == "asha").count(), 2, "{opened:?}");
    assert_eq!(opened.iter().filter(|actor| actor.starts_with("api key ")).count(), 4, "{opened:?}");
    assert_eq!(installation.json(&["audit", "verify"])["ok"], true);
}
