//! Which log lines are kept: a level, or a level for each part of the program.

use super::{Fault, Home, Kind, Quoted, Raw};
use crate::nearest;
use crate::show::Shown;

/// Text in the form of tracing's filter. A lone word must be a level: tracing would take `inof` for the name
/// of a module and quietly log nothing else.
#[derive(Debug)]
pub enum LogFilter {}

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

impl Kind for LogFilter {
    type Value = String;

    fn expects() -> String {
        "a level (off, error, warn, info, debug, trace), and if need be `module=level` after commas, such as \
         \"info,munshi_store=debug\""
            .to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<String, Fault> {
        let text = raw.text()?.trim();
        text.split(',').try_for_each(|part| check(part.trim()))?;
        Ok(text.to_owned())
    }

    fn show(value: &String) -> Shown {
        Shown::Text(value.clone())
    }
}

fn check(part: &str) -> Result<(), Fault> {
    let (module, level) = match part.rsplit_once('=') {
        Some((module, level)) => (Some(module.trim()), level.trim()),
        None => (None, part),
    };
    if module == Some("") {
        return Err(Fault::new(format!("{} names no module before its `=`", Quoted(part))));
    }
    if LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level)) {
        return Ok(());
    }
    let fault = Fault::new(format!("{} is not a log level", Quoted(level)));
    Err(match nearest::of(level, LEVELS) {
        Some(known) => fault.with_hint(format!("did you mean \"{known}\"?")),
        None => fault,
    })
}
