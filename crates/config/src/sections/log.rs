use crate::kinds::{LogFilterKind, choice};
use crate::section::section;

choice! {
    /// How log lines are written.
    LogFormat {
        /// Pretty on a terminal, JSON otherwise.
        Auto = "auto",
        Json = "json",
        Pretty = "pretty",
    }
}

section! {
    /// Munshi's own log, on standard error.
    LogSection in "log" {
        /// Log format. `auto` is pretty on a terminal and JSON otherwise.
        format: LogFormat = "auto",
        /// Log filter: a level, or a level per module.
        level: LogFilterKind = "info",
    }
}
