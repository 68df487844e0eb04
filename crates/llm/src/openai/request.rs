//! A request as chat completions want it, in the target's dialect.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::messages::{OpenAiMessage, build_messages};
use crate::chat::{ChatRequest, ReplyFormat, ToolChoice};
use crate::dialect::{JsonMode, OutputLimit};
use crate::effort::ThinkingEffort;
use crate::error::ModelError;
use crate::target::ModelTarget;
use crate::transport::StreamMode;

#[derive(Debug, Serialize)]
pub(super) struct OpenAiChatBody<'a> {
    model: &'a str,
    messages: Vec<OpenAiMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<ThinkingEffort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tool<'a> {
    Function { function: Function<'a> },
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Cow<'a, Value>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named {
        #[serde(rename = "type")]
        kind: &'static str,
        function: Name<'a>,
    },
}

#[derive(Debug, Serialize)]
struct Name<'a> {
    name: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema { json_schema: Schema<'a> },
}

#[derive(Debug, Serialize)]
struct Schema<'a> {
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

pub(super) fn body<'a>(
    target: &'a ModelTarget,
    request: &'a ChatRequest,
    streamed: StreamMode,
) -> Result<OpenAiChatBody<'a>, ModelError> {
    let (dialect, limit) = (&target.dialect, request.max_output_tokens);
    let is_streamed = streamed == StreamMode::Yes;
    let effort = request.thinking.filter(|_| target.capabilities.thinking).map(ThinkingEffort::of);
    let temperature = request.temperature_milli.filter(|_| dialect.temperature);
    Ok(OpenAiChatBody {
        model: &target.model,
        messages: build_messages(target, request)?,
        tools: request.tools.iter().map(|spec| tool(spec)).collect(),
        tool_choice: tool_choice(request),
        max_completion_tokens: (dialect.output_limit == OutputLimit::MaxCompletionTokens).then_some(limit),
        max_tokens: (dialect.output_limit == OutputLimit::MaxTokens).then_some(limit),
        temperature: temperature.map(|milli| f64::from(milli) / 1000.0),
        stop: &request.stop,
        reasoning_effort: effort,
        response_format: build_response_format(target, request),
        stream: is_streamed,
        stream_options: (is_streamed && dialect.stream_usage)
            .then_some(StreamOptions { include_usage: true }),
    })
}

/// The target's own fields, and the end user's name under the name it has there.
pub(super) fn extra(target: &ModelTarget, request: &ChatRequest) -> Map<String, Value> {
    let mut extra = target.dialect.extra.clone();
    if let (Some(field), Some(user)) = (&target.dialect.user_field, &request.user) {
        extra.insert(field.clone(), Value::String(user.clone()));
    }
    extra
}

fn tool(spec: &munshi_types::tool::ToolSpec) -> Tool<'_> {
    let function = Function {
        name: spec.name.as_str(),
        description: &spec.description,
        parameters: spec.model_parameters(),
    };
    Tool::Function { function }
}

fn tool_choice(request: &ChatRequest) -> Option<Choice<'_>> {
    match &request.tool_choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::Any => Some(Choice::Word("required")),
        ToolChoice::None => Some(Choice::Word("none")),
        ToolChoice::Named(name) => Some(Choice::Named { kind: "function", function: Name { name } }),
    }
}

fn build_response_format<'a>(target: &ModelTarget, request: &'a ChatRequest) -> Option<Format<'a>> {
    let ReplyFormat::Json { name, schema } = &request.output else { return None };
    match target.dialect.json {
        JsonMode::Schema => {
            Some(Format::JsonSchema { json_schema: Schema { name, schema, strict: is_strict(schema) } })
        }
        JsonMode::Object => Some(Format::JsonObject),
        JsonMode::Tool | JsonMode::Words => None,
    }
}

/// Whether the schema is of the kind that can be kept to strictly: every object is closed and all its properties are
/// required. OpenAI refuses `strict` for any other.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_closed = match fields.get("properties").and_then(Value::as_object) {
                Some(properties) => {
                    let required = fields.get("required").and_then(Value::as_array);
                    let is_required = |name: &String| {
                        required.is_some_and(|names| names.iter().any(|other| other.as_str() == Some(name)))
                    };
                    fields.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(is_required)
                }
                None => fields.get("type").and_then(Value::as_str) != Some("object"),
            };
            is_closed && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strict_only_where_every_object_is_closed() {
        let inner = json!({"type": "object", "properties": {"a": {"type": "string"}},
            "required": ["a"], "additionalProperties": false});
        assert!(is_strict(&inner));
        let outer = |inner: Value| {
            json!({"type": "object", "properties": {"list": {"type": "array", "items": inner}},
            "required": ["list"], "additionalProperties": false})
        };
        assert!(is_strict(&outer(inner.clone())));
        assert!(!is_strict(&outer(json!({"type": "object"}))));
        let mut optional = inner;
        optional["required"] = json!([]);
        assert!(!is_strict(&outer(optional)));
    }
}
