//! Models without a wire, for whatever talks to a [`Provider`](munshi_llm::Provider).
//!
//! - [`scripted`]: says exactly what it was told to, turn by turn, and remembers what it was asked
//! - [`faulty`]: another model behind a bad line; the same seed breaks the same calls
//! - [`hostile`]: models that try what must not work
//!
//! To add a kind of malice, add a variant to [`HostileModel`]; to add a kind of failure, one to [`InjectedFault`].

pub mod faulty;
pub mod hostile;
pub mod scripted;

pub use faulty::{FaultyModel, InjectedFault};
pub use hostile::HostileModel;
pub use scripted::{ScriptGate, ScriptedCall, ScriptedModel, ScriptedTurn};

use munshi_llm::{ChatEvent, StopReason, TokenUsage};
use serde_json::Value;

/// What these models say they used for each answer.
pub const USED: TokenUsage = TokenUsage {
    input: 10,
    output: 5,
    cache_read: 0,
    cache_write_5m: 0,
    cache_write_1h: 0,
    thinking: 0,
    estimated: false,
};

/// The events of a whole answer in words.
pub fn build_text_events(text: &str) -> Vec<ChatEvent> {
    vec![started(), ChatEvent::Text(text.to_owned()), finished(StopReason::EndTurn)]
}

/// The events of a call of one tool.
pub fn build_call_events(tool: &str, arguments: &Value) -> Vec<ChatEvent> {
    build_raw_call_events(tool, &arguments.to_string())
}

/// As [`build_call_events`], with arguments that need not be JSON.
pub fn build_raw_call_events(tool: &str, arguments: &str) -> Vec<ChatEvent> {
    vec![
        started(),
        ChatEvent::ToolCallStarted { index: 0, id: "call-0".to_owned(), name: tool.to_owned() },
        ChatEvent::ToolCallArguments { index: 0, fragment: arguments.to_owned() },
        finished(StopReason::ToolUse),
    ]
}

/// The events of calls of several tools at once.
pub fn build_calls_events<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Vec<ChatEvent> {
    let called = calls.into_iter().zip(0..).flat_map(|((tool, arguments), index)| {
        let (id, name) = (format!("call-{index}"), tool.to_owned());
        let fragment = arguments.to_string();
        [ChatEvent::ToolCallStarted { index, id, name }, ChatEvent::ToolCallArguments { index, fragment }]
    });
    std::iter::once(started()).chain(called).chain([finished(StopReason::ToolUse)]).collect()
}

fn started() -> ChatEvent {
    ChatEvent::Started { request_id: None, model: None }
}

fn finished(stop: StopReason) -> ChatEvent {
    ChatEvent::Finished { stop, usage: USED }
}
