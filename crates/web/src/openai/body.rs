//! JSON in, with the place of what does not fit.

use axum::extract::{FromRequest, Request};
use munshi_server::json::{Json, shorten};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::errors::CompletionRefusal;

/// A body, and the bytes it had: by those the same request is known again.
pub(crate) struct CompletionsApiBody<T> {
    pub(crate) read: T,
    pub(crate) whole: String,
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for CompletionsApiBody<T> {
    type Rejection = CompletionRefusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, CompletionRefusal> {
        let Json(mut value) = Json::<Value>::from_request(request, state).await?;
        let whole = value.to_string();
        replace_nul(&mut value);
        let read = serde_path_to_error::deserialize(value).map_err(refuse)?;
        Ok(Self { read, whole })
    }
}

fn refuse(error: serde_path_to_error::Error<serde_json::Error>) -> CompletionRefusal {
    let path = error.path().to_string();
    let words = shorten(&error.into_inner().to_string());
    let param = if path == "." { parse_missing_field(&words).unwrap_or_default() } else { path };
    let message = match param.as_str() {
        "" => format!("The body is invalid: {words}."),
        param => format!("`{param}` is invalid: {words}."),
    };
    CompletionRefusal::invalid_param(param, message)
}

/// The field that a complaint at the top is about.
fn parse_missing_field(words: &str) -> Option<String> {
    let (_, rest) = words.split_once("missing field `")?;
    Some(rest.split('`').next()?.to_owned())
}

/// No database keeps this letter in JSON, and no text needs it.
fn replace_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(values) => values.iter_mut().for_each(replace_nul),
        Value::Object(fields) => {
            if fields.keys().any(|key| key.contains('\0')) {
                let renamed = std::mem::take(fields).into_iter();
                fields.extend(renamed.map(|(key, value)| (key.replace('\0', "\u{fffd}"), value)));
            }
            fields.values_mut().for_each(replace_nul);
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
