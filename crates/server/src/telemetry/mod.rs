//! The logs and traces of the whole process, set up once by the binary.
//!
//! Every crate says what happens with `tracing`. Here it becomes lines on stderr and, where a collector is
//! configured, OTLP traces. A line carries the `request_id` and `tenant` of the spans around it.
//!
//! # Layout
//! - `log_layer`: the layer that writes a line per event
//! - `log_line`: one line, as JSON or for a terminal
//! - `traces`: spans to an OTLP collector, over `client`
//! - `panics`: a panic is a log line too; `options`: what the binary fills in

mod client;
mod log_layer;
mod log_line;
mod options;
mod panics;
mod traces;

pub use self::options::{LogLineFormat, TelemetryOptions};

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use munshi_types::Clock;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;

use self::log_layer::LogLineLayer;
use crate::error::Error;

/// How long the last spans may take to leave when the process ends.
const LAST_FLUSH: Duration = Duration::from_secs(5);

/// Sends the last spans when dropped: `main` holds it to its end.
#[derive(Debug)]
#[must_use = "the last traces are sent when this is dropped"]
pub struct TelemetryGuard {
    provider: Option<SdkTracerProvider>,
}

impl TelemetryGuard {
    /// Sends what has been collected so far. Blocks for as long as the collector takes, seconds at most.
    pub fn flush(&self) {
        if let Some(provider) = &self.provider {
            // A failure was logged where it happened.
            let _ = provider.force_flush();
        }
    }
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        if let Some(provider) = &self.provider {
            let _ = provider.shutdown_with_timeout(LAST_FLUSH);
        }
    }
}

/// Sets up logs on stderr, traces and the panic hook for this process. A second call is an error; a bad collector
/// address is not: it is logged, and the process goes on without traces.
pub fn init(options: &TelemetryOptions, clock: Arc<dyn Clock>) -> Result<TelemetryGuard, Error> {
    let (subscriber, guard) = subscriber(options, clock, std::io::stderr())?;
    tracing::subscriber::set_global_default(subscriber)
        .map_err(|_| Error::AlreadySetUp("the log subscriber"))?;
    panics::install_hook();
    Ok(guard)
}

/// What [`init`] sets up, writing to `writer` and not yet made global.
pub fn subscriber<W: Write + Send + 'static>(
    options: &TelemetryOptions,
    clock: Arc<dyn Clock>,
    writer: W,
) -> Result<(impl Subscriber + Send + Sync + use<W>, TelemetryGuard), Error> {
    let targets: Targets =
        options.filter.parse().map_err(|error: tracing_subscriber::filter::ParseError| Error::Filter {
            filter: options.filter.clone(),
            reason: error.to_string(),
        })?;
    let lines = LogLineLayer::new(clock, options, writer);
    let provider = options.otlp_endpoint.as_deref().and_then(|endpoint| {
        let provider = traces::provider(endpoint, options);
        provider.map_err(|error| lines.warn(&format!("trace export is disabled: {error}"))).ok()
    });
    let traces = provider.as_ref().map(traces::layer);
    let subscriber = Registry::default()
        .with(filter_fn(move |metadata| is_wanted(&targets, metadata)))
        .with(lines)
        .with(traces);
    Ok((subscriber, TelemetryGuard { provider }))
}

/// The filter is about lines. Spans stay, whatever it says: they carry the request id of an error's line.
fn is_wanted(targets: &Targets, metadata: &Metadata<'_>) -> bool {
    if metadata.is_span() && *metadata.level() <= Level::INFO {
        return true;
    }
    targets.would_enable(metadata.target(), metadata.level())
}
