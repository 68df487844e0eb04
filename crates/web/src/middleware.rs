//! What every request passes through, each layer in a file of its own.
//!
//! To add another: write `middleware/<verb>.rs` with one async function, and place it in the list of [`wrap`].

mod compress;
mod cors;
mod error_format;
mod limit_body;
mod limit_time;
mod measure;
mod observe;
mod request_id;
mod security_headers;

pub(crate) use error_format::log_error;
pub use request_id::RequestId;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use tower_http::catch_panic::CatchPanicLayer;

use crate::app::App;
use crate::document::ApiDocument;
use crate::server::ServerOptions;

/// The route label of requests that match no route, so that a scanner can't make up new ones.
pub(crate) const UNMATCHED: &str = "unmatched";

/// Puts the layers around every route and around what answers unknown ones.
///
/// The first of the list is the outermost. What stands above `shape` sees finished errors; what stands below may
/// answer with a bare [`crate::ApiError`].
pub(crate) fn wrap(
    router: Router,
    app: &App,
    options: &ServerOptions,
    document: &Arc<ApiDocument>,
) -> Router {
    router.layer((
        from_fn_with_state(app.clone(), request_id::assign_request_id),
        from_fn_with_state(document.clone(), observe::observe),
        from_fn(measure::measure),
        from_fn(security_headers::set_security_headers),
        compress::layer(),
        from_fn(error_format::format_errors),
        from_fn_with_state(app.clone(), cors::apply_cors),
        CatchPanicLayer::custom(error_format::handle_panic),
        from_fn_with_state(options.request_timeout, limit_time::limit_time),
        from_fn_with_state(options.body_limit, limit_body::limit_body),
        // axum's own limit would otherwise stand in front of ours.
        DefaultBodyLimit::disable(),
    ))
}
