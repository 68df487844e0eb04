//! The HTTP client that carries traces.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};

use crate::http_client::build_connector;

/// For one POST, from name lookup to the last byte.
const TIMEOUT: Duration = Duration::from_secs(5);
/// A collector's answer is a few bytes; more is not read.
const LARGEST_ANSWER: usize = 64 * 1024;

/// Sends a batch every few seconds, on a connection and a small runtime of its own each time: it runs on the
/// exporter's thread, so the server's runtime may be busy or gone.
#[derive(Clone)]
pub(super) struct CollectorClient {
    connector: HttpsConnector<HttpConnector>,
}

impl CollectorClient {
    pub(super) fn new(endpoint: &str) -> Result<Self, rustls::Error> {
        build_connector(endpoint).map(|connector| Self { connector })
    }
}

impl fmt::Debug for CollectorClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectorClient").finish_non_exhaustive()
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let sending = send(self.connector.clone(), request);
        let sent = runtime.block_on(async { tokio::time::timeout(TIMEOUT, sending).await });
        // A name lookup that hangs must not hold up the exporter.
        runtime.shutdown_background();
        sent.map_err(|_| format!("timed out after {} s", TIMEOUT.as_secs()))?
    }
}

async fn send(
    connector: HttpsConnector<HttpConnector>,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, HttpError> {
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let (head, body) = client.request(request.map(Full::new)).await?.into_parts();
    let bytes = Limited::new(body, LARGEST_ANSWER).collect().await?.to_bytes();
    Ok(Response::from_parts(head, bytes))
}
