//! Routes that misbehave in every way a handler can.

use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::sse::{Event, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use munshi_web::{ApiError, ApiErrorCode, App, Json, RequestId, Routes};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Order {
    pub(crate) item: String,
    pub(crate) paise: i64,
}

#[derive(Debug, Deserialize)]
struct Page {
    size: u32,
}

pub(crate) fn test_routes() -> Routes {
    Routes::new()
        .route("/test/order", post(|Json(order): Json<Order>| async { Json(order) }))
        .route("/test/bytes", post(|body: Bytes| async move { body.len().to_string() }))
        .route("/test/page", get(|Query(page): Query<Page>| async move { page.size.to_string() }))
        .route("/test/panic", get(panic))
        .route("/test/refuse/{code}", get(refuse))
        .route("/test/broken", get(|| async { ApiError::internal("the password is hunter2") }))
        .route("/test/plain", get(plain))
        .route("/test/page-of-its-own", get(|| async { (StatusCode::GONE, Html("<h1>Gone</h1>")) }))
        .route("/test/slow", get(slow).post(slow_after_reading))
        .route("/test/in-flight", get(in_flight))
        .route("/test/large", get(|| async { "namaste ".repeat(1000) }))
        .route("/test/events", get(endless_events))
        .route("/test/live", get(live_events))
        .route("/test/large-events", get(large_events))
        .route("/test/id", get(|id: RequestId| async move { id.to_string() }))
        .route("/test/counted/{name}", get(|| async { "counted" }).post(|| async { StatusCode::CREATED }))
}

async fn panic() -> StatusCode {
    panic!("the handler fell over")
}

/// A refusal passed on as it came, its length included.
async fn plain() -> Response {
    (StatusCode::BAD_GATEWAY, [(CONTENT_LENGTH, "25")], "upstream 10.0.0.7 said no").into_response()
}

async fn refuse(Path(code): Path<ApiErrorCode>) -> ApiError {
    ApiError::from_code(code)
}

/// Longer than any request may take.
async fn slow() {
    tokio::time::sleep(Duration::from_secs(30)).await;
}

async fn slow_after_reading(body: Bytes) {
    assert_eq!(body, "rice");
    slow().await;
}

/// Shorter than any request may take.
async fn busy() -> &'static str {
    tokio::time::sleep(Duration::from_millis(150)).await;
    "done"
}

/// Gets a permit for every request that has begun at `/test/in-flight`, which one test alone calls.
pub(crate) static IN_FLIGHT: Semaphore = Semaphore::const_new(0);

async fn in_flight() -> &'static str {
    IN_FLIGHT.add_permits(1);
    busy().await
}

fn ticks() -> impl Stream<Item = Result<Event, std::convert::Infallible>> {
    stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Some((Ok(Event::default().data("tick")), ()))
    })
}

/// Knows nothing of a stop.
async fn endless_events() -> impl IntoResponse {
    Sse::new(ticks())
}

/// Ends when the server stops.
async fn live_events(State(app): State<App>) -> impl IntoResponse {
    let stopping = app.shutdown_token().clone();
    Sse::new(ticks().take_until(stopping.cancelled_owned()))
}

async fn large_events() -> Response {
    let events = format!("data: {}\n\n", "x".repeat(5000));
    ([(CONTENT_TYPE, "text/event-stream")], events).into_response()
}
