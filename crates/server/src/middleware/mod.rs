//! What every request passes through, each layer in a file of its own.
//!
//! To add another: write `middleware/<verb>.rs` with one async function, and place it in the list of [`wrap`] or of
//! [`limit`].

mod compress;
mod error_format;
mod limit_body;
mod limit_time;
mod measure;
mod observe;
mod request_id;
mod security_headers;
mod span_names;

pub use error_format::{ErrorBodyWriter, ErrorRenderers, log_error};
pub use request_id::RequestId;
pub use span_names::SpanNames;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use munshi_types::IdGenerator;
use tower_http::catch_panic::CatchPanicLayer;

use crate::options::ServerOptions;

/// Puts the layers around every route that decide about answers: what stands in [`limit`], and layers of a router's own
/// between the two, may answer with a bare [`crate::ApiError`]; here it gets its shape.
///
/// The first of the list is the outermost. What stands above `error_format` sees finished errors.
pub fn wrap(router: Router, ids: &IdGenerator, names: Arc<SpanNames>, errors: ErrorRenderers) -> Router {
    router.layer((
        from_fn_with_state(ids.clone(), request_id::assign_request_id),
        from_fn_with_state(names, observe::observe),
        from_fn(measure::measure),
        from_fn(security_headers::set_security_headers),
        compress::layer(),
        from_fn_with_state(errors, error_format::format_errors),
    ))
}

/// Puts the innermost layers around every route: what a handler may take, and what becomes of its panic.
pub fn limit(router: Router, options: &ServerOptions) -> Router {
    router.layer((
        CatchPanicLayer::custom(error_format::handle_panic),
        from_fn_with_state(options.request_timeout, limit_time::limit_time),
        from_fn_with_state(options.body_limit, limit_body::limit_body),
        // axum's own limit would otherwise stand in front of ours.
        DefaultBodyLimit::disable(),
    ))
}

/// The same around routes that take files, which count bytes and seconds themselves.
pub fn limit_uploads(router: Router) -> Router {
    router.layer((CatchPanicLayer::custom(error_format::handle_panic), DefaultBodyLimit::disable()))
}
