use crate::kinds::{Count, Endpoint, Text};
use crate::section::section;

section! {
    /// Traces for an OpenTelemetry collector.
    Telemetry in "telemetry" {
        /// The collector's OTLP address. Empty means no traces are sent.
        otlp_endpoint: Endpoint = "",
        /// The name this installation goes by among the traces.
        service_name: Text = "munshi",
        /// How many of a hundred traces are sent.
        sample_percent: Count<0, 100> = 100,
    }
}

impl Telemetry {
    /// The share of traces to send, from 0 to 1.
    pub fn sample_ratio(&self) -> f64 {
        self.sample_percent as f64 / 100.0
    }
}
