//! Ends requests that take too long.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};

use crate::error::{ApiError, ApiErrorCode};

/// Bounds the time up to the response's head; a stream that has begun may go on for as long as it likes.
///
/// A handler that is stopped answers 503 `timeout`. One that was still waiting for the client to send answers 408
/// `slow_request` instead, so that a weak mobile line does not look like a failing server.
pub(super) async fn limit_time(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    let waiting = Arc::new(AtomicBool::new(false));
    let request = request.map(|body| Body::new(Watched { body, waiting: waiting.clone() }));
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) if waiting.load(Ordering::Relaxed) => {
            ApiError::from_code(ApiErrorCode::SlowRequest).into_response()
        }
        Err(_) => ApiError::from_code(ApiErrorCode::Timeout).into_response(),
    }
}

/// A request body that notes whether its reader is waiting for the client.
struct Watched {
    body: Body,
    /// True from a read that found nothing until the next that finds something.
    waiting: Arc<AtomicBool>,
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.waiting.store(frame.is_pending(), Ordering::Relaxed);
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
