//! The routes and pages of Munshi.
//!
//! `munshi-server` has what every route shares: connections, request ids, limits, the one error shape, and who is calling.
//! Here is what they answer, and the OpenAPI document of it. It has no SQL and no configuration of its own: the binary
//! (`crates/munshi/src/server.rs`) hands it an [`App`] and [`ServerOptions`].
//!
//! # Layout
//! - [`server`]: [`HttpServer`] binds, serves and stops
//! - [`mod@router`]: routes, document and middlewares put together; `cors`: what the pages of others may ask
//! - `routes`: the table of routes; a folder per resource, a file per verb
//! - [`api`]: what the routes under `/v1` share: who may call them, streams; `views`: what they answer with
//! - `live`: streams that stay open, of pages, sessions and tenants
//! - `files`: uploads, and files as they leave
//! - `openai`: the API that other makers' programs speak; `mcp`: our tools and agents for other people's agents
//! - [`visitor`]: the door for people at pages; [`account`]: what the pages of operators have of their own
//! - `pages`: what people see, rendered from `templates/`; `assets`: what pages load
//! - `document`: the OpenAPI document and the span names taken from it
//!
//! # To add a route
//! 1. Administration is no route of its own: write an operation, see [`munshi_pack::operation`]. List it in `HOUSE` of
//!    `crates/operations/src/lib.rs`, and give it a request in `tests/api/operation_samples.rs`; its route follows. For anything else write
//!    `routes/<resource>/<verb>.rs` with one handler `verb_resource`. `routes/persons/link.rs` is an example:
//!    ```text
//!    /// Send a code to a visitor's phone or e-mail to verify it. The response does not reveal whether the address is known.
//!    #[utoipa::path(post, path = "/v1/persons/{id}/link", tag = "persons",
//!        params(("id" = uuid::Uuid, Path, description = "The visitor.")),
//!        responses((status = 202, description = "The code was sent.", body = LinkAddressResponse)))]
//!    pub(crate) async fn link_person(
//!        key: AuthorizedCaller,
//!        UrlPathParameter(id): UrlPathParameter<PersonId>,
//!        Json(wish): Json<AddressToLink>,
//!    ) -> Result<(StatusCode, Json<LinkAddressResponse>), ApiError>
//!    ```
//!    The tag is the resource and the function's first word the verb: the span is then `http.persons.link`. The
//!    OpenAPI document is made from the handler: its first doc line is the summary, and the error shape is added. What
//!    it answers with is a type in `views/`.
//! 2. Name it in `routes/mod.rs`: in the module list, and with `routes!` in the table (`.route` alone leaves it out of the
//!    document).
//! 3. Permission: a route under `/v1` takes an `AuthorizedCaller` and has its line in `TABLE` of `api/access.rs`, with
//!    its area and `Read` or `Write`. Without that line it is closed to everybody. A new area is a line in `areas!` of
//!    `munshi-identity`. Open units of work with `key.tenant()`. A key may be limited to some bindings: ask
//!    `key.reaches(binding)`. Routes of pages (`/visit/…`) take a `PageVisitor` instead, those of accounts a
//!    `SignedInOperator`.
//! 4. Ids in paths are read with `UrlPathParameter`, queries with `UrlQueryParameters` (both in
//!    `munshi_server::parameters`). Bodies have `deny_unknown_fields`. Lists are operations.
//! 5. Return [`ApiError`] for what a client did wrong, and `ApiError::internal(error)` for what it did not: the cause
//!    is logged once, with the request id, and never sent.
//! 6. Test it in `tests/api/`, on both engines, and add it to `every_route` or `LISTS` in `tests/api/access.rs`: these
//!    prove that another tenant's key gets nothing. No test notices that it is missing there.
//! 7. `INSTA_UPDATE=always scripts/test.sh -p munshi-web -E 'test(document)'` writes the snapshot of the document; read
//!    the difference. Add a line to `docs/api.md` and to `CHANGELOG.md`.

pub mod account;
pub mod api;
pub mod app;
mod assets;
mod cors;
mod document;
mod files;
mod live;
mod mcp;
mod openai;
mod operations;
mod pages;
pub mod router;
mod routes;
pub mod server;
mod views;
pub mod visitor;

pub use munshi_server::access::SignInServices;
pub use munshi_server::{
    ApiError, ApiErrorCode, Error, ErrorBody, ErrorDetail, Json, Metrics, MonitorAccess, Peer, Readiness,
    ReadinessCheck, RequestId, ServerOptions, ServerShutdownReport, http_client, telemetry,
};

pub use api::Api;
pub use app::App;
pub use operations::pack_operation_routes;
pub use router::{Routes, build_router};
pub use routes::{routes, upload_routes};
pub use server::HttpServer;
pub use visitor::VisitorServices;
