//! Logs and traces as the settings ask for them.

use std::io::IsTerminal;
use std::sync::Arc;

use munshi_cli::output::{ColourMode, TextStyler};
use munshi_config::{Config, LogFormat};
use munshi_types::Clock;
use munshi_web::telemetry::{self, LogLineFormat, TelemetryGuard, TelemetryOptions};
use munshi_wiring::failure::Result;

use crate::server::to_command_failure;

/// Sets them up for this process. The guard sends the last traces when it goes.
pub(crate) fn start(config: &Config, paint: ColourMode, clock: Arc<dyn Clock>) -> Result<TelemetryGuard> {
    let options = TelemetryOptions {
        format: format(config.log.format, paint),
        filter: config.log.level.clone(),
        otlp_endpoint: config.telemetry.otlp_endpoint.as_ref().map(|url| url.reveal().to_owned()),
        service_name: config.telemetry.service_name.clone(),
        sample_percent: config.telemetry.sample_ratio() * 100.0,
    };
    telemetry::init(&options, clock).map_err(|error| to_command_failure(&error))
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
