//! What is set up once per process, tried in a process of its own.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test says so by failing")]

use std::process::Command;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use axum::routing::get;
use munshi_types::{IdGenerator, SystemClock};
use munshi_web::{App, Error, Metrics, ReadinessCheck, ServerOptions, build_router, routes, telemetry};
use serde_json::Value;
use tower::ServiceExt;

const CHILD: &str = "process::logs_and_panics_like_a_server";

async fn fall() {
    panic!("the shelf fell")
}

#[tokio::test]
#[ignore = "run by the test below, in a process of its own"]
async fn logs_and_panics_like_a_server() {
    let options = telemetry::TelemetryOptions::default();
    let _guard = telemetry::init(&options, Arc::new(SystemClock)).unwrap();
    let metrics = Metrics::install(&SystemClock).unwrap();
    let again = telemetry::init(&options, Arc::new(SystemClock)).unwrap_err();
    assert!(matches!(again, Error::AlreadySetUp("the log subscriber")), "{again}");
    let again = Metrics::install(&SystemClock).err().unwrap();
    assert!(matches!(again, Error::AlreadySetUp("the metrics recorder")), "{again}");

    let app = App::new(IdGenerator::system(), metrics, || std::future::ready(Vec::<ReadinessCheck>::new()));
    let service = build_router(routes().route("/fall", get(fall)), &app, &ServerOptions::default());
    let request = Request::get("/fall").header("x-request-id", "fall-1").body(Body::empty()).unwrap();
    assert_eq!(service.oneshot(request).await.unwrap().status(), 500);
}

#[test]
fn stderr_is_json_lines_even_when_a_handler_panics() {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CHILD, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let stderr = String::from_utf8(child.stderr).unwrap();
    assert!(child.status.success(), "{stderr}");
    let lines: Vec<Value> =
        stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let about_the_panic: Vec<&Value> =
        lines.iter().filter(|line| line["message"].as_str().unwrap().contains("the shelf fell")).collect();
    assert_eq!(about_the_panic.len(), 1, "{stderr}");
    let panic = about_the_panic[0];
    assert_eq!(panic["level"], "error");
    assert_eq!(panic["request_id"], "fall-1");
    assert!(panic["fields"]["place"].as_str().unwrap().contains("process.rs"), "{panic}");
    let answered = lines.iter().find(|line| line["message"] == "request completed").unwrap();
    assert_eq!(answered["fields"]["status"], 500);
}
