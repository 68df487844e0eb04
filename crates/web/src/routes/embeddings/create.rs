//! `POST /v1/embeddings`: vectors for texts, by the model that a binding embeds with.

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use munshi_agent::TextEmbeddingFailure;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::chat_admission::{ChatAdmission, check_limits};
use crate::openai::body::CompletionsApiBody;
use crate::openai::errors::{self, ClientRetryAdvice, CompletionRefusal};
use crate::openai::speaker;
use crate::routes::completions::create::resolve_model;

/// As many as OpenAI takes.
const MOST: usize = 2_048;
/// One text, in bytes.
const LONGEST: usize = 32 * 1024;

/// Texts to embed.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EmbeddingRequest {
    /// The name of a binding.
    #[schema(example = "counter")]
    model: String,
    /// A text or a list of texts. Token arrays are not supported.
    #[schema(example = "sona masoori, 25 kg")]
    input: Value,
    /// `float` (default) or `base64`.
    #[schema(example = "float")]
    encoding_format: Option<String>,
    /// Must equal the model's own dimension.
    #[schema(minimum = 1)]
    dimensions: Option<u32>,
    /// The person who speaks, as for completions.
    #[schema(max_length = 200)]
    user: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EmbeddingList {
    /// `list`
    object: &'static str,
    /// In the order of the input.
    data: Vec<EmbeddingItem>,
    model: String,
    usage: EmbeddingUsage,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EmbeddingItem {
    /// `embedding`
    object: &'static str,
    index: usize,
    #[schema(value_type = Vec<f32>)]
    embedding: Vector,
}

/// Numbers, or their bytes (32-bit floats, the smallest byte first) in base64.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Vector {
    Floats(Vec<f32>),
    Bytes(String),
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EmbeddingUsage {
    prompt_tokens: u64,
    total_tokens: u64,
}

/// Create embeddings with the model that the binding uses.
///
/// Without an embedding model in the settings, this uses the built-in one, which is free and compares words by their
/// letters. Embeddings of different models are not comparable.
#[utoipa::path(post, path = "/v1/embeddings", tag = "embeddings", request_body = EmbeddingRequest,
    responses((status = 200, description = "The embeddings.", body = EmbeddingList),
        (status = 404, description = "The model does not exist, or this key has no access to it.", body = errors::CompletionError),
        (status = 409, description = "The binding is closed.", body = errors::CompletionError)))]
pub(crate) async fn create_embedding(
    key: AuthorizedCaller,
    headers: HeaderMap,
    body: CompletionsApiBody<EmbeddingRequest>,
) -> Result<Response, CompletionRefusal> {
    let request = body.read;
    let encode = encoding(request.encoding_format.as_deref())?;
    let texts = parse_texts(&request.input)?;
    let place = resolve_model(&key, &request.model).await?;
    let speaker = speaker::resolve(&key, &headers, request.user.as_deref())?;
    let ChatAdmission { person, limits } = check_limits(&key, &speaker, &place).await?;
    key.api.count_limits(key.tenant(), limits).await?;
    let made = key.api.engine.embed_texts(&place, person, &texts).await?.map_err(convert_failure)?;
    let length = made.vectors.first().map_or(0, Vec::len);
    if let Some(wanted) = request.dimensions.filter(|wanted| *wanted as usize != length) {
        let message =
            format!("This model's embeddings have {length} dimensions, not {wanted}. Omit `dimensions`.");
        return Err(CompletionRefusal::invalid_param("dimensions", message));
    }
    let item = |(index, vector)| EmbeddingItem { object: "embedding", index, embedding: encode(vector) };
    let list = EmbeddingList {
        object: "list",
        data: made.vectors.into_iter().enumerate().map(item).collect(),
        model: place.binding_name.to_string(),
        usage: EmbeddingUsage { prompt_tokens: made.tokens, total_tokens: made.tokens },
    };
    let mut response = Json(list).into_response();
    errors::set_rate_limit_headers(&mut response, key.api.limits.key_status(&key.caller));
    Ok(response)
}

fn encoding(wanted: Option<&str>) -> Result<fn(Vec<f32>) -> Vector, CompletionRefusal> {
    match wanted {
        None | Some("float") => Ok(Vector::Floats),
        Some("base64") => Ok(bytes),
        Some(_) => Err(CompletionRefusal::invalid_param(
            "encoding_format",
            "`encoding_format` must be `float` or `base64`.",
        )),
    }
}

fn bytes(vector: Vec<f32>) -> Vector {
    let bytes: Vec<u8> = vector.into_iter().flat_map(f32::to_le_bytes).collect();
    Vector::Bytes(STANDARD.encode(bytes))
}

fn parse_texts(input: &Value) -> Result<Vec<String>, CompletionRefusal> {
    let all = match input {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) if all.is_empty() => {
            return Err(CompletionRefusal::invalid_param("input", "`input` is empty."));
        }
        Value::Array(all) if all.len() > MOST => {
            return Err(CompletionRefusal::invalid_param(
                "input",
                format!("Too many texts: {} were sent, the limit is {MOST}.", all.len()),
            ));
        }
        Value::Array(all) => {
            let text = |one: &Value| one.as_str().map(str::to_owned);
            all.iter().map(text).collect::<Option<Vec<_>>>().ok_or_else(token_input_error)?
        }
        _ => {
            return Err(CompletionRefusal::invalid_param(
                "input",
                "`input` must be a text or a list of texts.",
            ));
        }
    };
    for (at, text) in all.iter().enumerate() {
        if text.trim().is_empty() || text.len() > LONGEST {
            let message =
                format!("Each text must be 1 to {LONGEST} bytes and not blank; this one has {}.", text.len());
            return Err(CompletionRefusal::invalid_param(format!("input[{at}]"), message));
        }
    }
    Ok(all)
}

fn token_input_error() -> CompletionRefusal {
    let message =
        "Token arrays are not supported; send texts. In LangChain, set check_embedding_ctx_length=False.";
    CompletionRefusal::unsupported("input", message)
}

fn convert_failure(why: TextEmbeddingFailure) -> CompletionRefusal {
    match why {
        TextEmbeddingFailure::OverBudget(what) => {
            let error = ApiError::new(
                ApiErrorCode::TooManyRequests,
                munshi_server::error_conversions::sentence(&what),
            )
            .hint("See GET /v1/usage for when the limit resets.");
            CompletionRefusal::from(error)
                .code("insufficient_quota")
                .kind("insufficient_quota")
                .retry(ClientRetryAdvice::No)
        }
        TextEmbeddingFailure::Unfit(what) => {
            CompletionRefusal::invalid_param("input", munshi_server::error_conversions::sentence(&what))
        }
        TextEmbeddingFailure::Failed(what) => ApiError::unavailable(what).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bytes_are_the_numbers_as_openai_s_clients_unpack_them() {
        let Vector::Bytes(text) = bytes(vec![1.0, -0.5]) else { panic!("no bytes") };
        assert_eq!(STANDARD.decode(text).unwrap(), [0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf]);
    }

    #[test]
    fn only_texts_are_taken() {
        assert_eq!(parse_texts(&json!("a")).unwrap(), ["a"]);
        assert_eq!(parse_texts(&json!(["a", "b"])).unwrap(), ["a", "b"]);
        for bad in [
            json!([]),
            json!([1, 2]),
            json!([[1, 2]]),
            json!({}),
            json!([" "]),
            json!("x".repeat(LONGEST + 1)),
        ] {
            assert!(parse_texts(&bad).is_err(), "{bad}");
        }
    }
}
