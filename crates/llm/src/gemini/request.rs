//! A request as `generateContent` wants it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::contents::{GeminiContent, GeminiPartData, contents, unsigned_part};
use crate::chat::{ChatRequest, ReplyFormat, ToolChoice};
use crate::dialect::{JsonMode, ThinkingMode};
use crate::effort::ThinkingEffort;
use crate::error::ModelError;
use crate::target::ModelTarget;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<GeminiContent<'a>>,
    contents: Vec<GeminiContent<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    generation_config: Generation<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Function<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: Cow<'a, Value>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: Calling<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Calling<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_function_names: Option<[&'a str; 1]>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation<'a> {
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Thinking>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Thinking {
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<ThinkingEffort>,
}

pub(super) fn body<'a>(
    target: &'a ModelTarget,
    request: &'a ChatRequest,
) -> Result<GeminiRequest<'a>, ModelError> {
    Ok(GeminiRequest {
        system_instruction: system(request),
        contents: contents(target, request),
        tools: tools(request),
        tool_config: tool_config(request),
        generation_config: generation(target, request),
    })
}

fn system(request: &ChatRequest) -> Option<GeminiContent<'_>> {
    let texts = request.system.iter().filter(|text| !text.is_empty());
    let parts: Vec<_> = texts.map(|text| unsigned_part(GeminiPartData::Text(text))).collect();
    (!parts.is_empty()).then_some(GeminiContent { role: None, parts })
}

fn tools(request: &ChatRequest) -> Vec<Tools<'_>> {
    let functions: Vec<_> = request
        .tools
        .iter()
        .map(|spec| Function {
            name: spec.name.as_str(),
            description: &spec.description,
            parameters_json_schema: spec.model_parameters(),
        })
        .collect();
    if functions.is_empty() { Vec::new() } else { vec![Tools { function_declarations: functions }] }
}

fn tool_config(request: &ChatRequest) -> Option<ToolConfig<'_>> {
    let (mode, allowed_function_names) = match &request.tool_choice {
        _ if request.tools.is_empty() => return None,
        ToolChoice::Auto => return None,
        ToolChoice::Any => ("ANY", None),
        ToolChoice::None => ("NONE", None),
        ToolChoice::Named(name) => ("ANY", Some([name.as_str()])),
    };
    Some(ToolConfig { function_calling_config: Calling { mode, allowed_function_names } })
}

fn generation<'a>(target: &ModelTarget, request: &'a ChatRequest) -> Generation<'a> {
    let schema = match &request.output {
        ReplyFormat::Json { schema, .. } => Some(schema),
        ReplyFormat::Text => None,
    };
    let mode = target.dialect.json;
    let is_json = schema.is_some() && matches!(mode, JsonMode::Schema | JsonMode::Object);
    let temperature = request.temperature_milli.filter(|_| target.dialect.temperature);
    Generation {
        max_output_tokens: request.max_output_tokens,
        temperature: temperature.map(|milli| f64::from(milli) / 1000.0),
        stop_sequences: &request.stop,
        response_mime_type: is_json.then_some("application/json"),
        response_json_schema: schema.filter(|_| mode == JsonMode::Schema),
        thinking_config: thinking(target, request),
    }
}

fn thinking(target: &ModelTarget, request: &ChatRequest) -> Option<Thinking> {
    let wanted = request.thinking.filter(|_| target.capabilities.thinking)?;
    let (thinking_budget, thinking_level) = match target.dialect.thinking {
        ThinkingMode::Budget => (Some(wanted.budget_tokens), None),
        ThinkingMode::Effort => (None, Some(ThinkingEffort::of(wanted))),
    };
    Some(Thinking { include_thoughts: true, thinking_budget, thinking_level })
}
