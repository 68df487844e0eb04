//! The protocol's own conformance suite against our client: the suite starts this very test as the program it tries.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use munshi_connectors::{Allowed, State};
use munshi_test_support::environment;
use serde_json::{Value, json};

use crate::behaving::sqlite;
use crate::support::Shop;

/// What a client without a login, sampling or elicitation can be asked, by revision. Of `http-custom-headers` one call of many
/// has a null where its schema wants a truth value, and the pipeline refuses it before it is sent.
const SCENARIOS: [(&str, &[&str]); 2] = [
    ("2025-11-25", &["initialize", "tools_call", "sse-retry"]),
    (
        "2026-07-28",
        &[
            "tools_call",
            "request-metadata",
            "http-standard-headers",
            "http-invalid-tool-headers",
            "json-schema-ref-no-deref",
        ],
    ),
];

/// What the suite's tools are called with, where it does not say itself.
fn usual() -> Vec<(String, Value)> {
    let plain = [
        ("add_numbers", json!({ "a": 5, "b": 3 })),
        ("valid_tool", json!({ "region": "us-west1" })),
        ("test_reconnection", json!({})),
        ("test_headers", json!({})),
    ];
    plain.into_iter().map(|(name, arguments)| (name.to_owned(), arguments)).collect()
}

#[allow(clippy::disallowed_methods, reason = "the suite says there what it wants")]
fn wanted() -> Vec<(String, Value)> {
    let said = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let said: Value = serde_json::from_str(&said).unwrap_or_default();
    let calls = said["toolCalls"].as_array().cloned().unwrap_or_default();
    let named =
        calls.iter().filter_map(|call| Some((call["name"].as_str()?.to_owned(), call["arguments"].clone())));
    let named: Vec<(String, Value)> = named.collect();
    if named.is_empty() { usual() } else { named }
}

/// Not a test of its own: the client that the suite starts, with its server's address as the last word.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by the conformance suite"]
#[allow(clippy::print_stdout, reason = "the suite shows what its client says")]
async fn as_a_client() {
    let url = std::env::args().next_back().unwrap();
    let wanted = wanted();
    let mut file = format!("[far]\nurl = \"{url}\"\nstart_seconds = 10\n");
    for (name, _) in &wanted {
        file.push_str(&format!("[far.tools.{name}]\neffect = \"read\"\n"));
    }
    let shop =
        Shop::with(sqlite().await, &file, Allowed::new(["localhost".to_owned()]), BTreeMap::new()).await;
    shop.start().await;
    shop.until_state("far", State::Ready).await;
    for (name, arguments) in wanted {
        let tool = format!("far_{name}");
        if shop.shelf().get(&tool).is_some() {
            println!("{tool}: {}", shop.said(&tool, arguments).await);
        }
    }
    // The supervisor asks whether it is there, as it would.
    tokio::time::sleep(Duration::from_millis(600)).await;
    shop.host.stop().await;
}

/// What the suite says of one scenario, where it fails.
fn run(scenario: &str, revision: &str, folder: &std::path::Path) -> Option<String> {
    let home = environment::connectors().join("conformance/node_modules");
    let program = std::env::current_exe().unwrap();
    let command = format!("{} --exact conform::as_a_client --ignored --nocapture", program.display());
    let ran = Command::new(home.join("node/bin/node"))
        .arg(home.join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["client", "--command", &command, "--scenario", scenario, "--spec-version", revision])
        .args(["--timeout", "60000", "--verbose"])
        .current_dir(folder)
        .env("HOME", folder)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    (!ran.status.success() || told.contains("SKIPPED: scenario"))
        .then(|| format!("{scenario} at {revision}:\n{told}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_conforms() {
    let test = sqlite().await;
    let folder = test.place.folder();
    let runs =
        SCENARIOS.iter().flat_map(|(revision, all)| all.iter().map(move |scenario| (*revision, *scenario)));
    let failed: Vec<String> =
        runs.filter_map(|(revision, scenario)| run(scenario, revision, &folder)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
