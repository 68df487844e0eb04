//! Documents that are plain text travel as text where a wire knows only PDF.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::chat::{ModelMedia, ModelMediaSource};
use crate::error::ModelError;

/// The text of a `text/…` document that was sent along; none for anything else.
pub(crate) fn text(media: &ModelMedia) -> Result<Option<String>, ModelError> {
    let ModelMediaSource::Data(data) = &media.source else { return Ok(None) };
    if !media.media_type.starts_with("text/") {
        return Ok(None);
    }
    let bytes = STANDARD.decode(data).map_err(|_| document_error("it is not base64"))?;
    String::from_utf8(bytes).map(Some).map_err(|_| document_error("it is not UTF-8"))
}

/// What was sent along, decoded; none for what is elsewhere or is no base64.
pub(crate) fn bytes(media: &ModelMedia) -> Option<Vec<u8>> {
    match &media.source {
        ModelMediaSource::Data(data) => STANDARD.decode(data).ok(),
        ModelMediaSource::Url(_) => None,
    }
}

/// Base64 as a `data:` address.
pub(crate) fn data_url(media: &ModelMedia) -> Option<String> {
    match &media.source {
        ModelMediaSource::Data(data) => Some(format!("data:{};base64,{data}", media.media_type)),
        ModelMediaSource::Url(_) => None,
    }
}

pub(crate) fn document_error(why: &str) -> ModelError {
    ModelError::Rejected { status: 0, message: format!("a document can't be sent: {why}") }
}
