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
    /// What Munshi says about its own work, on standard error.
    LogSection in "log" {
        /// How lines are written. `auto` is pretty on a terminal and JSON otherwise.
        format: LogFormat = "auto",
        /// Which lines are written: a level, or a level for each part.
        level: LogFilterKind = "info",
    }
}
