//! The protocol's own conformance suite against our server, with its fixture tools in the agent's list.

use std::process::Command;

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use munshi_identity::Role;
use munshi_test_support::{DatabaseEngine, TestDb, environment};

use crate::api::support::{self, Installation};

/// What a server that has tools and neither resources nor prompts can be asked, by revision.
const SCENARIOS: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &[
            "server-initialize",
            "ping",
            "tools-list",
            "tools-call-simple-text",
            "tools-call-error",
            "tools-call-with-progress",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
        ],
    ),
    (
        "2026-07-28",
        &[
            "tools-list",
            "tools-call-simple-text",
            "tools-call-error",
            "tools-call-with-progress",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
        ],
    ),
];

/// Four of its checks want tools that elicit or log, which a server that does neither can't have.
const STATELESS: (&str, &str) = ("server-stateless", "Passed: 21/25, 4 failed");

const AGENT: &str = "name = \"Plain\"\n\
    tools = [\"count\", \"test_simple_text\", \"test_error_handling\", \"test_tool_with_progress\"]\n\
    [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// Serves it where the suite can reach it. It sends no key, so one is put on every request.
async fn serve(house: &Installation) -> String {
    let key: HeaderValue = format!("Bearer {}", house.key(Role::Owner).await).try_into().unwrap();
    let router = house.router.clone().layer(from_fn(move |mut request: Request, next: Next| {
        request.headers_mut().insert(AUTHORIZATION, key.clone());
        next.run(request)
    }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", listener.local_addr().unwrap().port());
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await });
    std::mem::forget(tasks);
    url
}

/// What the suite says of one scenario, where it fails.
fn failed(url: &str, scenario: &str, revision: &str, folder: &std::path::Path) -> Option<String> {
    let (is_well, told) = run(url, scenario, revision, folder);
    (!is_well || told.contains("SKIPPED: scenario")).then(|| format!("{scenario} at {revision}:\n{told}"))
}

fn run(url: &str, scenario: &str, revision: &str, folder: &std::path::Path) -> (bool, String) {
    let home = environment::connectors().join("conformance/node_modules");
    let ran = Command::new(home.join("node/bin/node"))
        .arg(home.join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", url, "--scenario", scenario, "--spec-version", revision, "--verbose"])
        .current_dir(folder)
        .env_clear()
        .env("PATH", environment::path())
        .env("HOME", folder)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    (ran.status.success(), told)
}

#[tokio::test(flavor = "multi_thread")]
async fn our_server_conforms() {
    let test = TestDb::open(DatabaseEngine::Sqlite, &support::migrations()).await;
    let house = Installation::open(&test, []).await;
    house.apply_tenant(&support::files("shop").with_agent(AGENT)).await;
    let (url, folder) = (serve(&house).await, test.place.folder());
    let runs =
        SCENARIOS.iter().flat_map(|(revision, all)| all.iter().map(move |scenario| (*revision, *scenario)));
    let failed: Vec<String> =
        runs.filter_map(|(revision, scenario)| failed(&url, scenario, revision, &folder)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    let (_, told) = run(&url, STATELESS.0, "2026-07-28", &folder);
    assert!(told.contains(STATELESS.1), "{told}");
}
