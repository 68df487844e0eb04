//! The HTTP server of Munshi.
//!
//! It has routes and what every route shares: request ids, limits, the one error shape, probes, metrics, the OpenAPI
//! document, logs and traces, and a stop that finishes what is in flight. It has no SQL and no configuration of its
//! own: the binary hands it an [`App`] and [`Options`].
//!
//! # Layout
//! - [`server`]: [`HttpServer`] binds, serves and stops
//! - [`mod@router`]: routes, document and middlewares put together
//! - `routes`: the table of routes; a folder per resource, a file per verb
//! - [`api`]: what the routes under `/v1` share: who may call them, limits, streams; `views`: what they answer with
//! - [`visitor`]: the door for people at pages
//! - `pages`: what people see, rendered from `templates/`; `assets`: what pages load
//! - [`account`]: operators and how they sign in; [`http_client`]: what is asked of other servers
//! - `mcp`: our tools and agents for other people's agents
//! - `middleware`: what every request passes through, in one list
//! - [`error`]: [`ApiErrorCode`] (the table of codes and statuses), [`ApiError`], and [`Error`] for the binary
//! - [`json`]: [`Json`], whose refusals say what was expected; `fields`: what a body may hold
//! - [`readiness`], [`metrics`]: what the probes tell
//! - `document`: the OpenAPI document and the span names taken from it
//! - [`telemetry`]: log lines and traces of the whole process
//!
//! # To add a route
//! 1. Write `routes/<resource>/<verb>.rs` with one handler `verb_resource`:
//!    ```text
//!    /// Lets the agent go ahead.
//!    #[utoipa::path(post, path = "/v1/approvals/{id}/grant", tag = "approvals",
//!        params(("id" = String, Path, description = "Which one.")),
//!        responses((status = 200, description = "Granted.", body = Approval)))]
//!    pub(crate) async fn grant_approval(State(app): State<App>, Path(id): Path<ApprovalId>, Json(grant): Json<Grant>)
//!        -> Result<Json<Approval>, ApiError>
//!    ```
//!    The tag is the resource and the function's first word the verb: the span is then `http.approvals.grant`. The
//!    body and the error shape are documented from the handler itself; ids are named in `params`.
//! 2. Name it in `routes.rs`, in the module list and the table. A route under `/v1` takes a `Key` and has its line in
//!    `api/access.rs`, which says what it needs; ids in paths are read with `At`, queries with `Asked`.
//! 3. Return [`ApiError`] for what a client did wrong, and `ApiError::internal(error)` for what it did not: the cause
//!    is logged once, with the request id, and never sent.
//! 4. Test it through [`build_router()`], and accept the changed snapshot of the document.

pub mod account;
pub mod api;
pub mod app;
mod assets;
mod document;
pub mod error;
mod fields;
pub mod http_client;
pub mod json;
mod mcp;
pub mod metrics;
mod middleware;
mod openai;
mod pages;
pub mod readiness;
pub mod router;
mod routes;
pub mod server;
pub mod telemetry;
mod views;
pub mod visitor;

pub use account::SignInServices;
pub use api::Api;
pub use app::App;
pub use error::{ApiError, ApiErrorCode, Error, ErrorBody, ErrorDetail};
pub use json::Json;
pub use metrics::Metrics;
pub use middleware::RequestId;
pub use readiness::{Readiness, ReadinessCheck};
pub use router::{Routes, build_router};
pub use routes::routes;
pub use server::{HttpServer, MonitorAccess, Peer, ServerOptions, ServerShutdownReport};
pub use visitor::VisitorServices;
