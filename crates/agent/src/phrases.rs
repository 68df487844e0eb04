//! Our own words, where the phrasebook fails us.

use std::fmt::Display;

/// None where a phrase can't be rendered. That is our mistake, which the log tells, and no reason to say nothing.
pub(crate) fn log_unrendered(rendered: Result<String, impl Display>, phrase: &str) -> Option<String> {
    rendered.inspect_err(|error| tracing::error!(%error, phrase, "phrase rendering failed")).ok()
}
