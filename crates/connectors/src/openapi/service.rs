//! The server's side: lists a document's operations, and calls them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue};
use munshi_http::{GuardedHttpClients, ReadBodyError, RequestBuilder, RequestError};
use munshi_mcp::{CallToolResult, ErrorData, Implementation, ToolPage, ToolServer, ToolServerCall};
use tokio::time::Instant;

use super::addresses::{ServiceAddresses, ServiceDocumentSource};
use super::breaker::ServiceCircuitBreaker;
use super::credentials::ServiceCredentialSet;
use super::document::ServiceDocument;
use super::operation::{ServiceDocumentContext, ServiceOperation};
use super::reply::{self, ServiceCallError, ServiceHealth};
use super::{LARGEST_DOCUMENT, request};
use crate::error::{Error, Result};

/// What a service is reached with.
pub(crate) struct OpenApiServiceParts {
    pub(crate) clients: GuardedHttpClients,
    pub(crate) places: ServiceAddresses,
    pub(crate) logins: ServiceCredentialSet,
    /// Sent with every request.
    pub(crate) headers: HeaderMap<HeaderValue>,
    /// How long an answer may take.
    pub(crate) limit: Duration,
}

/// One service.
pub(crate) struct OpenApiService {
    parts: OpenApiServiceParts,
    about: Implementation,
    operations: RwLock<Arc<BTreeMap<String, ServiceOperation>>>,
    /// The document was just read: the first list needs no second look.
    is_fresh: AtomicBool,
    breaker: Mutex<ServiceCircuitBreaker>,
}

/// What can't be used of a document, and why.
pub(crate) type SkippedOperations = Vec<(String, String)>;

impl OpenApiService {
    /// Reads the document.
    pub(crate) async fn open(parts: OpenApiServiceParts) -> Result<(Self, SkippedOperations)> {
        let document = fetch(&parts).await?;
        let short = |text: &str| text.chars().take(100).collect::<String>();
        let about =
            Implementation::new(short(document.text("/info/title")), short(document.text("/info/version")));
        let (operations, left_out) = build_operations(&parts, &document);
        let service = Self {
            parts,
            about,
            operations: RwLock::new(Arc::new(operations)),
            is_fresh: AtomicBool::new(true),
            breaker: Mutex::default(),
        };
        Ok((service, left_out))
    }

    fn operations(&self) -> Arc<BTreeMap<String, ServiceOperation>> {
        self.operations.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn breaker(&self) -> std::sync::MutexGuard<'_, ServiceCircuitBreaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call(
        &self,
        operation: &ServiceOperation,
        arguments: &serde_json::Map<String, serde_json::Value>,
    ) -> CallToolResult {
        let parts = &self.parts;
        if let Some(why) = parts.clients.allowed.find_refusal(&operation.base) {
            return ServiceCallError::permanent("unreachable", why).into_tool_result();
        }
        let request = match request::build(parts.clients.select(&operation.base), operation, arguments) {
            Ok(request) => request.headers(parts.headers.clone()).timeout(parts.limit),
            Err(why) => return ServiceCallError::permanent("bad_arguments", why).into_tool_result(),
        };
        if let Some(pause) = self.breaker().check(Instant::now()) {
            let words =
                format!("it failed too often; it is left alone for another {} s.", pause.as_secs().max(1));
            return ServiceCallError::permanent("service_failed", words).into_tool_result();
        }
        let (result, health) = match request.send().await {
            Ok(response) => reply::read(operation, arguments, response).await,
            Err(error) => (
                reply::classify_request_error(&error.without_url(), operation).into_tool_result(),
                ServiceHealth::Ill,
            ),
        };
        match health {
            ServiceHealth::Well => self.breaker().record_success(),
            ServiceHealth::Ill => self.breaker().record_failure(Instant::now()),
        }
        result
    }
}

#[async_trait]
impl ToolServer for OpenApiService {
    fn about(&self) -> Implementation {
        self.about.clone()
    }

    async fn list_tools(&self, _after: Option<String>) -> Result<ToolPage, ErrorData> {
        if !self.is_fresh.swap(false, Ordering::SeqCst) {
            let document = fetch(&self.parts).await;
            let document = document.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            let (operations, _) = build_operations(&self.parts, &document);
            *self.operations.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(operations);
        }
        let tools = self.operations().values().map(|operation| operation.tool.clone()).collect();
        Ok(ToolPage { tools, next: None })
    }

    async fn call_tool(&self, call: ToolServerCall) -> Result<CallToolResult, ErrorData> {
        let ToolServerCall { name, arguments, cancelled, .. } = call;
        let operations = self.operations();
        let Some(operation) = operations.get(&name) else {
            return Err(ErrorData::invalid_params(format!("there is no operation {name}"), None));
        };
        if let Some(missing) = find_missing_argument(operation, &arguments) {
            return Err(ErrorData::invalid_params(format!("{missing} is missing"), None));
        }
        tokio::select! {
            // Whoever asked waits no longer; the connection is closed.
            () = cancelled.cancelled() => Err(ErrorData::internal_error("nobody waits any more", None)),
            result = self.call(operation, &arguments) => Ok(result),
        }
    }
}

/// The first required argument that is not there.
fn find_missing_argument<'a>(
    operation: &'a ServiceOperation,
    arguments: &serde_json::Map<String, serde_json::Value>,
) -> Option<&'a str> {
    let required = operation.tool.input_schema.get("required").and_then(serde_json::Value::as_array)?;
    required.iter().filter_map(serde_json::Value::as_str).find(|name| !arguments.contains_key(*name))
}

fn build_operations(
    parts: &OpenApiServiceParts,
    document: &ServiceDocument,
) -> (BTreeMap<String, ServiceOperation>, SkippedOperations) {
    let given: BTreeSet<String> = parts.headers.keys().map(ToString::to_string).collect();
    let reading =
        ServiceDocumentContext { document, places: &parts.places, logins: &parts.logins, given: &given };
    let offer = reading.build_catalog();
    (offer.operations, offer.left_out)
}

async fn fetch(parts: &OpenApiServiceParts) -> Result<ServiceDocument> {
    let text = match &parts.places.source {
        ServiceDocumentSource::File(path) => {
            let size = tokio::fs::metadata(path).await.map(|about| about.len());
            let unreadable = |error: std::io::Error| {
                Error::Invalid(format!("the document can't be read: {}: {error}", path.display()))
            };
            if size.map_err(unreadable)? > LARGEST_DOCUMENT as u64 {
                return Err(Error::Invalid(format!("the document is larger than {LARGEST_DOCUMENT} bytes")));
            }
            tokio::fs::read(path).await.map_err(unreadable)?
        }
        ServiceDocumentSource::Text(text) => text.clone().into_bytes(),
        ServiceDocumentSource::Web(url) => {
            if let Some(why) = parts.clients.allowed.find_refusal(url) {
                return Err(Error::Invalid(why));
            }
            // Whoever keeps the document for others is not the service.
            let known = parts.places.sends_credentials_to(url);
            let headers = if known { parts.headers.clone() } else { HeaderMap::new() };
            let request = parts.clients.select(url).get(url.clone()).headers(headers);
            download(request.timeout(parts.limit), known).await?
        }
    };
    ServiceDocument::parse(&text).map_err(Error::Invalid)
}

async fn download(request: RequestBuilder, known: bool) -> Result<Vec<u8>> {
    let lost = |error: RequestError| {
        let words = [vec![error.to_string()], munshi_http::list_causes(&error)].concat().join(": ");
        Error::Unreachable(format!("the document can't be fetched: {words}"))
    };
    let mut response = request.send().await.map_err(lost)?;
    let status = response.status();
    if !status.is_success() {
        let about = match status.as_u16() {
            300..=399 => ", and redirects are not followed",
            401 | 403 if !known => {
                ", and credentials are not sent to other hosts: give the document as a file"
            }
            _ => "",
        };
        return Err(Error::Unreachable(format!("the document can't be fetched: HTTP {status}{about}")));
    }
    let mut text = Vec::new();
    match munshi_http::read_body(&mut response, LARGEST_DOCUMENT, &mut text).await {
        Ok(()) => Ok(text),
        Err(ReadBodyError::TooLarge(most)) => {
            Err(Error::Invalid(format!("the document is larger than {most} bytes")))
        }
        Err(ReadBodyError::Lost(error)) => Err(lost(error)),
    }
}
