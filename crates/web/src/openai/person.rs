//! Who speaks: as the header or the field `user` says, else whom the key stands for.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::form::Refusal;
use crate::api::access::Key;
use crate::api::speaker::{Speaker, Who};

/// For clients that can't set `user`.
pub(crate) const PERSON: HeaderName = HeaderName::from_static("x-munshi-person");

pub(crate) fn speaker(key: &Key, headers: &HeaderMap, user: Option<&str>) -> Result<Speaker, Refusal> {
    let header = match headers.get(PERSON).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(text)) => Some(text),
        Some(Err(_)) => {
            return Err(Refusal::at("x-munshi-person", "The header holds letters it may not hold."));
        }
    };
    let named = header.or(user).map(str::trim).filter(|text| !text.is_empty());
    let param = if header.is_some() { "x-munshi-person" } else { "user" };
    let Some(text) = named else { return Ok(Speaker::of_key(key)) };
    let speaker = match text.parse() {
        Ok(id) => Speaker::of(key, Some(Who::Id(id))),
        Err(_) => Speaker::called(key, text),
    };
    speaker.map_err(|error| Refusal::at_error(param, error))
}
