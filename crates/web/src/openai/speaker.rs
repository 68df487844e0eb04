//! Who speaks: as the header or the field `user` says, else whom the key stands for.

use axum::http::{HeaderMap, HeaderValue};

use super::errors::CompletionRefusal;
use crate::api::access::AuthorizedCaller;
use crate::api::speaker::{ApiSpeaker, SpeakerReference};
use crate::app::completion_retries::PERSON;

pub(crate) fn resolve(
    key: &AuthorizedCaller,
    headers: &HeaderMap,
    user: Option<&str>,
) -> Result<ApiSpeaker, CompletionRefusal> {
    let header = match headers.get(PERSON).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(text)) => Some(text),
        Some(Err(_)) => {
            return Err(CompletionRefusal::invalid_param(
                "x-munshi-person",
                "The header contains invalid characters.",
            ));
        }
    };
    let named = header.or(user).map(str::trim).filter(|text| !text.is_empty());
    let param = if header.is_some() { "x-munshi-person" } else { "user" };
    let Some(text) = named else { return Ok(ApiSpeaker::for_key(key)) };
    let speaker = match text.parse() {
        Ok(id) => ApiSpeaker::resolve(key, Some(SpeakerReference::Id(id))),
        Err(_) => ApiSpeaker::parse(key, text),
    };
    speaker.map_err(|error| CompletionRefusal::for_param(param, error))
}
