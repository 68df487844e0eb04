//! Traces reach a collector, and a collector that is away harms nobody.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, Uri};
use bytes::Bytes;
use munshi_types::SystemClock;
use munshi_web::{HttpServer, build_router, routes, telemetry};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::web::support::{app, options};

type Received = (Uri, HeaderMap, Bytes);

/// A collector on loopback that keeps what it is sent; it lives as long as the set.
async fn collector() -> (String, mpsc::UnboundedReceiver<Received>, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::unbounded_channel();
    let take = async move |uri: Uri, headers: HeaderMap, body: Bytes| {
        sender.send((uri, headers, body)).unwrap();
    };
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        axum::serve(listener, Router::new().fallback(take)).await.unwrap();
    });
    (address, receiver, tasks)
}

fn tracing_to(
    endpoint: &str,
    sample_percent: f64,
) -> (tracing::subscriber::DefaultGuard, telemetry::TelemetryGuard) {
    let options = telemetry::TelemetryOptions {
        otlp_endpoint: Some(endpoint.to_owned()),
        service_name: "munshi-test".to_owned(),
        sample_percent,
        ..telemetry::TelemetryOptions::default()
    };
    let (subscriber, guard) =
        telemetry::subscriber(&options, Arc::new(SystemClock), std::io::sink()).unwrap();
    (tracing::subscriber::set_default(subscriber), guard)
}

async fn call() -> u16 {
    call_to(build_router(routes(), &app(Vec::new()), &options())).await
}

async fn call_to(service: axum::Router) -> u16 {
    let request = Request::get("/healthz").header("x-request-id", "traced-1").body(Body::empty()).unwrap();
    service.oneshot(request).await.unwrap().status().as_u16()
}

/// Dropping waits for the collector, which runs on this test's own runtime: so it is done beside it.
async fn finish(guard: telemetry::TelemetryGuard) {
    tokio::task::spawn_blocking(move || drop(guard)).await.unwrap();
}

fn contains(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

#[tokio::test]
async fn a_span_reaches_the_collector_at_the_latest_when_the_guard_is_dropped() {
    let (endpoint, mut received, _tasks) = collector().await;
    let (logs, guard) = tracing_to(&endpoint, 100.0);
    assert_eq!(call().await, 200);
    drop(logs);
    finish(guard).await;
    let (uri, headers, body) = received.try_recv().unwrap();
    assert_eq!(uri.path(), "/v1/traces");
    assert_eq!(headers["content-type"], "application/x-protobuf");
    for words in ["http.health.check", "traced-1", "munshi-test", "http.route", "/healthz"] {
        assert!(contains(&body, words), "{words}");
    }
}

#[tokio::test]
async fn a_full_address_is_not_lengthened() {
    let (endpoint, mut received, _tasks) = collector().await;
    let (logs, guard) = tracing_to(&format!("{endpoint}/otlp/v1/traces/"), 100.0);
    call().await;
    drop(logs);
    finish(guard).await;
    assert_eq!(received.try_recv().unwrap().0.path(), "/otlp/v1/traces");
}

#[tokio::test]
async fn nothing_is_sent_when_nothing_is_sampled() {
    let (endpoint, mut received, _tasks) = collector().await;
    let (logs, guard) = tracing_to(&endpoint, 0.0);
    call().await;
    drop(logs);
    finish(guard).await;
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn a_collector_that_is_away_or_silent_harms_no_request_and_no_exit() {
    // Takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    let closed = HttpServer::bind("127.0.0.1:0").await.unwrap().address();
    let closed = [format!("http://{closed}"), format!("https://{closed}")];
    for endpoint in closed.into_iter().chain([silent, "ftp://nonsense".to_owned(), "http://".to_owned()]) {
        let (logs, guard) = tracing_to(&endpoint, 100.0);
        let service = build_router(routes(), &app(Vec::new()), &options());
        let started = Instant::now();
        for _ in 0..20 {
            assert_eq!(call_to(service.clone()).await, 200);
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{endpoint}");
        drop(logs);
        let started = Instant::now();
        finish(guard).await;
        assert!(started.elapsed() < Duration::from_secs(60), "{endpoint}: {:?}", started.elapsed());
    }
}
