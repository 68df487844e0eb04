//! What logs and traces look like, and where they go.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLineFormat {
    /// One JSON object per line, for machines.
    Json,
    /// For people, without colour.
    Pretty,
    /// For people at a terminal.
    PrettyColour,
}

#[derive(Clone, Debug)]
pub struct TelemetryOptions {
    pub format: LogLineFormat,
    /// A level, or targets with levels: `info,munshi_store=debug`.
    pub filter: String,
    /// The collector's base address, such as `http://localhost:4318`; spans go to `/v1/traces` under it.
    pub otlp_endpoint: Option<String>,
    /// Who is speaking, in lines and traces.
    pub service_name: String,
    /// Of traces begun here, how many are kept: 0 to 100.
    pub sample_percent: f64,
}

impl Default for TelemetryOptions {
    fn default() -> Self {
        Self {
            format: LogLineFormat::Json,
            filter: "info".to_owned(),
            otlp_endpoint: None,
            service_name: "munshi".to_owned(),
            sample_percent: 100.0,
        }
    }
}
