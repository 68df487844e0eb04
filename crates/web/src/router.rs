//! Puts routes, document and middlewares together.

use std::sync::Arc;

use axum::{Extension, Router};
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::document::ApiDocument;
use crate::error::{ApiError, ApiErrorCode};
use crate::middleware;
use crate::server::ServerOptions;

/// Routes that know their own documentation.
pub type Routes = OpenApiRouter<App>;

/// The whole service: what [`crate::HttpServer`] serves, and what a test calls without a socket.
pub fn build_router(routes: Routes, app: &App, options: &ServerOptions) -> Router {
    let (router, api) = routes.split_for_parts();
    let document = Arc::new(ApiDocument::build(api));
    let router = router
        .fallback(handle_not_found)
        .layer(Extension(document.clone()))
        .layer(Extension(options.monitors))
        .with_state(app.clone());
    middleware::wrap(router, app, options, &document)
}

async fn handle_not_found() -> ApiError {
    ApiError::from_code(ApiErrorCode::NotFound)
}
