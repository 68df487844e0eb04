//! Munshi as an MCP server: the official Python client, and our own test of connectors, against the program.

use std::process::Command;
use std::time::Duration;

use munshi_test_support::{Engine, environment};
use serde_json::{Value, json};

use crate::chat::shop_of;
use crate::support::{Answer, Installation, Running, Speaking};

const AGENT: &str = "name = \"Plain\"\ntools = [\"calculate\", \"today\", \"log_expense\"]\n\
                     [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

struct Served {
    installation: Installation,
    _server: Running,
    url: String,
    key: String,
    owner: String,
    _model: Speaking,
}

fn served() -> Served {
    let model =
        Speaking::answering(Duration::from_millis(2), |_| Answer::words("We open at nine. Come soon."));
    let (installation, key) = shop_of(Engine::Sqlite, &model);
    std::fs::write(installation.folder().join("shop/agents/plain.toml"), AGENT).unwrap();
    installation.run(&["apply", "shop"]).ok();
    let owner = installation.json(&["key", "add", "boss", "--role", "owner"]);
    let owner = owner["text"].as_str().unwrap().to_owned();
    let server = Running::start(installation.command(&["serve", "--json"]), &installation.folder());
    let url = format!("http://{}", server.address);
    Served { installation, _server: server, url, key, owner, _model: model }
}

#[test]
fn the_official_python_client_is_at_home() {
    let served = served();
    let script = format!("{}/tests/clients/mcp_python.py", env!("CARGO_MANIFEST_DIR"));
    let ran = Command::new("python3")
        .env_clear()
        .env("PATH", environment::path())
        .env("HOME", served.installation.folder())
        .env("PYTHONPATH", environment::connectors().join("python"))
        .args(["-B", &script, &served.url, &served.key, &served.owner])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}\n{}", String::from_utf8_lossy(&ran.stderr));
    let tail = served.installation.json(&["audit", "tail", "--tenant", "shop", "--limit", "100"]).to_string();
    for event in ["act.intended", "act.applied", "approval.asked", "approval.granted"] {
        assert!(tail.contains(event), "{event} in {tail}");
    }
}

#[test]
fn our_own_test_of_connectors_passes() {
    let served = served();
    let installation = served.installation.with("MUNSHI__CONNECTORS__PRIVATE_HOSTS", "127.0.0.1");
    let file = format!(
        "[self]\nurl = \"{}/mcp\"\nheaders = {{ authorization = \"Bearer {}\" }}\n",
        served.url, served.owner
    );
    std::fs::write(installation.folder().join("shop/connectors.toml"), file).unwrap();
    installation.run(&["apply", "shop"]).ok();
    let ran = installation.run(&["connector", "test", "self", "--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    assert_eq!(ran.code, 0, "{report:#}");
    assert_eq!(report["server"], "munshi", "{report:#}");
    let verdict = |check: &str| {
        let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["check"] == check);
        found.map_or(Value::Null, |finding| finding["verdict"].clone())
    };
    for check in
        ["initialize", "tools_list", "scopes", "idempotency_key", "unknown_tool", "wrong_arguments", "steady"]
    {
        assert_eq!(verdict(check), json!("pass"), "{check} in {report:#}");
    }
    assert_eq!(verdict("dry_run"), json!("doubtful"), "a conversation can't be tried out: {report:#}");
}
