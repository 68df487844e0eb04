//! What handlers share.
//!
//! # Layout
//! - [`App`]: the state of the router; [`api`]: what the routes under `/v1` are made of
//! - [`visitor_services`], [`onboarding`]: what people at pages are received with
//! - `stream_registry`: the streams that are open; `completion_retries`: the same request sent again by a client's library

pub mod api;
pub(crate) mod completion_retries;
pub mod onboarding;
pub(crate) mod stream_registry;
pub mod visitor_services;

use std::sync::Arc;

use munshi_server::access::{Access, AccessSource};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::metrics::Metrics;
use munshi_server::readiness::Readiness;
use munshi_types::IdGenerator;
use tokio_util::sync::CancellationToken;

use self::api::Api;

/// The state every handler can ask for with `State<App>`. Cheap to clone; made once by the binary.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    /// Request ids come from here.
    ids: IdGenerator,
    metrics: Metrics,
    readiness: Box<dyn Readiness>,
    /// Cancelled by the server when it begins to stop.
    stopping: CancellationToken,
    /// What the routes under `/v1` are made of; without it they answer that they are not served here.
    api: Option<Api>,
}

impl AccessSource for App {
    fn access(&self) -> Result<&Access, ApiError> {
        Self::access(self)
    }
}

impl App {
    pub fn new(ids: IdGenerator, metrics: Metrics, readiness: impl Readiness) -> Self {
        Self::build(ids, metrics, Box::new(readiness), None)
    }

    /// With the API.
    pub fn with_api(ids: IdGenerator, metrics: Metrics, readiness: impl Readiness, api: Api) -> Self {
        Self::build(ids, metrics, Box::new(readiness), Some(api))
    }

    fn build(ids: IdGenerator, metrics: Metrics, readiness: Box<dyn Readiness>, api: Option<Api>) -> Self {
        Self(Arc::new(Inner { ids, metrics, readiness, stopping: CancellationToken::new(), api }))
    }

    pub(crate) fn api(&self) -> Result<&Api, ApiError> {
        let missing = || ApiError::new(ApiErrorCode::Unavailable, "The API is not enabled on this server.");
        self.0.api.as_ref().ok_or_else(missing)
    }

    /// What requests are authenticated with.
    pub(crate) fn access(&self) -> Result<&Access, ApiError> {
        self.api().map(|api| &***api)
    }

    pub fn ids(&self) -> &IdGenerator {
        &self.0.ids
    }

    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub fn readiness(&self) -> &dyn Readiness {
        &*self.0.readiness
    }

    /// Cancelled when the server begins to stop. A live feed that has no end of its own watches this and ends its
    /// stream, so that a stop need not wait out the grace for it.
    pub fn shutdown_token(&self) -> &CancellationToken {
        &self.0.stopping
    }
}
