//! JSON in and out, with refusals that say what was expected.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use crate::error::{ApiError, ApiErrorCode};
use crate::fields;

/// A JSON body, as an argument of a handler or as its answer.
///
/// Refuses with `unsupported_media_type`, `bad_request` (not JSON), `invalid` (JSON that does not fit `T`) or
/// `too_large`.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

/// Longer complaints (they quote the value) are cut here.
const LONGEST_COMPLAINT: usize = 300;

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        // Boxed and without `T`, so that its code is not part of every handler's.
        let body = read_body(request).boxed().await?;
        parse(&body).map(Self)
    }
}

async fn read_body(request: Request) -> Result<Bytes, ApiError> {
    if !is_json(request.headers()) {
        return Err(wrong_type(request.headers()));
    }
    let body = Bytes::from_request(request, &()).await.map_err(|refusal| {
        let code = match refusal.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ApiErrorCode::TooLarge,
            _ => ApiErrorCode::BadRequest,
        };
        ApiError::from_code(code).caused_by(refusal)
    })?;
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(ApiError::new(
            ApiErrorCode::BadRequest,
            "The body is empty; this endpoint expects JSON.",
        ));
    }
    Ok(body)
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(sent) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let kind = sent.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn wrong_type(headers: &HeaderMap) -> ApiError {
    let message = match headers.get(CONTENT_TYPE).map(HeaderValue::to_str) {
        Some(Ok(sent)) => format!("The body was sent as `{}`; this endpoint expects JSON.", shorten(sent)),
        _ => "The `content-type` is missing or invalid; this endpoint expects JSON.".to_owned(),
    };
    ApiError::new(ApiErrorCode::UnsupportedMediaType, message)
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    if let Some(fields) = fields::find_names::<T>() {
        check_object(body, fields)?;
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        convert_error(&error.into_inner(), &path)
    })?;
    reader.end().map_err(|error| convert_error(&error, "."))?;
    Ok(value)
}

/// Refuses JSON that is no object, where a type is read from one with these fields.
fn check_object(body: &[u8], fields: &[&str]) -> Result<(), ApiError> {
    let is_object = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_object || serde_json::from_slice::<IgnoredAny>(body).is_err() {
        return Ok(());
    }
    let named = fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
    let message = format!("The body must be a JSON object; its fields are {named}.");
    Err(ApiError::new(ApiErrorCode::Invalid, message))
}

fn convert_error(error: &serde_json::Error, path: &str) -> ApiError {
    let words = shorten(&simplify_message(&error.to_string()));
    match error.classify() {
        Category::Data if path == "." => {
            ApiError::new(ApiErrorCode::Invalid, format!("The body is invalid: {words}."))
        }
        Category::Data => ApiError::new(ApiErrorCode::Invalid, format!("`{path}` is invalid: {words}.")),
        Category::Syntax | Category::Eof | Category::Io => {
            ApiError::new(ApiErrorCode::BadRequest, format!("The body is not valid JSON: {words}."))
        }
    }
}

/// A complaint without the names that things have in the program.
fn simplify_message(complaint: &str) -> String {
    let Some((before, expected)) = complaint.split_once("expected ") else {
        return match complaint.find("any variant of untagged enum") {
            Some(_) => "it matches none of the accepted forms".to_owned(),
            None => complaint.to_owned(),
        };
    };
    let (expected, place) = match expected.split_once(" at line ") {
        Some((expected, place)) => (expected, format!(" at line {place}")),
        None => (expected, String::new()),
    };
    let first = expected.split(' ').next().unwrap_or_default();
    let expected = match first {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a non-negative whole number",
        "f32" | "f64" => "a number",
        "struct" | "tuple" | "internally" | "adjacently" => "an object",
        "enum" => "one of the allowed values",
        "unit" => "null",
        _ => match expected {
            "a map" => "an object",
            "a sequence" => "a list",
            "a string" => "text",
            "a boolean" => "true or false",
            other => other,
        },
    };
    let before = before.replace("invalid type: sequence", "invalid type: list").replace("map,", "object,");
    format!("{before}expected {expected}{place}")
}

pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_COMPLAINT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        build_response(serde_json::to_vec(&self.0))
    }
}

/// Not generic, so that it is compiled once for all bodies.
fn build_response(body: serde_json::Result<Vec<u8>>) -> Response {
    match body {
        Ok(body) => ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response(),
        Err(error) => ApiError::internal(error).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    struct Order {
        #[allow(dead_code, reason = "only parsed")]
        items: Vec<Item>,
    }

    #[derive(Debug, Deserialize)]
    struct Item {
        #[allow(dead_code, reason = "only parsed")]
        paise: i64,
    }

    fn refusal(body: &str) -> (ApiErrorCode, String) {
        let error = parse::<Order>(body.as_bytes()).unwrap_err();
        (error.code, error.message.into_owned())
    }

    #[test]
    fn a_refusal_says_where_and_what_was_expected() {
        let (code, message) = refusal(r#"{"items":[{"paise":1},{"paise":"ten"}]}"#);
        assert_eq!(code, ApiErrorCode::Invalid);
        assert!(message.starts_with("`items[1].paise` is invalid"), "{message}");
        assert!(message.contains("expected a whole number"), "{message}");
        let (code, message) = refusal("{}");
        assert_eq!(code, ApiErrorCode::Invalid);
        assert!(message.contains("missing field `items`"), "{message}");
    }

    #[test]
    fn no_name_of_the_program_is_told() {
        for body in ["[]", "7", r#""text""#, "[[1]]", "null"] {
            let (code, message) = refusal(body);
            assert_eq!(code, ApiErrorCode::Invalid, "{body}");
            assert!(message.contains("object") && message.contains("`items`"), "{message}");
        }
        for body in
            [r#"{"items":7}"#, r#"{"items":[7]}"#, r#"{"items":[{"paise":{}}]}"#, r#"{"items":[null]}"#]
        {
            let (_, message) = refusal(body);
            assert!(
                !["i64", "struct", "Item", "sequence", "elements"].iter().any(|word| message.contains(word)),
                "{message}"
            );
        }
    }

    #[test]
    fn what_is_not_json_is_told_apart() {
        for bad in ["{", "nonsense", r#"{"items":[]} more"#, " \n"] {
            assert_eq!(refusal(bad).0, ApiErrorCode::BadRequest, "{bad}");
        }
    }

    #[test]
    fn a_long_value_is_not_quoted_back_whole() {
        let (_, message) = refusal(&format!(r#"{{"items":"{}"}}"#, "क".repeat(10_000)));
        assert!(message.chars().count() < 400, "{message}");
    }

    #[test]
    fn json_has_many_names() {
        let typed = |value: &'static str| {
            is_json(&HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]))
        };
        assert!(typed("application/json"));
        assert!(typed("Application/JSON; charset=utf-8"));
        assert!(typed("application/cloudevents+json"));
        assert!(!typed("text/json+plain"));
        assert!(!typed("application/jsonp"));
    }
}
