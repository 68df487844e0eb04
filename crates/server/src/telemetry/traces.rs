//! Spans to an OTLP collector. Whatever goes wrong with it, requests don't notice: spans wait in a bounded queue,
//! leave on a thread of their own, and are dropped when the queue is full.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider, SpanData, SpanExporter};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

use crate::telemetry::TelemetryOptions;
use crate::telemetry::client::CollectorClient;

/// A collector that stays away is mentioned this often.
const REMIND: Duration = Duration::from_secs(60);
/// For a batch with its retries.
const TIMEOUT: Duration = Duration::from_secs(10);
const PATH: &str = "/v1/traces";

/// Why there are no traces: words for one log line.
type Refusal = Box<dyn std::error::Error + Send + Sync>;

pub(super) fn provider(endpoint: &str, options: &TelemetryOptions) -> Result<SdkTracerProvider, Refusal> {
    if !["http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme)) {
        return Err(format!("`{endpoint}` is not an http:// or https:// address").into());
    }
    let base = endpoint.trim_end_matches('/').trim_end_matches(PATH);
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(CollectorClient::new()?)
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{base}{PATH}"))
        .with_timeout(TIMEOUT)
        .build()?;
    let ratio = Sampler::TraceIdRatioBased((options.sample_percent / 100.0).clamp(0.0, 1.0));
    let resource = Resource::builder().with_service_name(options.service_name.clone()).build();
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(Quiet { exporter, trouble: Mutex::default() })
        .with_sampler(Sampler::ParentBased(Box::new(ratio)))
        .with_resource(resource)
        .build())
}

pub(super) fn layer<S>(provider: &SdkTracerProvider) -> OpenTelemetryLayer<S, SdkTracer>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("munshi"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
}

/// An exporter whose failures are logged now and then instead of each time.
#[derive(Debug)]
struct Quiet<E> {
    exporter: E,
    trouble: Mutex<Trouble>,
}

#[derive(Debug, Default)]
struct Trouble {
    last_told: Option<Instant>,
    /// Spans lost since then.
    lost: usize,
}

impl Trouble {
    /// Counts a loss; the number to tell of, when it is time to.
    fn record_loss(&mut self, spans: usize, now: Instant) -> Option<usize> {
        self.lost += spans;
        if self.last_told.is_some_and(|told| now.duration_since(told) < REMIND) {
            return None;
        }
        self.last_told = Some(now);
        Some(std::mem::take(&mut self.lost))
    }
}

impl<E: SpanExporter> SpanExporter for Quiet<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let result = self.exporter.export(batch).await;
        if let Err(error) = &result {
            let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(lost) = trouble.record_loss(spans, Instant::now()) {
                tracing::warn!(%error, lost, "trace export failed; requests are not affected");
            }
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_is_told_at_once_and_then_once_a_minute() {
        let start = Instant::now();
        let mut trouble = Trouble::default();
        assert_eq!(trouble.record_loss(3, start), Some(3));
        assert_eq!(trouble.record_loss(4, start + REMIND / 2), None);
        assert_eq!(trouble.record_loss(5, start + REMIND), Some(9));
    }
}
