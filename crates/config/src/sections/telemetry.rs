use crate::kinds::{CountKind, EndpointKind, TextKind};
use crate::section::section;

section! {
    /// Traces for an OpenTelemetry collector.
    TelemetrySection in "telemetry" {
        /// OTLP endpoint of the collector. Empty disables tracing.
        otlp_endpoint: EndpointKind = "",
        /// Service name in the traces.
        service_name: TextKind = "munshi",
        /// Percentage of traces to send.
        sample_percent: CountKind<0, 100> = 100,
    }
}

impl TelemetrySection {
    /// The share of traces to send, from 0 to 1.
    pub fn sample_ratio(&self) -> f64 {
        self.sample_percent as f64 / 100.0
    }
}
