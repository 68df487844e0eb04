use crate::kinds::{CountKind, EndpointKind, TextKind};
use crate::section::section;

section! {
    /// Traces for an OpenTelemetry collector.
    TelemetrySection in "telemetry" {
        /// The collector's OTLP address. Empty means no traces are sent.
        otlp_endpoint: EndpointKind = "",
        /// The name this installation goes by among the traces.
        service_name: TextKind = "munshi",
        /// How many of a hundred traces are sent.
        sample_percent: CountKind<0, 100> = 100,
    }
}

impl TelemetrySection {
    /// The share of traces to send, from 0 to 1.
    pub fn sample_ratio(&self) -> f64 {
        self.sample_percent as f64 / 100.0
    }
}
