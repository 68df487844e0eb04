//! `POST /v1/embeddings`: vectors for texts, by the model that a binding embeds with.

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use munshi_agent::TextEmbeddingFailure;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::openai::body::CompletionsApiBody;
use crate::openai::form::{self, ClientRetryAdvice, CompletionRefusal};
use crate::openai::person;
use crate::routes::chat::send::{ChatAdmission, check_limits};
use crate::routes::completions::create::model;

/// As many as OpenAI takes.
const MOST: usize = 2_048;
/// One text, in bytes.
const LONGEST: usize = 32 * 1024;

/// Texts to make vectors of.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EmbeddingRequest {
    /// The name of a binding.
    #[schema(example = "counter")]
    model: String,
    /// A text, or several. Numbers of tokens are not read.
    #[schema(example = "sona masoori, 25 kg")]
    input: Value,
    /// `float` or `base64`; `float` without it.
    #[schema(example = "float")]
    encoding_format: Option<String>,
    /// Only the length that the model has.
    #[schema(minimum = 1)]
    dimensions: Option<u32>,
    /// As for completions.
    #[schema(max_length = 200)]
    user: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EmbeddingList {
    /// `list`
    object: &'static str,
    /// In the order of the texts.
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

/// Vectors for texts, by the model that the binding embeds with.
///
/// Without a model for embeddings in the settings it is the one of this machine, which costs nothing and knows words by
/// their letters. Vectors of different models can't be compared.
#[utoipa::path(post, path = "/v1/embeddings", tag = "embeddings", request_body = EmbeddingRequest,
    responses((status = 200, description = "The vectors.", body = EmbeddingList),
        (status = 404, description = "There is no such model that this key reaches.", body = form::CompletionError),
        (status = 409, description = "The binding is closed.", body = form::CompletionError)))]
pub(crate) async fn create_embedding(
    key: AuthorizedCaller,
    headers: HeaderMap,
    body: CompletionsApiBody<EmbeddingRequest>,
) -> Result<Response, CompletionRefusal> {
    let request = body.read;
    let encode = encoding(request.encoding_format.as_deref())?;
    let texts = texts(&request.input)?;
    let place = model(&key, &request.model).await?;
    let speaker = person::speaker(&key, &headers, request.user.as_deref())?;
    let ChatAdmission { person, limits } = check_limits(&key, &speaker, &place).await?;
    key.api.count_limits(key.tenant(), limits).await?;
    let made = key.api.engine.vectors(&place, person, &texts).await?.map_err(refused)?;
    let length = made.vectors.first().map_or(0, Vec::len);
    if let Some(wanted) = request.dimensions.filter(|wanted| *wanted as usize != length) {
        let message =
            format!("This model's vectors have {length} numbers, not {wanted}. Leave `dimensions` out.");
        return Err(CompletionRefusal::at("dimensions", message));
    }
    let item = |(index, vector)| EmbeddingItem { object: "embedding", index, embedding: encode(vector) };
    let list = EmbeddingList {
        object: "list",
        data: made.vectors.into_iter().enumerate().map(item).collect(),
        model: place.binding_name.to_string(),
        usage: EmbeddingUsage { prompt_tokens: made.tokens, total_tokens: made.tokens },
    };
    let mut response = Json(list).into_response();
    form::count(&mut response, key.api.limits.left(&key.caller));
    Ok(response)
}

fn encoding(wanted: Option<&str>) -> Result<fn(Vec<f32>) -> Vector, CompletionRefusal> {
    match wanted {
        None | Some("float") => Ok(Vector::Floats),
        Some("base64") => Ok(bytes),
        Some(_) => Err(CompletionRefusal::at("encoding_format", "`encoding_format` is `float` or `base64`.")),
    }
}

fn bytes(vector: Vec<f32>) -> Vector {
    let bytes: Vec<u8> = vector.into_iter().flat_map(f32::to_le_bytes).collect();
    Vector::Bytes(STANDARD.encode(bytes))
}

fn texts(input: &Value) -> Result<Vec<String>, CompletionRefusal> {
    let all = match input {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) if all.is_empty() => {
            return Err(CompletionRefusal::at("input", "There is no text."));
        }
        Value::Array(all) if all.len() > MOST => {
            return Err(CompletionRefusal::at(
                "input",
                format!("{} texts are too many: {MOST} are the most.", all.len()),
            ));
        }
        Value::Array(all) => {
            let text = |one: &Value| one.as_str().map(str::to_owned);
            all.iter().map(text).collect::<Option<Vec<_>>>().ok_or_else(tokens)?
        }
        _ => return Err(CompletionRefusal::at("input", "`input` is a text, or a list of texts.")),
    };
    for (at, text) in all.iter().enumerate() {
        if text.trim().is_empty() || text.len() > LONGEST {
            let message =
                format!("A text has 1 to {LONGEST} bytes and is not blank; this one has {}.", text.len());
            return Err(CompletionRefusal::at(format!("input[{at}]"), message));
        }
    }
    Ok(all)
}

fn tokens() -> CompletionRefusal {
    let message = "Send texts, not numbers of tokens: models here have tokens of their own. LangChain sends texts with \
                   check_embedding_ctx_length=False.";
    CompletionRefusal::unsupported("input", message)
}

fn refused(why: TextEmbeddingFailure) -> CompletionRefusal {
    match why {
        TextEmbeddingFailure::OverBudget(what) => {
            let error = ApiError::new(ApiErrorCode::TooManyRequests, crate::api::sentence(&what))
                .hint("GET /v1/usage says when it is free again.");
            CompletionRefusal::from(error)
                .code("insufficient_quota")
                .kind("insufficient_quota")
                .retry(ClientRetryAdvice::No)
        }
        TextEmbeddingFailure::Unfit(what) => CompletionRefusal::at("input", crate::api::sentence(&what)),
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
        assert_eq!(texts(&json!("a")).unwrap(), ["a"]);
        assert_eq!(texts(&json!(["a", "b"])).unwrap(), ["a", "b"]);
        for bad in [
            json!([]),
            json!([1, 2]),
            json!([[1, 2]]),
            json!({}),
            json!([" "]),
            json!("x".repeat(LONGEST + 1)),
        ] {
            assert!(texts(&bad).is_err(), "{bad}");
        }
    }
}
