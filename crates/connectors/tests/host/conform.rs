//! The protocol's own conformance suite against our client: the suite starts this very test as the program it tries.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use munshi_connectors::login::{ConnectorLoginUser, OAuthReturnUrls};
use munshi_connectors::{AllowedHosts, ConnectorState, ConnectorStatus};
use munshi_identity::SecretToken;
use munshi_test_support::environment;
use munshi_tools::TenantToolSource;
use serde_json::{Value, json};

use crate::behaving::sqlite;
use crate::login::{client, returned};
use crate::support::Shop;

/// What a client without sampling or elicitation can be asked, by revision. What the newest has of logins was there before,
/// but for what stands in its own list. Of `http-custom-headers` one call of many
/// has a null where its schema wants a truth value, and the pipeline refuses it before it is sent.
const SCENARIOS: [(&str, &[&str]); 3] = [
    ("2025-03-26", &["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"]),
    (
        "2025-11-25",
        &[
            "initialize",
            "tools_call",
            "sse-retry",
            "auth/metadata-default",
            "auth/metadata-var1",
            "auth/metadata-var2",
            "auth/metadata-var3",
            "auth/basic-cimd",
            "auth/scope-from-www-authenticate",
            "auth/scope-from-scopes-supported",
            "auth/scope-omitted-when-undefined",
            "auth/scope-step-up",
            "auth/scope-retry-limit",
            "auth/token-endpoint-auth-basic",
            "auth/token-endpoint-auth-post",
            "auth/token-endpoint-auth-none",
            "auth/pre-registration",
        ],
    ),
    (
        "2026-07-28",
        &[
            "tools_call",
            "request-metadata",
            "http-standard-headers",
            "http-invalid-tool-headers",
            "json-schema-ref-no-deref",
            "auth/metadata-default",
            "auth/scope-step-up",
            "auth/resource-mismatch",
            "auth/offline-access-scope",
            "auth/offline-access-not-supported",
            "auth/authorization-server-migration",
            "auth/iss-supported",
            "auth/iss-not-advertised",
            "auth/iss-supported-missing",
            "auth/iss-wrong-issuer",
            "auth/iss-unexpected",
            "auth/iss-normalized",
            "auth/metadata-issuer-mismatch",
        ],
    ),
];

/// Scenarios at a time.
const BESIDE: usize = 4;

/// One scenario of so many is tried where nobody asks for all of them: each starts two programs and waits for them.
const ONE_OF: usize = 4;

/// What the suite's tools are called with, where it does not say itself.
fn usual() -> Vec<(String, Value)> {
    let plain = [
        ("add_numbers", json!({ "a": 5, "b": 3 })),
        ("valid_tool", json!({ "region": "us-west1" })),
        ("test_reconnection", json!({})),
        ("test_headers", json!({})),
        ("test-tool", json!({})),
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
    let mut file = format!("[far]\nurl = \"{url}\"\nstart_seconds = 20\n{}", known_as());
    for (name, _) in &wanted {
        file.push_str(&format!("[far.tools.{name}]\neffect = \"read\"\n"));
    }
    let shop =
        Shop::with(sqlite().await, &file, AllowedHosts::new(["localhost".to_owned()]), BTreeMap::new()).await;
    shop.start().await;
    for _ in 0..3 {
        let settled = |standing: &ConnectorStatus| {
            matches!(
                standing.state,
                ConnectorState::Ready | ConnectorState::WantsLogin | ConnectorState::Degraded
            )
        };
        let standing = shop.until("far", settled).await;
        println!("far: {} {}", standing.state, standing.why);
        if standing.state != ConnectorState::WantsLogin || !log_in(&shop).await {
            break;
        }
        // Whether it is let in is seen by trying.
        tokio::time::sleep(Duration::from_millis(500)).await;
        shop.host.reconcile().await.unwrap();
        for _ in 0..100 {
            if shop.standing("far").state != ConnectorState::WantsLogin {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    for (name, arguments) in wanted {
        let tool = format!("far_{}", name.replace('-', "_"));
        for _ in 0..3 {
            if shop.shelf().get(&tool).is_none() {
                break;
            }
            let said = shop.said(&tool, arguments.clone()).await;
            println!("{tool}: {said}");
            if said["code"] != "login_needed" || !log_in(&shop).await {
                break;
            }
        }
    }
    // The supervisor asks whether it is there, as it would.
    tokio::time::sleep(Duration::from_millis(600)).await;
    shop.host.stop().await;
}

#[allow(clippy::disallowed_methods, reason = "the suite says there what it wants")]
fn said_of(key: &str) -> Option<String> {
    let said: Value = serde_json::from_str(&std::env::var("MCP_CONFORMANCE_CONTEXT").ok()?).ok()?;
    said[key].as_str().map(str::to_owned)
}

/// Who we are, where the suite has noted us down before.
fn known_as() -> String {
    let quoted = |key: &str| said_of(key).map(|text| Value::String(text).to_string());
    match (quoted("client_id"), quoted("client_secret")) {
        (Some(id), Some(secret)) => format!("client = {{ id = {id}, secret = {secret} }}\n"),
        (Some(id), None) => format!("client = {{ id = {id} }}\n"),
        _ => String::new(),
    }
}

/// A person who follows the link they are given and consents to everything. The suite's own pages send them back at once.
#[allow(clippy::print_stdout, reason = "the suite shows what its client says")]
async fn log_in(shop: &Shop) -> bool {
    let (host, person) = (shop.host.clone(), shop.owner.person.unwrap());
    let offered =
        shop.test.db.write(shop.tenant, move |tx| host.create_login_link(tx, "far", person)).await.unwrap();
    let token = SecretToken::parse(offered.unwrap().rsplit('/').next().unwrap()).unwrap();
    let led = shop.logins.find_link(&token).await.unwrap().unwrap();
    let back = OAuthReturnUrls {
        redirect: "http://localhost:8400/connectors/back".to_owned(),
        document: Some("https://conformance-test.local/client-metadata.json".to_owned()),
    };
    let begun = match shop.logins.begin_from_link(led, &back, ConnectorLoginUser::Person(person)).await {
        Ok(begun) => begun,
        Err(error) => {
            println!("no login: {error}");
            return false;
        }
    };
    let response = client().get(begun.to.clone()).send().await.unwrap();
    let Some(to) = response.headers().get("location") else { return false };
    let to = begun.to.join(to.to_str().unwrap()).unwrap();
    match shop.logins.finish(&begun.token, returned(&to), Some(ConnectorLoginUser::Person(person))).await {
        Ok(_) => true,
        Err(error) => {
            println!("no login: {error}");
            false
        }
    }
}

/// What the suite says of one scenario, where it fails.
fn run(scenario: &str, revision: &str, folder: &std::path::Path) -> Option<String> {
    let home = environment::connectors().join("conformance/node_modules");
    let program = std::env::current_exe().unwrap();
    let (_, module) = module_path!().split_once("::").unwrap();
    let command = format!("{} --exact {module}::as_a_client --ignored --nocapture", program.display());
    let ran = Command::new(home.join("node/bin/node"))
        .arg(home.join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["client", "--command", &command, "--scenario", scenario, "--spec-version", revision])
        .args(["--timeout", "180000", "--verbose"])
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
    let runs: Vec<(&str, &str)> = SCENARIOS
        .iter()
        .flat_map(|(revision, all)| all.iter().map(|scenario| (*revision, *scenario)))
        .step_by(if environment::is_long_run() { 1 } else { ONE_OF })
        .collect();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // Most of a scenario is waiting.
    std::thread::scope(|scope| {
        for _ in 0..BESIDE {
            scope.spawn(|| {
                while let Some((revision, scenario)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    failed.lock().unwrap().extend(run(scenario, revision, &folder));
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
