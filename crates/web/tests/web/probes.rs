//! The probes tell the truth.

use axum::Router;
use axum::body::Body;
use axum::http::header::{HOST, HeaderValue};
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use munshi_web::{App, MonitorAccess, Peer, ReadinessCheck, ServerOptions, build_router, routes};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::web::support::{app, metrics, options, test_routes};

fn service(checks: Vec<ReadinessCheck>) -> Router {
    build_router(routes().merge(test_routes()), &app(checks), &options())
}

/// As a program on this machine asks, unless it says where it is or whom it asks.
async fn call(service: &Router, mut request: Request<Body>) -> (StatusCode, String) {
    request.headers_mut().entry(HOST).or_insert(HeaderValue::from_static("localhost:8400"));
    if request.extensions().get::<Peer>().is_none() {
        request.extensions_mut().insert(Peer("127.0.0.1:9".parse().unwrap()));
    }
    let response = service.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn get(service: &Router, path: &str) -> (StatusCode, String) {
    call(service, Request::get(path).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn ready_when_every_check_is() {
    let service = service(vec![ReadinessCheck::pass("store", "sqlite, schema 3")]);
    let (status, body) = get(&service, "/readyz").await;
    assert_eq!(status, 200);
    let expected =
        json!({"ready": true, "checks": [{"name": "store", "ok": true, "detail": "sqlite, schema 3"}]});
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
}

#[tokio::test]
async fn one_failing_check_is_503_with_the_reason_while_the_process_is_alive() {
    let checks = vec![
        ReadinessCheck::pass("jobs", "2 running"),
        ReadinessCheck::fail("store", "the disk is full", "free some space"),
    ];
    let service = service(checks);
    let (status, body) = get(&service, "/readyz").await;
    assert_eq!(status, 503);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["ready"], false);
    let failed =
        json!({"name": "store", "ok": false, "detail": "the disk is full", "hint": "free some space"});
    assert_eq!(body["checks"][1], failed);
    assert_eq!(get(&service, "/healthz").await, (StatusCode::OK, "{\"status\":\"alive\"}".to_owned()));
}

#[tokio::test]
async fn what_the_installation_tells_of_itself_is_for_this_machine() {
    let checks = || vec![ReadinessCheck::fail("store", "the disk is full", "free some space")];
    let service = service(checks());
    let far = |path: &str| {
        let peer = Peer("192.0.2.7:9".parse().unwrap());
        Request::get(path).extension(peer).header("host", "localhost").body(Body::empty()).unwrap()
    };
    let passed_on =
        |path: &str| Request::get(path).header("x-real-ip", "192.0.2.7").body(Body::empty()).unwrap();
    // By a proxy on this machine that adds no header of its own.
    let bare = |path: &str| Request::get(path).header("host", "munshi.example").body(Body::empty()).unwrap();
    for asked in [far, passed_on, bare] as [fn(&str) -> Request<Body>; 3] {
        assert_eq!(call(&service, asked("/metrics")).await.0, 403);
        let (status, body) = call(&service, asked("/readyz")).await;
        assert_eq!(
            (status.as_u16(), body.as_str()),
            (503, r#"{"ready":false,"checks":[]}"#),
            "a balancer knows enough"
        );
        assert_eq!(call(&service, asked("/healthz")).await.0, 200);
    }
    let options = ServerOptions { monitors: MonitorAccess::Everybody, ..options() };
    let open = build_router(routes(), &app(checks()), &options);
    assert_eq!(call(&open, far("/metrics")).await.0, 200);
    assert!(call(&open, far("/readyz")).await.1.contains("the disk is full"));
}

#[tokio::test(start_paused = true)]
async fn a_check_that_hangs_is_a_failing_one() {
    let hanging =
        App::new(munshi_types::IdGenerator::system(), metrics(), std::future::pending::<Vec<ReadinessCheck>>);
    let options = munshi_web::ServerOptions::default();
    let service = build_router(routes(), &hanging, &options);
    let (status, body) = get(&service, "/readyz").await;
    assert_eq!(status, 503);
    assert!(body.contains("timed out after 5 s"), "{body}");
}

/// The value of the series whose line begins with `series`.
fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(series))?;
    line.rsplit_once(' ')?.1.parse().ok()
}

#[tokio::test]
async fn metrics_count_requests_by_route_method_and_status() {
    let service = service(Vec::new());
    for name in ["rice", "dal", "atta"] {
        get(&service, &format!("/test/counted/{name}")).await;
    }
    call(&service, Request::post("/test/counted/ghee").body(Body::empty()).unwrap()).await;
    let (status, text) = get(&service, "/metrics").await;
    assert_eq!(status, 200);
    let route = r#"route="/test/counted/{name}""#;
    let count = |labels: &str| value(&text, &format!("munshi_http_requests_total{{{route},{labels}}}"));
    assert_eq!(count(r#"method="GET",status="200""#), Some(3.0), "{text}");
    assert_eq!(count(r#"method="POST",status="201""#), Some(1.0));
    let seconds = "munshi_http_request_duration_seconds";
    assert_eq!(value(&text, &format!(r#"{seconds}_count{{{route},method="GET"}}"#)), Some(3.0));
    assert_eq!(value(&text, &format!(r#"{seconds}_bucket{{{route},method="GET",le="60"}}"#)), Some(3.0));
    assert_eq!(value(&text, &format!(r#"{seconds}_bucket{{{route},method="GET",le="+Inf"}}"#)), Some(3.0));
}

#[tokio::test]
async fn metrics_are_prometheus_text_and_know_the_process() {
    let service = service(Vec::new());
    get(&service, "/healthz").await;
    let (_, text) = get(&service, "/metrics").await;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (series, number) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        assert!(number.parse::<f64>().is_ok(), "{line}");
        assert!(series.starts_with("munshi_"), "{line}");
        assert_eq!(series.contains('{'), series.ends_with('}'), "{line}");
    }
    let build = format!("munshi_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(value(&text, &build), Some(1.0), "{text}");
    assert!(value(&text, "munshi_process_start_time_seconds").unwrap() > 1.7e9);
    if cfg!(target_os = "linux") {
        let memory = value(&text, "munshi_process_resident_memory_bytes").unwrap();
        assert!((1e6..1e10).contains(&memory), "{memory}");
    }
}

#[tokio::test]
async fn strangers_can_not_make_up_labels() {
    let service = service(Vec::new());
    for n in 0..50 {
        get(&service, &format!("/made-up-{n}")).await;
        let method = format!("MADEUP{n}");
        let odd = Request::builder().method(method.as_str()).uri("/healthz").body(Body::empty()).unwrap();
        assert_eq!(call(&service, odd).await.0, 405);
    }
    let (_, text) = get(&service, "/metrics").await;
    assert!(!text.contains("made-up"), "{text}");
    assert!(!text.contains("MADEUP"), "{text}");
    let unmatched = r#"munshi_http_requests_total{route="unmatched",method="GET",status="404"}"#;
    assert!(value(&text, unmatched).unwrap() >= 50.0, "{text}");
    let odd = r#"munshi_http_requests_total{route="/healthz",method="other",status="405"}"#;
    assert!(value(&text, odd).unwrap() >= 50.0, "{text}");
}

#[tokio::test]
async fn a_request_that_is_broken_off_counts_as_such() {
    let service = service(Vec::new());
    let slow = get(&service, "/test/slow");
    assert!(tokio::time::timeout(std::time::Duration::from_millis(20), slow).await.is_err());
    let (_, text) = get(&service, "/metrics").await;
    let left = r#"munshi_http_requests_total{route="/test/slow",method="GET",status="499"}"#;
    assert_eq!(value(&text, left), Some(1.0), "{text}");
}

#[tokio::test]
async fn the_front_door_greets_people_and_programs() {
    let service = service(Vec::new());
    let page = Request::get("/").header("accept", "text/html,*/*;q=0.8").body(Body::empty()).unwrap();
    let (status, html) = call(&service, page).await;
    assert_eq!(status, 200);
    assert!(html.starts_with("<!doctype html>"), "{html}");
    let (_, text) = get(&service, "/").await;
    let json: Value = serde_json::from_str(&text).unwrap();
    for link in json["links"].as_object().unwrap().values() {
        let link = link.as_str().unwrap();
        assert!(html.contains(&format!("href=\"{link}\"")), "{link}");
        assert_eq!(get(&service, link).await.0, 200, "{link}");
    }
}
