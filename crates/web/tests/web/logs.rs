//! Log lines: what they carry and what they keep to themselves.

use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Request;
use munshi_types::{FakeClock, Timestamp};
use munshi_web::{Error, build_router, routes, telemetry};
use serde_json::{Value, json};
use telemetry::LogLineFormat;
use tower::ServiceExt;
use tracing::subscriber::DefaultGuard;

use crate::web::support::{app, options, test_routes};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// Every line, each of which must be a JSON object with what every line has.
    fn lines(&self) -> Vec<Value> {
        let parsed: Vec<Value> = self
            .text()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect();
        for line in &parsed {
            for key in ["ts", "level", "service", "target", "message"] {
                assert!(line[key].is_string(), "{key} in {line}");
            }
        }
        parsed
    }
}

/// Logs of this thread go to the writer until the guard is dropped.
fn capture(format: LogLineFormat, filter: &str) -> (Written, DefaultGuard, telemetry::TelemetryGuard) {
    let written = Written::default();
    let options = telemetry::TelemetryOptions {
        format,
        filter: filter.to_owned(),
        ..telemetry::TelemetryOptions::default()
    };
    let clock = Arc::new(FakeClock::new(Timestamp::from_micros(1_700_000_000_123_456)));
    let (subscriber, guard) = telemetry::subscriber(&options, clock, written.clone()).unwrap();
    (written, tracing::subscriber::set_default(subscriber), guard)
}

async fn call(path: &str) {
    let service = build_router(routes().merge(test_routes()), &app(Vec::new()), &options());
    let request = Request::get(path).header("x-request-id", "abc-1").body(Body::empty()).unwrap();
    service.oneshot(request).await.unwrap();
}

#[tokio::test]
async fn a_request_is_one_line_with_its_id_and_span() {
    let (written, _logs, _guard) = capture(LogLineFormat::Json, "info");
    call("/?token=secret").await;
    let lines = written.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let line = &lines[0];
    assert_eq!(line["ts"], "2023-11-14T22:13:20.123456Z");
    assert_eq!(line["level"], "info");
    assert_eq!(line["service"], "munshi");
    assert_eq!(line["message"], "request completed");
    assert_eq!(line["request_id"], "abc-1");
    assert_eq!(line["spans"], json!(["http.home.show"]));
    assert_eq!(line["fields"]["route"], "/");
    assert_eq!(line["fields"]["method"], "GET");
    assert_eq!(line["fields"]["status"], 200);
    assert!(line["fields"]["duration_ms"].as_f64().unwrap() > 0.0);
    assert!(!written.text().contains("secret"));
}

#[tokio::test]
async fn probes_are_quiet_unless_asked_for() {
    let (written, _logs, _guard) = capture(LogLineFormat::Json, "info");
    call("/healthz").await;
    assert_eq!(written.text(), "");
    drop((_logs, _guard));
    let (written, _logs, _guard) = capture(LogLineFormat::Json, "warn,munshi_server=debug");
    call("/healthz").await;
    assert_eq!(written.lines().len(), 1);
    assert_eq!(written.lines()[0]["spans"], json!(["http.health.check"]));
}

#[tokio::test]
async fn the_cause_of_an_error_is_logged_once_and_with_the_id_even_when_only_errors_are() {
    let (written, _logs, _guard) = capture(LogLineFormat::Json, "error");
    call("/test/broken").await;
    let lines = written.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["level"], "error");
    assert_eq!(lines[0]["request_id"], "abc-1");
    assert_eq!(lines[0]["fields"], json!({"code": "internal", "cause": "the password is hunter2"}));
}

#[tokio::test]
async fn an_unknown_address_does_not_reach_the_log() {
    let (written, _logs, _guard) = capture(LogLineFormat::Json, "info");
    call("/reset/secret-token").await;
    let lines = written.lines();
    assert_eq!(lines[0]["fields"]["route"], "unmatched");
    assert_eq!(lines[0]["spans"], json!(["http.unmatched"]));
    assert!(!written.text().contains("secret-token"));
}

#[tokio::test]
async fn pretty_lines_say_the_same_to_people() {
    let (written, _logs, _guard) = capture(LogLineFormat::Pretty, "info");
    call("/").await;
    let text = written.text();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.starts_with("2023-11-14T22:13:20.123456Z INFO  http.home.show request completed "),
        "{text}"
    );
    assert!(text.contains(" status=200") && text.contains(" request_id=abc-1"), "{text}");
    assert!(!text.contains('\x1b'));
}

#[test]
fn values_keep_their_types_and_hostile_words_stay_inside_their_line() {
    let (written, _logs, _guard) = capture(LogLineFormat::Json, "info");
    let span = tracing::info_span!("job", tenant = "sharma-kirana", other = 1);
    span.in_scope(|| {
        tracing::warn!(count = 3_u64, ratio = 0.5, ok = true, who = %"a\n{\"level\":\"forged\"}", "bad\nnews");
    });
    let lines = written.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["message"], "bad\nnews");
    assert_eq!(lines[0]["tenant"], "sharma-kirana");
    let fields = json!({"count": 3, "ratio": 0.5, "ok": true, "who": "a\n{\"level\":\"forged\"}"});
    assert_eq!(lines[0]["fields"], fields);
}

#[test]
fn a_bad_filter_says_how_to_write_one() {
    let options = telemetry::TelemetryOptions {
        filter: "munshi=loud".to_owned(),
        ..telemetry::TelemetryOptions::default()
    };
    let clock = Arc::new(FakeClock::new(Timestamp::EPOCH));
    let Err(error) = telemetry::subscriber(&options, clock, Written::default()) else {
        panic!("it was taken")
    };
    assert!(matches!(error, Error::Filter { .. }));
    assert!(error.to_string().contains("`munshi=loud`") && error.to_string().contains("hint:"), "{error}");
}
