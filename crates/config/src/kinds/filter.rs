//! Which log lines are kept: a level, or a level for each part of the program.

use munshi_toml::QuotedValue;

use super::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;

/// Text in the form of tracing's filter. A lone word must be a level: tracing would take `inof` for the name
/// of a module and quietly log nothing else.
#[derive(Debug)]
pub enum LogFilterKind {}

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

impl SettingKind for LogFilterKind {
    type Value = String;

    fn expects() -> String {
        "a level (off, error, warn, info, debug, trace), optionally with comma-separated `module=level`, such as \
         \"info,munshi_store=debug\""
            .to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<String, SettingFault> {
        let text = raw.text()?.trim();
        text.split(',').try_for_each(|part| check(part.trim()))?;
        Ok(text.to_owned())
    }

    fn show(value: &String) -> RedactedSetting {
        RedactedSetting::Text(value.clone())
    }
}

fn check(part: &str) -> Result<(), SettingFault> {
    let (module, level) = match part.rsplit_once('=') {
        Some((module, level)) => (Some(module.trim()), level.trim()),
        None => (None, part),
    };
    if module == Some("") {
        return Err(SettingFault::new(format!("{} has no module before the `=`", QuotedValue(part))));
    }
    if LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level)) {
        return Ok(());
    }
    let fault = SettingFault::new(format!("{} is not a log level", QuotedValue(level)));
    Err(match munshi_toml::find_nearest(level, LEVELS) {
        Some(known) => fault.with_hint(format!("did you mean \"{known}\"?")),
        None => fault,
    })
}
