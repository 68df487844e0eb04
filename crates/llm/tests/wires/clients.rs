//! The providers' own Python clients against our server: what they accept, we may take for the real thing.

use std::process::Stdio;

use munshi_test_support::environment;
use munshi_test_support::model_server::{FakeModelAnswer, FakeModelStep, Fixture, ModelServer};
use serde_json::json;
use tokio::process::Command;

/// Runs `tests/wires/WIRE_client.py FIXTURES URL`, which fails with what it did not like.
async fn run(wire: &str, server: &ModelServer) {
    let script = format!("{}/tests/wires/{wire}_client.py", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("python3")
        .arg("-B")
        .arg(script)
        .arg(Fixture::root().join(wire))
        .arg(server.url())
        .env("PYTHONPATH", environment::official_clients())
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.unmatched_requests(), Vec::<String>::new());
}

fn chat_fixtures(wire: &str) -> Vec<Fixture> {
    Fixture::load_all(wire)
}

/// After the fixtures, each client meets a 429, an error in the middle of a stream and a cut.
fn troubles(server: &ModelServer, wire: &str, refusal: &serde_json::Value, event: &str) {
    let fixture = Fixture::load(wire, "text");
    let half = fixture.boundaries()[4];
    let half = || FakeModelStep::Send(fixture.stream[..half].to_vec());
    server.enqueue_answer(
        fixture.with_headers(FakeModelAnswer::json(429, refusal)).with_header("retry-after", "7"),
    );
    server.enqueue_answer(FakeModelAnswer::stream(vec![
        half(),
        FakeModelStep::Send(event.as_bytes().to_vec()),
        FakeModelStep::End,
    ]));
    server.enqueue_answer(FakeModelAnswer::stream(vec![half(), FakeModelStep::Cut]));
}

#[tokio::test]
async fn anthropics_client_takes_our_server_for_anthropic() {
    let server = ModelServer::start(chat_fixtures("anthropic")).await;
    let error = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}});
    let event = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    troubles(&server, "anthropic", &error, event);
    run("anthropic", &server).await;
}

#[tokio::test]
async fn openais_client_takes_our_server_for_openai() {
    let server = ModelServer::start(chat_fixtures("openai")).await;
    let error = json!({"error": {"message": "Slow down", "type": "requests", "param": null, "code": "rate_limit_exceeded"}});
    let event = "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n";
    troubles(&server, "openai", &error, event);
    run("openai", &server).await;
}
