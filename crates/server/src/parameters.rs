//! What requests bring beside their body: ids in paths, queries, and texts that are checked before they go
//! further.

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use futures_util::FutureExt;
use munshi_types::is_invisible;
use serde::de::DeserializeOwned;

use crate::error::{ApiError, ApiErrorCode};
use crate::error_conversions::sentence;
use crate::json::shorten;

/// A part of the path, read. What can't be one is refused in the type's own words.
pub struct UrlPathParameter<T>(pub T);

impl<S, T> FromRequestParts<S> for UrlPathParameter<T>
where
    S: Send + Sync,
    T: FromStr<Err: Display> + Send,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Boxed and without `T`, so that its code is not part of every handler's.
        let text: String = read_path(parts).boxed().await?;
        parse_parameter(&text).map(Self)
    }
}

/// Two parts of the path.
pub struct UrlPathParameterPair<A, B>(pub A, pub B);

impl<S, A, B> FromRequestParts<S> for UrlPathParameterPair<A, B>
where
    S: Send + Sync,
    A: FromStr<Err: Display> + Send,
    B: FromStr<Err: Display> + Send,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let (one, other): (String, String) = read_path(parts).boxed().await?;
        Ok(Self(parse_parameter(&one)?, parse_parameter(&other)?))
    }
}

async fn read_path<T: DeserializeOwned + Send>(parts: &mut Parts) -> Result<T, ApiError> {
    match Path::<T>::from_request_parts(parts, &()).await {
        Ok(Path(read)) => Ok(read),
        Err(refusal) => {
            Err(ApiError::new(ApiErrorCode::BadRequest, "The path is malformed.").caused_by(refusal))
        }
    }
}

fn parse_parameter<T: FromStr<Err: Display>>(text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|error: T::Err| parameter_error(&error.to_string()))
}

fn parameter_error(what: &str) -> ApiError {
    ApiError::new(ApiErrorCode::BadRequest, shorten(&sentence(what)))
        .hint("Use the id exactly as the API returned it.")
}

/// What stands behind the question mark. Names that are not known are refused.
pub struct UrlQueryParameters<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for UrlQueryParameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Query::try_from_uri(&parts.uri).map(|Query(asked)| Self(asked)).map_err(unreadable_query_error)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn unreadable_query_error(refusal: QueryRejection) -> ApiError {
    let words = refusal.body_text();
    let words = words.strip_prefix("Failed to deserialize query string: ").unwrap_or(&words);
    ApiError::new(ApiErrorCode::BadRequest, format!("The query is malformed: {}.", shorten(words)))
}

/// A name as people write it.
pub fn parse_name(field: &str, text: &str) -> Result<String, ApiError> {
    let name = text.trim();
    if (1..=200).contains(&name.chars().count()) && !name.chars().any(is_invisible) {
        return Ok(name.to_owned());
    }
    Err(field_error(field, "must be 1 to 200 characters on one line, without invisible characters"))
}

/// As browsers and phones say it: `hi`, `en-IN`.
pub fn validate_locale(text: &str) -> Result<(), ApiError> {
    let fits = (2..=35).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if fits { Ok(()) } else { Err(field_error("locale", "use a language tag such as hi or en-IN")) }
}

pub fn field_error(field: &str, what: &str) -> ApiError {
    ApiError::new(ApiErrorCode::Invalid, format!("`{field}` is invalid: {}.", shorten(what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_looked_at() {
        assert_eq!(parse_name("name", " Asha ").unwrap(), "Asha");
        assert!(parse_name("name", "A\0").is_err() && parse_name("name", " ").is_err());
        assert!(
            validate_locale("en-IN").is_ok()
                && validate_locale("en\0").is_err()
                && validate_locale("").is_err()
        );
    }
}
