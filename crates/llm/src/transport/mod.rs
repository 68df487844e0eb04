//! Requests and answers over HTTP, once: no redirects, no retries, no proxies from the environment. Time is bounded
//! at every step and so is what is held in memory. Dropping an [`Answer`] closes its socket.

mod body;
mod head;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use munshi_http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use munshi_http::{Client, HttpClientBuilder, HttpClientError, ReachableAddresses, RequestError, Url};
use munshi_types::clock::Clock;
use tokio::time::{Instant, timeout_at};

pub(crate) use body::{ProviderResponseBody, ResponseDeadlines};
pub(crate) use head::{ProviderResponseHead, parse_duration};

use crate::error::{ModelError, TimeoutStage};
use crate::target::ModelTarget;

/// The largest answers that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderResponseLimits {
    /// One event of a stream.
    pub event: usize,
    /// A whole answer, streamed or not.
    pub answer: usize,
}

impl Default for ProviderResponseLimits {
    fn default() -> Self {
        Self { event: 4 << 20, answer: 32 << 20 }
    }
}

/// One for the program; clones share their connections.
#[derive(Clone)]
pub struct Transport {
    shared: Arc<Shared>,
}

struct Shared {
    /// A client knows one connect timeout, so there is one for each that targets ask for: nearly always one.
    clients: Mutex<HashMap<Duration, Client>>,
    builder: HttpClientBuilder,
    clock: Arc<dyn Clock>,
    limits: ProviderResponseLimits,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("limits", &self.shared.limits).finish_non_exhaustive()
    }
}

/// What is sent.
#[derive(Debug)]
pub(crate) struct ProviderRequest {
    /// After the target's base address, beginning with a slash.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// What came back, with its body still to be read.
#[derive(Debug)]
pub(crate) struct ProviderResponse {
    pub head: ProviderResponseHead,
    pub body: ProviderResponseBody,
}

impl Transport {
    /// The clock is for servers that say when to come back as a date.
    pub fn new(clock: Arc<dyn Clock>) -> Result<Self, ModelError> {
        Self::with_limits(clock, ProviderResponseLimits::default())
    }

    pub fn with_limits(clock: Arc<dyn Clock>, limits: ProviderResponseLimits) -> Result<Self, ModelError> {
        let builder = HttpClientBuilder::new().map_err(|error| unusable_client(&error))?;
        let shared = Shared { clients: Mutex::default(), builder, clock, limits };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) fn limits(&self) -> ProviderResponseLimits {
        self.shared.limits
    }

    /// Sends and waits for the answer's head.
    pub(crate) async fn send(
        &self,
        target: &ModelTarget,
        call: ProviderRequest,
        deadlines: ResponseDeadlines,
    ) -> Result<ProviderResponse, ModelError> {
        let client = self.client(target.timeouts.connect)?;
        let url = address(target, &call.path)?;
        let request = client.post(url).headers(headers(target, &call)?).body(call.body);
        let (until, stage) = deadlines.for_first_byte();
        let response = timeout_at(until, request.send())
            .await
            .map_err(|_| ModelError::Timeout(stage))?
            .map_err(|error| classify_send_error(&error))?;
        let head = ProviderResponseHead::read(
            response.status().as_u16(),
            response.headers(),
            self.shared.clock.now(),
        );
        Ok(ProviderResponse {
            head,
            body: ProviderResponseBody::new(response, self.shared.limits.answer, deadlines),
        })
    }

    /// Posts a JSON document to any address, once, and gives the answer's status; for telling others, not for models.
    pub async fn post(&self, url: &str, body: String, within: Duration) -> Result<u16, ModelError> {
        let wrong = |_| ModelError::Unreachable("invalid URL".to_owned());
        let url = Url::parse(url).map_err(wrong)?;
        let request = self.client(within)?.post(url).header(CONTENT_TYPE, "application/json").body(body);
        let response = timeout_at(Instant::now() + within, request.send())
            .await
            .map_err(|_| ModelError::Timeout(TimeoutStage::Whole))?
            .map_err(|error| classify_send_error(&error))?;
        Ok(response.status().as_u16())
    }

    fn client(&self, connect: Duration) -> Result<Client, ModelError> {
        let mut clients = self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&connect) {
            return Ok(client.clone());
        }
        let built = self.shared.builder.build(connect, ReachableAddresses::Any);
        let client = built.map_err(|error| unusable_client(&error))?;
        clients.insert(connect, client.clone());
        Ok(client)
    }
}

impl ResponseDeadlines {
    /// A streamed call must begin to speak in time; one that is not only has to end in time.
    pub(crate) fn starting_now(target: &ModelTarget, streamed: StreamMode) -> Self {
        let (now, times) = (Instant::now(), target.timeouts);
        let first = match streamed {
            StreamMode::Yes => Some(now + times.first_byte),
            StreamMode::No => None,
        };
        Self { first, between: times.between_bytes, deadline: now + times.total }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamMode {
    Yes,
    No,
}

fn address(target: &ModelTarget, path: &str) -> Result<Url, ModelError> {
    let base = target.base_url.trim_end_matches('/');
    let wrong = |_| ModelError::Unreachable(format!("`{base}` is not a valid URL"));
    let mut url = Url::parse(&format!("{base}{path}")).map_err(wrong)?;
    if !target.dialect.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&target.dialect.query);
    }
    Ok(url)
}

fn headers(target: &ModelTarget, call: &ProviderRequest) -> Result<HeaderMap, ModelError> {
    let mut map = HeaderMap::new();
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in call.headers.iter().chain(&target.headers) {
        let wrong = || ModelError::Rejected { status: 0, message: format!("`{name}` is not a valid header") };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        map.insert(key, value);
    }
    Ok(map)
}

fn unusable_client(error: &HttpClientError) -> ModelError {
    ModelError::Unreachable(error.to_string())
}

fn classify_send_error(error: &RequestError) -> ModelError {
    if error.is_connect() && error.is_timeout() {
        return ModelError::Timeout(TimeoutStage::Connect);
    }
    if error.is_connect() || error.is_builder() {
        return ModelError::Unreachable(innermost_reason(error));
    }
    // The request was sent, so it may have been taken.
    ModelError::Interrupted
}

/// The innermost reason, which is the one that says something; the outer ones name the address, which may hold a key.
fn innermost_reason(error: &RequestError) -> String {
    munshi_http::list_causes(error).pop().unwrap_or_else(|| "the request failed".to_owned())
}
