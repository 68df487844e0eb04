//! What a connector's tool answered, as data.

use munshi_mcp::{CallToolResult, ContentBlock, FAILURE_META, McpCallError};
use munshi_tools::{EffectCertainty, ToolFailure, ToolOutput};
use munshi_types::Effect;
use serde_json::{Value, json};

/// The protocol's own words for a wrong call: nothing was done. Any other error may have come after the deed.
const INVALID_PARAMS: i32 = -32602;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_REQUEST: i32 = -32600;
const NOT_READ: i32 = -32700;
/// A revision, a capability or headers that do not fit.
const UNFIT: std::ops::RangeInclusive<i32> = -32022..=-32020;

/// A result, or why there is none, in words that say what to do.
pub(crate) fn to_tool_output(
    connector: &str,
    (effect, fails): (Effect, EffectCertainty),
    answered: Result<CallToolResult, McpCallError>,
) -> Result<ToolOutput, ToolFailure> {
    match answered {
        Ok(result) if result.is_error == Some(true) => Err(to_failure(&result, effect, fails)),
        Ok(result) => Ok(ToolOutput::new(extract_value(&result))),
        Err(McpCallError::Refused { code: INVALID_PARAMS, words }) => {
            Err(ToolFailure::permanent("bad_arguments", words))
        }
        Err(McpCallError::Refused { code: METHOD_NOT_FOUND, words }) => {
            Err(ToolFailure::permanent("unknown_tool", words))
        }
        Err(McpCallError::Refused { code: INVALID_REQUEST | NOT_READ, words }) => {
            Err(ToolFailure::permanent("tool_failed", words))
        }
        Err(McpCallError::Refused { code, words }) if UNFIT.contains(&code) => {
            Err(ToolFailure::permanent("tool_failed", words))
        }
        // Where repeating is harmless it may tell; a look that fails has failed.
        Err(McpCallError::Refused { words, .. }) => {
            Err(ToolFailure { retryable: effect.writes(), ..ToolFailure::uncertain("tool_failed", words) })
        }
        Err(McpCallError::NotIn) => Err(login_needed_failure(connector)),
        Err(McpCallError::NotSent(words)) => Err(ToolFailure::permanent(
            "login_not_renewed",
            format!(
                "the login at {connector} can't be renewed just now, so nothing was asked: {words}. Say so; it can be tried again later."
            ),
        )),
        Err(McpCallError::TooLong) => Err(ToolFailure {
            retryable: false,
            ..ToolFailure::uncertain(
                "too_long",
                format!(
                    "{connector} answered with more than can be read. Ask for less at once: a part, a page, fewer rows."
                ),
            )
        }),
        Err(McpCallError::Lost(words)) => Err(ToolFailure::uncertain(
            "connector_lost",
            format!("the connection to {connector} broke: {words}"),
        )),
    }
}

/// Nobody has logged in there, or no longer is.
pub(crate) fn login_needed_failure(connector: &str) -> ToolFailure {
    ToolFailure::permanent(
        munshi_tools::LOGIN_NEEDED,
        format!(
            "the service behind {connector} wants somebody to log in again. Say so: whoever runs this can do it with \
             `munshi connector login {connector}`."
        ),
    )
}

/// As the server says more of it. One that says nothing more may have failed after the deed, as where somebody behind it
/// was too slow for it: then it is as after an error of the protocol.
fn to_failure(result: &CallToolResult, effect: Effect, fails: EffectCertainty) -> ToolFailure {
    let about = result.meta.as_ref().and_then(|meta| meta.0.get(FAILURE_META));
    let is = |key: &str| about.and_then(|about| about.get(key)?.as_bool()).unwrap_or(false);
    let code = about.and_then(|about| about.get("code")?.as_str());
    // Whether somebody has to log in is for us to find out: whoever says so would be given what was approved once more.
    let code = code.filter(|code| *code != munshi_tools::LOGIN_NEEDED).unwrap_or("tool_failed");
    let (happened, retryable) = match about {
        Some(_) if is("maybe") => (EffectCertainty::Maybe, is("retryable")),
        Some(_) => (EffectCertainty::No, is("retryable")),
        None => (fails, effect.writes() && fails == EffectCertainty::Maybe),
    };
    ToolFailure { retryable, happened, ..ToolFailure::permanent(code, extract_text(result)) }
}

/// What is structured as it is; else its texts, with what can't be read named.
fn extract_value(result: &CallToolResult) -> Value {
    match &result.structured_content {
        Some(value) => value.clone(),
        None => match result.content.as_slice() {
            [ContentBlock::Text(one)] => match serde_json::from_str::<Value>(&one.text) {
                Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
                _ => json!({ "text": one.text }),
            },
            blocks => json!({ "content": blocks.iter().map(describe_block).collect::<Vec<_>>() }),
        },
    }
}

/// A picture or a sound is named and not passed on: the text of a prompt is no place for it.
fn describe_block(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::Text(text) => json!({ "text": text.text }),
        ContentBlock::Image(image) => json!({ "image": image.mime_type, "bytes": image.data.len() / 4 * 3 }),
        ContentBlock::Audio(audio) => json!({ "audio": audio.mime_type, "bytes": audio.data.len() / 4 * 3 }),
        other => match serde_json::to_value(other) {
            Ok(value) => describe_resource(&value),
            Err(_) => json!({ "unknown": true }),
        },
    }
}

fn describe_resource(value: &Value) -> Value {
    let inner = value.get("resource").unwrap_or(value);
    match inner.get("text") {
        Some(text) => json!({ "uri": inner["uri"], "text": text }),
        None => json!({ "uri": inner["uri"], "name": inner["name"], "kind": inner["mimeType"] }),
    }
}

fn extract_text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let words = texts.collect::<Vec<_>>().join("\n");
    match (words.is_empty(), &result.structured_content) {
        (false, _) => words,
        (true, Some(value)) => value.to_string(),
        (true, None) => "it failed, and said no more".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONCE: (Effect, EffectCertainty) = (Effect::Once, EffectCertainty::Maybe);

    fn result(value: Value) -> CallToolResult {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn answers_are_data_whatever_they_are_made_of() {
        for (given, told) in [
            (json!({ "content": [{ "type": "text", "text": "hello" }] }), json!({ "text": "hello" })),
            (json!({ "content": [{ "type": "text", "text": "{\"a\": 1}" }] }), json!({ "a": 1 })),
            (json!({ "content": [], "structuredContent": { "b": 2 } }), json!({ "b": 2 })),
            (
                json!({ "content": [{ "type": "image", "data": "AAAA", "mimeType": "image/png" },
                                    { "type": "resource", "resource": { "uri": "x:1", "text": "t" } }] }),
                json!({ "content": [{ "image": "image/png", "bytes": 3 }, { "uri": "x:1", "text": "t" }] }),
            ),
        ] {
            assert_eq!(to_tool_output("x", ONCE, Ok(result(given.clone()))).unwrap().value, told, "{given}");
        }
        let failed =
            result(json!({ "content": [{ "type": "text", "text": "no such file" }], "isError": true }));
        let failure = to_tool_output("x", ONCE, Ok(failed)).unwrap_err();
        assert_eq!((failure.code.as_str(), failure.detail.as_str()), ("tool_failed", "no such file"));
        assert_eq!(to_tool_output("x", ONCE, Err(McpCallError::TooLong)).unwrap_err().code, "too_long");
        let broke = result(json!({ "content": [{ "type": "text", "text": "HTTP 502" }], "isError": true,
            "_meta": { "munshi/failure": { "code": "service_failed", "retryable": true, "maybe": true } } }));
        let failure = to_tool_output("x", ONCE, Ok(broke)).unwrap_err();
        assert_eq!((failure.code.as_str(), failure.retryable), ("service_failed", true));
        assert_eq!(failure.happened, EffectCertainty::Maybe);
    }

    #[test]
    fn a_failed_write_is_sure_only_where_somebody_vouches_for_it() {
        let told = |meta: Value, effect, fails| {
            let text = json!([{ "type": "text", "text": "upstream timed out" }]);
            let failed = result(json!({ "content": text, "isError": true, "_meta": meta }));
            let failure = to_tool_output("x", (effect, fails), Ok(failed)).unwrap_err();
            (failure.happened, failure.retryable)
        };
        let (plain, ours) = (json!({}), |about: Value| json!({ "munshi/failure": about }));
        for effect in [Effect::Once, Effect::Keyed, Effect::Checked] {
            assert_eq!(told(plain.clone(), effect, EffectCertainty::Maybe), (EffectCertainty::Maybe, true));
            assert_eq!(
                told(plain.clone(), effect, EffectCertainty::No),
                (EffectCertainty::No, false),
                "all or nothing"
            );
            assert_eq!(
                told(ours(json!({ "code": "busy" })), effect, EffectCertainty::Maybe),
                (EffectCertainty::No, false)
            );
            assert_eq!(
                told(ours(json!({ "maybe": true })), effect, EffectCertainty::No),
                (EffectCertainty::Maybe, false)
            );
        }
        assert!(!told(plain, Effect::Read, EffectCertainty::Maybe).1, "a look that fails has failed");
    }

    #[test]
    fn only_a_call_that_was_not_understood_surely_did_nothing() {
        let told = |code: i32, effect| {
            let refused = McpCallError::Refused { code, words: "no".to_owned() };
            let failure = to_tool_output("x", (effect, EffectCertainty::Maybe), Err(refused)).unwrap_err();
            (failure.happened, failure.retryable)
        };
        for code in [-32700, -32602, -32601, -32600, -32022, -32020] {
            assert_eq!(told(code, Effect::Once), (EffectCertainty::No, false), "{code}");
        }
        for code in [-32603, -32000, -32042, 1, 500] {
            assert_eq!(told(code, Effect::Once), (EffectCertainty::Maybe, true), "{code}");
            assert!(!told(code, Effect::Read).1, "{code}");
        }
    }
}
