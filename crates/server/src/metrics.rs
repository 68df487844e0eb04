//! The Prometheus recorder behind the `metrics` facade, and what the process says of itself.
//!
//! Any crate counts with `metrics::counter!("munshi_…")` and needs nothing from here.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use munshi_types::Clock;

use crate::error::Error;

pub const REQUESTS: &str = "munshi_http_requests_total";
pub const REQUEST_SECONDS: &str = "munshi_http_request_duration_seconds";
pub const IN_FLIGHT: &str = "munshi_http_requests_in_flight";
pub const CONNECTIONS: &str = "munshi_http_connections";
const BUILD: &str = "munshi_build_info";
const START_TIME: &str = "munshi_process_start_time_seconds";
const MEMORY: &str = "munshi_process_resident_memory_bytes";

/// For every other histogram: from a commit on a quick disk to a model that thinks for a minute.
const SECONDS: [f64; 16] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// For what counts things, whose name ends with `_size`.
const SIZES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// A handle on the process's recorder. It lives as long as the process does.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

impl Metrics {
    /// Sets up the recorder of this process. Counts made before this are lost, so it comes first; a second call
    /// is an error.
    pub fn install(clock: &dyn Clock) -> Result<Self, Error> {
        let handle = PrometheusBuilder::new()
            .set_buckets(&SECONDS)
            .and_then(|builder| builder.set_buckets_for_metric(Matcher::Suffix("_size".to_owned()), &SIZES))
            .and_then(PrometheusBuilder::install_recorder)
            .map_err(|_| Error::AlreadySetUp("the metrics recorder"))?;
        describe();
        gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1);
        #[allow(clippy::cast_precision_loss, reason = "seconds since 1970 with a fraction fit a float")]
        gauge!(START_TIME).set(clock.now().as_micros() as f64 / 1e6);
        Ok(Self(handle))
    }

    /// Everything, in Prometheus's text format.
    pub fn render(&self) -> String {
        if let Some(bytes) = resident_memory() {
            gauge!(MEMORY).set(bytes);
        }
        self.0.render()
    }

    /// Folds raw samples into their buckets. Reading does this too; the server calls it now and then so that
    /// samples don't pile up where nobody reads.
    pub fn upkeep(&self) {
        self.0.run_upkeep();
    }
}

fn describe() {
    describe_counter!(
        REQUESTS,
        "HTTP requests, by route template, method and status (499: client disconnected)."
    );
    describe_histogram!(REQUEST_SECONDS, Unit::Seconds, "Time from request headers to response headers.");
    describe_gauge!(IN_FLIGHT, "HTTP requests in flight.");
    describe_gauge!(CONNECTIONS, "Open HTTP connections.");
    describe_gauge!(BUILD, "Always 1; the label holds the version.");
    describe_gauge!(START_TIME, Unit::Seconds, "Process start time, in seconds since the Unix epoch.");
    describe_gauge!(MEMORY, Unit::Bytes, "Resident memory of the process.");
}

/// Bytes of memory held by this process, where the system tells (Linux).
fn resident_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u32 = line.split_whitespace().next()?.parse().ok()?;
    Some(f64::from(kibibytes) * 1024.0)
}
