//! Connectors from the command line: declared in a folder or typed, tested, watched, and used by an agent.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use munshi_test_support::{DatabaseEngine, PATIENCE};
use serde_json::{Value, json};

use crate::app::support::Installation;

const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the desk.\"\n+++\n\nKind.\n";
const TEAM: &str =
    "+++\nname = \"Desk\"\nrole = \"You work at the desk.\"\nmembers = [\"meera\"]\n+++\n\nServe.\n";
const AGENT: &str = "name = \"Plain\"\ntools = [\"today\"]\nconnectors = [\"odd\"]\n\
                     [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
const BINDING: &str =
    "human = \"meera\"\nteam = \"desk\"\nagent = \"plain\"\ndoor = \"private\"\nkeys = [\"handle:desk\"]\n";
const POLICY: &str = "[connectors.odd]\nautonomy = \"act\"\nread = [\"odd.*\"]\nwrite = [\"odd.*\"]\n";

/// Programs of connectors are found by PATH.
#[allow(clippy::disallowed_methods, reason = "a connector's program is found by PATH")]
fn installed(engine: DatabaseEngine) -> Installation {
    Installation::migrated(engine).with("PATH", std::env::var("PATH").unwrap())
}

fn server() -> String {
    format!("{}/../connectors/tests/servers/odd.py", env!("CARGO_MANIFEST_DIR"))
}

fn file(mood: &str) -> String {
    format!(
        "[odd]\ncommand = [\"python3\", \"{}\", \"{mood}\"]\nstart_seconds = 120\ntimeout_seconds = 120\n\
         [odd.tools.environment]\neffect = \"read\"\nwords = {{ en = [\"what is your environment\", \"tell the environment\"] }}\n",
        server()
    )
}

fn folder(installation: &Installation, connectors: &str, policy: &str) -> PathBuf {
    let folder = installation.place.folder().join("desk");
    for (path, text) in [
        ("humans/meera.md", HUMAN),
        ("teams/desk.md", TEAM),
        ("agents/plain.toml", AGENT),
        ("bindings/desk.toml", BINDING),
        ("policy.toml", policy),
        ("connectors.toml", connectors),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Asks until the one connector is as wanted.
fn until(installation: &Installation, is: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let listed = installation.json(&["connector", "list"]);
        if is(&listed["items"][0]) {
            return listed["items"][0].clone();
        }
        assert!(begun.elapsed() < PATIENCE, "{listed}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn a_folder_brings_connectors(engine: DatabaseEngine) {
    let installation = installed(engine);
    let folder = folder(&installation, &file("good"), "").display().to_string();
    let applied = installation.run(&["apply", &folder]).ok();
    assert!(applied.contains("+ connectors"), "{applied}");
    let planned = installation.json(&["diff", &folder]).to_string();
    assert!(planned.contains("connector odd is denied"), "{planned}");
    std::fs::write(PathBuf::from(&folder).join("policy.toml"), POLICY).unwrap();
    let applied = installation.run(&["apply", &folder]).ok();
    assert!(!applied.contains("not installed"), "a connector that the folder brings is known: {applied}");

    let listed = installation.run(&["connector", "list"]).ok();
    assert!(listed.contains("not running"), "{listed}");
    let told = installation.json(&["ask", "desk", "what is your environment?"]);
    assert_eq!(told["calls"][0]["tool"], "odd_environment", "{told}");
    assert_eq!(told["calls"][0]["ok"], true, "{told}");

    let mut running = installation.serve();
    let ready = until(&installation, |item| item["nodes"][0]["state"] == "ready");
    assert_eq!((&ready["nodes"][0]["tools"], &ready["nodes"][0]["undeclared"]), (&json!(4), &json!(2)));
    assert_eq!(ready["nodes"][0]["confined"], true, "{ready}");
    let doctor = installation.run(&["doctor"]).out;
    let leaves_sockets = doctor.contains("sockets of services that run as the same user");
    assert_eq!(ready["nodes"][0]["closes_sockets"], !leaves_sockets, "{ready}");
    let shown = installation.run(&["connector", "list"]).ok();
    assert!(shown.contains("ready, UNSAFE") && shown.contains("2 of its tools are undeclared"), "{shown}");
    running.wait_until("/readyz", |body| body.contains("1 ready"));
    installation.run(&["connector", "remove", "odd"]).ok();
    until(&installation, Value::is_null);
    running.signal(rustix::process::Signal::TERM);
    assert!(running.wait().success(), "{}", running.log());
    let tail = installation.json(&["audit", "tail", "--tenant", "desk", "--limit", "100"]).to_string();
    for event in ["connectors.changed", "connector.seen", "act.applied"] {
        assert!(tail.contains(event), "{event} in {tail}");
    }
    let export = installation.place.folder().join("export").display().to_string();
    std::fs::write(PathBuf::from(&folder).join("connectors.toml"), file("good")).unwrap();
    installation.run(&["apply", &folder]).ok();
    installation.run(&["export", "desk", &export]).ok();
    let again = installation.json(&["diff", &export, "--tenant", "desk"]);
    assert!(
        !again.to_string().contains("\"what\":\"connectors\""),
        "what is exported changes nothing: {again}"
    );
}

#[test]
fn a_folder_brings_connectors_on_sqlite() {
    a_folder_brings_connectors(DatabaseEngine::Sqlite);
}

#[test]
fn a_folder_brings_connectors_on_postgres() {
    a_folder_brings_connectors(DatabaseEngine::Postgres);
}

#[test]
fn any_server_can_be_tested() {
    let installation = installed(DatabaseEngine::Sqlite);
    let server = server();
    let begun = Instant::now();
    let good = loop {
        let good = installation.run(&["connector", "test", "--", "python3", &server, "good"]);
        // It has two seconds to start, which a busy machine may take for itself.
        let is_late = |line: &str| line.contains("FAIL") && line.contains("tool list took");
        if !good.out.lines().any(is_late) || begun.elapsed() > PATIENCE {
            break good;
        }
    };
    assert_eq!(good.code, 0, "{good:?}");
    assert!(good.out.contains("odd 1.2.3, 4 tools") && good.out.contains("UNSAFE"), "{}", good.out);
    let liar = installation.run(&["connector", "test", "--json", "--", "python3", &server, "liar"]);
    assert_eq!(liar.code, 7, "{liar:?}");
    let report: Value = serde_json::from_str(&liar.out).unwrap();
    assert_eq!(report["findings"][2]["check"], "scopes");
    assert_eq!(report["findings"][2]["verdict"], "fail", "{report}");
    installation.run(&["connector", "test", "--url", "ftp://x"]).refused(2);
}

#[test]
fn a_connector_is_typed_looked_after_and_taken_away() {
    let installation = installed(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    let server = server();
    let add = |arguments: &[&str]| -> Value {
        let ran = installation.run(&[&["connector", "add", "odd", "--json"], arguments].concat());
        serde_json::from_str(&ran.ok()).unwrap()
    };
    let added = add(&["--env", "KEY=vault:odd.key", "--", "python3", &server, "loop"]);
    assert_eq!((&added["connector"], &added["version"]), (&json!("odd"), &json!(1)));
    assert_eq!(added["warnings"], Value::Null, "a secret in the vault is where it belongs");
    installation.run(&["connector", "add", "odd", "--json", "--", "x"]).refused_as(6, "conflict");
    installation.run(&["connector", "add", "ledger", "--json", "--", "x"]).refused_as(2, "invalid");
    installation.run(&["connector", "add", "Odd", "--", "x"]).refused(2);
    let unsaid = installation.run(&["connector", "add", "unsaid", "--json"]).refused_as(2, "usage");
    assert!(unsaid["error"]["hint"].as_str().unwrap().contains("--url"), "as it is typed: {unsaid}");
    let plain =
        ["connector", "add", "plain", "--url", "https://books.example/mcp", "--token", "hunter2-hunter2"];
    let plain = installation.run(&plain).ok();
    assert!(plain.contains("munshi vault set plain.key") && !plain.contains("hunter2"), "{plain}");
    installation.json(&["connector", "remove", "plain"]);
    installation.run(&["connector", "accept", "odd", "--json"]).refused_as(5, "not_found");
    for verb in ["test", "logs", "accept", "remove", "login", "logout"] {
        let missing = installation.run(&["connector", verb, "other", "--json"]).refused_as(5, "not_found");
        assert!(missing.to_string().contains("onnector other "), "{verb}: {missing}");
    }
    let tested = installation.run(&["connector", "test", "odd"]);
    assert!(tested.out.contains("munshi vault set odd.key"), "{tested:?}");
    assert!(tested.out.starts_with("odd\n"), "no name of a server that has said none: {tested:?}");
    add(&["--replace", "--", "python3", &server, "loop"]);
    let tested = installation.run(&["connector", "test", "odd"]);
    assert_eq!(tested.code, 7, "{tested:?}");
    let logs = installation.run(&["connector", "logs", "odd"]).ok();
    assert!(logs.contains("I can't find my settings"), "{logs}");
    installation.json(&["connector", "remove", "odd"]);
    assert!(
        installation.run(&["connector", "logs", "odd"]).ok().contains("my settings"),
        "what it said stays"
    );
    installation.run(&["connector", "remove", "odd", "--json"]).refused_as(5, "not_found");
    assert_eq!(installation.json(&["connector", "list"])["items"], json!([]));
}

#[test]
fn connectors_are_looked_after_through_a_server() {
    let installation = installed(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    let areas = ["--area", "connectors", "--area", "vault"];
    let key = |words: &[&str]| {
        let made = installation.json(&[words, &["--speaks-as", "person"]].concat());
        made["text"].as_str().unwrap().to_owned()
    };
    let keeper = key(&["keeper-key", "add", "keeper"]);
    let owner = key(&[&["key", "add", "owner", "--role", "owner"], &areas[..]].concat());
    let running = installation.serve();
    let url = format!("http://{}", running.address);
    let there = |key: &str, words: &[&str], command: &[&str]| {
        let server = ["--server", url.as_str(), "--server-key", key, "--json"];
        installation.run(&[words, &server, command].concat())
    };
    let value = |ran: crate::app::support::Ran| -> Value { serde_json::from_str(&ran.ok()).unwrap() };

    let far = ["connector", "add", "far", "--url", "https://127.0.0.1:9/mcp"];
    // Into its own network the installation's keeper leads a connector, and nobody else.
    there(&owner, &far, &[]).refused_as(7, "forbidden");
    let added = value(there(&keeper, &far, &[]));
    assert_eq!(
        (&added["tenant"], &added["connector"], &added["version"]),
        (&json!("shop"), &json!("far"), &json!(1))
    );
    there(&keeper, &far, &[]).refused_as(6, "conflict");
    there(&owner, &["connector", "add", "prog"], &["--", "cat"]).refused_as(7, "forbidden");
    there(&keeper, &["connector", "add", "prog"], &["--", "cat"]).ok();

    // A document of this machine is sent; the address of its API has another name beside a server of ours.
    let document = installation.place.folder().join("pets.json");
    let text =
        json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": {} }).to_string();
    std::fs::write(&document, format!("\n{text}")).unwrap();
    let document = document.display().to_string();
    let pets = ["connector", "add", "pets", "--openapi", &document, "--base-url", "https://pets.example"];
    there(&owner, &pets, &[]).ok();
    let shown = installation.json(&["connector", "show", "pets"]);
    assert_eq!(shown["reached"], format!("openapi: a document of {} bytes", text.len()));
    there(&owner, &["connector", "add", "x", "--openapi", "/nowhere.json"], &[]).refused_as(2, "usage");

    let tested = there(&keeper, &["connector", "test", "far"], &[]);
    assert_eq!(tested.code, 7, "{tested:?}");
    let report: Value = serde_json::from_str(&tested.out).unwrap();
    assert_eq!((&report["connector"], &report["findings"][0]["verdict"]), (&json!("far"), &json!("fail")));
    there(&owner, &["connector", "test", "far"], &[]).refused_as(7, "forbidden");
    there(&keeper, &["connector", "test", "--url", "https://x.example"], &[]).refused_as(2, "usage");
    let logs = value(there(&keeper, &["connector", "logs", "far"], &[]));
    assert_eq!(logs["connector"], "far");
    there(&owner, &["connector", "logs", "far"], &[]).refused_as(7, "forbidden");
    let out = value(there(&owner, &["connector", "logout", "far"], &[]));
    assert_eq!(out, json!({ "connector": "far", "logged_out": false, "login": null }));
    there(&owner, &["connector", "login", "prog"], &[]).refused_as(6, "conflict");
    there(&owner, &["connector", "login", "far", "--device"], &[]).refused_as(2, "usage");
    let remove = ["connector", "remove", "far", "--idempotency-key", "k1"];
    assert_eq!(value(there(&owner, &remove, &[])), value(there(&owner, &remove, &[])));
    installation.run(&["connector", "show", "far", "--json"]).refused_as(5, "not_found");
    drop(running);
    assert_eq!(installation.json(&["audit", "verify"])["ok"], true);
}

#[test]
fn nobody_guesses_which_of_two_servers_was_meant() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite).with("MUNSHI_KEY", "mk_x");
    installation.json(&["tenant", "add", "shop"]);
    let typed = [
        "connector",
        "add",
        "x",
        "--openapi",
        "https://api.example/v1.json",
        "--server",
        "https://api.example",
    ];
    let refused = installation.run(&typed).refused(2);
    assert!(refused.contains("--base-url"), "{refused}");
    assert_eq!(installation.json(&["connector", "list"])["items"], serde_json::json!([]));
}
