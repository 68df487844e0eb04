//! A text read into a type.

use serde::de::DeserializeOwned;

use crate::position::{TextPosition, locate};

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}: {what}", position.line)]
pub struct TomlError {
    pub position: TextPosition,
    /// What is wrong and what may stand there.
    pub what: String,
}

impl TomlError {
    /// A problem that begins at a byte of the text.
    pub fn new(text: &str, at: usize, what: &str) -> Self {
        Self { position: locate(text, at), what: what.trim_end().replace('\n', "; ") }
    }
}

/// Reads a value, or says what is wrong with the text and where.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        TomlError::new(text, at, error.message())
    })
}
