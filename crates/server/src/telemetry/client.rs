//! The HTTP client that carries traces.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use munshi_http::{Client, HttpClientBuilder, HttpClientError, ReachableAddresses, read_body};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};

/// For one POST, from name lookup to the last byte.
const TIMEOUT: Duration = Duration::from_secs(5);
/// A collector's answer is a few bytes; more is not read.
const LARGEST_ANSWER: usize = 64 * 1024;

/// Sends a batch every few seconds, on a connection and a small runtime of its own each time: it runs on the
/// exporter's thread, so the server's runtime may be busy or gone.
#[derive(Clone, Debug)]
pub(super) struct CollectorClient {
    builder: HttpClientBuilder,
}

impl CollectorClient {
    pub(super) fn new() -> Result<Self, HttpClientError> {
        HttpClientBuilder::new().map(|builder| Self { builder })
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let sending = send(self.builder.build(TIMEOUT, ReachableAddresses::Any)?, request);
        let sent = runtime.block_on(async { tokio::time::timeout(TIMEOUT, sending).await });
        // A name lookup that hangs must not hold up the exporter.
        runtime.shutdown_background();
        sent.map_err(|_| format!("timed out after {} s", TIMEOUT.as_secs()))?
    }
}

async fn send(client: Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let mut answered = client.execute(request.try_into()?).await?;
    let mut body = Vec::new();
    read_body(&mut answered, LARGEST_ANSWER, &mut body).await?;
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = answered.status();
    *response.headers_mut() = std::mem::take(answered.headers_mut());
    Ok(response)
}
