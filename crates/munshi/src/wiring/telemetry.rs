//! Logs and traces as the settings ask for them.

use std::io::IsTerminal;
use std::sync::Arc;

use munshi_config::{Config, LogFormat};
use munshi_types::Clock;
use munshi_web::telemetry::{self, LogLineFormat, TelemetryGuard, TelemetryOptions};

use crate::failure::Result;
use crate::output::{ColourMode, TextStyler};

/// Sets them up for this process. The guard sends the last traces when it goes.
pub(crate) fn start(config: &Config, paint: ColourMode, clock: Arc<dyn Clock>) -> Result<TelemetryGuard> {
    let options = TelemetryOptions {
        format: format(config.log.format, paint),
        filter: config.log.level.clone(),
        otlp_endpoint: config.telemetry.otlp_endpoint.as_ref().map(|url| url.reveal().to_owned()),
        service_name: config.telemetry.service_name.clone(),
        sample_percent: config.telemetry.sample_ratio() * 100.0,
    };
    Ok(telemetry::init(&options, clock)?)
}

fn format(wanted: LogFormat, paint: ColourMode) -> LogLineFormat {
    let stderr = std::io::stderr();
    match wanted {
        LogFormat::Json => LogLineFormat::Json,
        LogFormat::Auto if !stderr.is_terminal() => LogLineFormat::Json,
        LogFormat::Auto | LogFormat::Pretty => match paint.styler_for(&stderr) {
            TextStyler::Colour => LogLineFormat::PrettyColour,
            TextStyler::Plain => LogLineFormat::Pretty,
        },
    }
}
