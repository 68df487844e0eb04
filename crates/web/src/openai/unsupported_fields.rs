//! What of a request is not done: refused where the answer would be another than was asked for, and otherwise named.

use serde_json::Value;

use super::errors::CompletionRefusal;
use super::request::CompletionRequest;

/// Refused unless they say what is so anyway.
type Harmless = fn(&Value) -> bool;

const REFUSED: &[(&str, Harmless, &str)] = &[
    ("stop", is_nothing, "`stop` is not supported. Omit it and truncate the text yourself."),
    (
        "response_format",
        is_text,
        "`response_format` supports only text. Omit it; for structured data, define a tool with that schema.",
    ),
    ("logprobs", is_nothing, "`logprobs` is not supported. Omit it."),
    ("top_logprobs", is_nothing, "`top_logprobs` is not supported. Omit it."),
    ("logit_bias", is_nothing, "`logit_bias` is not supported. Omit it."),
    ("modalities", is_text_only, "`modalities` supports only text. Omit it."),
    ("audio", is_nothing, "`audio` is not supported. Omit it."),
    ("functions", is_nothing, "`functions` is deprecated and not supported. Use `tools`."),
    ("function_call", is_nothing, "`function_call` is deprecated and not supported. Use `tool_choice`."),
    (
        "web_search_options",
        is_nothing,
        "`web_search_options` is not supported; a binding searches with its own tools. Omit it.",
    ),
];

/// The names of fields that have no effect here.
pub(crate) fn check(request: &CompletionRequest) -> Result<Vec<String>, CompletionRefusal> {
    if request.n.is_some_and(|n| n != 1) {
        let message = "`n` must be 1 or omitted.";
        return Err(CompletionRefusal::unsupported("n", message).code("unsupported_value"));
    }
    if request.stream_options.is_some() && request.stream != Some(true) {
        let message = "`stream_options` requires `stream: true`.";
        return Err(CompletionRefusal::invalid_param("stream_options", message));
    }
    for (name, value) in
        [("max_tokens", request.max_tokens), ("max_completion_tokens", request.max_completion_tokens)]
    {
        if value == Some(0) {
            return Err(CompletionRefusal::invalid_param(name, format!("`{name}` must be at least 1.")));
        }
    }
    for (name, is_harmless, message) in REFUSED {
        if request.rest.get(*name).is_some_and(|value| !is_harmless(value)) {
            return Err(CompletionRefusal::unsupported(*name, *message));
        }
    }
    let is_said = |(_, value): &(&String, &Value)| !is_nothing(value);
    let known = |name: &str| REFUSED.iter().any(|(refused, ..)| *refused == name);
    Ok(request
        .rest
        .iter()
        .filter(is_said)
        .map(|(name, _)| name)
        .filter(|name| !known(name))
        .cloned()
        .collect())
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(_) | Value::Number(_) | Value::Bool(true) => false,
    }
}

fn is_text(value: &Value) -> bool {
    is_nothing(value) || value["type"] == "text"
}

fn is_text_only(value: &Value) -> bool {
    is_nothing(value) || value.as_array().is_some_and(|all| all.iter().all(|one| one == "text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(more: &Value) -> Result<Vec<String>, CompletionRefusal> {
        let mut body = json!({ "model": "counter", "messages": [] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        check(&serde_json::from_value(body).unwrap())
    }

    #[test]
    fn what_would_change_the_answer_is_refused_by_name() {
        for (field, value) in [
            ("n", json!(2)),
            ("stop", json!(["x"])),
            ("response_format", json!({ "type": "json_object" })),
            ("logprobs", json!(true)),
            ("modalities", json!(["text", "audio"])),
            ("functions", json!([{ "name": "x" }])),
            ("max_tokens", json!(0)),
        ] {
            let refusal = checked(&json!({ field: value })).unwrap_err().body();
            assert_eq!(refusal.error.param.as_deref(), Some(field));
        }
    }

    #[test]
    fn what_says_nothing_passes_and_what_has_no_effect_is_named() {
        let harmless = json!({ "n": 1, "stop": null, "logprobs": false, "response_format": { "type": "text" },
            "modalities": ["text"], "logit_bias": {}, "max_tokens": 5 });
        assert!(checked(&harmless).unwrap().is_empty());
        let ignored = checked(&json!({ "temperature": 0.2, "seed": 7, "top_p": null })).unwrap();
        assert_eq!(ignored, ["seed", "temperature"]);
    }
}
