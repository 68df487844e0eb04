//! Puts routes, document and middlewares together.

use std::sync::Arc;

use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::middleware::{self, ErrorRenderers};
use munshi_server::options::ServerOptions;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::document::ApiDocument;
use crate::openai::errors::select_error_writer;
use crate::routes::upload_routes;
use crate::{cors, pages};

/// Routes that know their own documentation.
pub type Routes = OpenApiRouter<App>;

/// What errors look like below OpenAI's routes, and to people.
const ERRORS: ErrorRenderers =
    ErrorRenderers { select_body_writer: select_error_writer, render_page: pages::render_fault };

/// The whole service: what [`crate::HttpServer`] serves, and what a test calls without a socket.
pub fn build_router(routes: Routes, app: &App, options: &ServerOptions) -> Router {
    let (router, mut api) = routes.split_for_parts();
    let (uploads, described) = upload_routes().split_for_parts();
    api.merge(described);
    let (document, names) = ApiDocument::build(api);
    let router = router
        .fallback(handle_not_found)
        .layer(Extension(Arc::new(document)))
        .layer(Extension(options.monitors))
        .with_state(app.clone());
    let uploads = middleware::limit_uploads(uploads.with_state(app.clone()));
    let router = middleware::limit(router, options)
        .merge(uploads)
        .layer(from_fn_with_state(app.clone(), cors::apply_cors));
    middleware::wrap(router, app.ids(), Arc::new(names), ERRORS)
}

async fn handle_not_found() -> ApiError {
    ApiError::from_code(ApiErrorCode::NotFound)
}
