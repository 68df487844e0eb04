//! Whatever comes, it answers: no text, state or result makes it panic, and rubbish makes it call nothing.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

use crate::shop;
use std::sync::{Arc, OnceLock};

use munshi_lang::Phrasebook;
use munshi_llm::chat::ToolResult;
use munshi_llm::provider::Provider;
use munshi_llm::{ChatMessage, ChatReply, ChatRequest, ModelMessagePart, ModelRole, ModelTarget};
use munshi_offline::OfflineProvider;
use munshi_types::tool::ToolSpec;
use proptest::prelude::*;

fn offline() -> &'static (OfflineProvider, Vec<Arc<ToolSpec>>) {
    static OFFLINE: OnceLock<(OfflineProvider, Vec<Arc<ToolSpec>>)> = OnceLock::new();
    OFFLINE.get_or_init(|| (OfflineProvider::new(Phrasebook::core().unwrap()).unwrap(), shop::tools()))
}

fn answer(messages: Vec<ChatMessage>) -> ChatReply {
    let (offline, tools) = offline();
    let request = ChatRequest { messages, tools: tools.clone(), ..ChatRequest::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(offline.complete(&ModelTarget::offline(), &request)).unwrap()
}

fn asked(state: &str) -> ChatMessage {
    let parts = vec![
        ModelMessagePart::Text { text: "?".to_owned() },
        ModelMessagePart::State { data: state.to_owned() },
    ];
    ChatMessage { role: ModelRole::Assistant, parts }
}

/// Words of real sentences in any order, with numbers and signs between.
fn salad() -> impl Strategy<Value = String> {
    let words = [
        "Ramesh",
        "ko",
        "ne",
        "se",
        "500",
        "udhaar",
        "diya",
        "nahi",
        "aur",
        "?",
        ",",
        "రమేష్",
        "కి",
        "ఇచ్చాను",
        "paid",
        "to",
        "का",
        "कितना",
        "बाकी",
        "{person}",
        "₹",
        "kilo",
        "2.5k",
        "கடன்",
        "-",
        "\u{200D}",
        "do",
        "lakh",
        "पचास",
        "kal",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..14)
        .prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        answer(vec![ChatMessage::user(text)]);
    }

    #[test]
    fn no_order_of_words_panics(first in salad(), second in salad()) {
        let reply = answer(vec![ChatMessage::user(first.clone())]);
        answer(vec![ChatMessage::user(first), reply.message, ChatMessage::user(second)]);
    }

    #[test]
    fn no_state_panics(state in "\\PC{0,200}", text in salad()) {
        answer(vec![ChatMessage::user("hi"), asked(&state), ChatMessage::user(text)]);
    }

    #[test]
    fn no_result_panics(content in "\\PC{0,120}", name in "[a-z_]{0,12}") {
        let result = ToolResult { call_id: "1".to_owned(), name, content, is_error: false };
        answer(vec![ChatMessage::user("hi"), ChatMessage { role: ModelRole::User, parts: vec![ModelMessagePart::ToolResult(result)] }]);
    }
}

#[test]
fn garbage_state_is_as_if_it_were_not_there() {
    let plain = answer(vec![ChatMessage::user("hi"), ChatMessage::assistant("?"), ChatMessage::user("500")]);
    for state in [
        "",
        "{}",
        "null",
        "garbage",
        r#"{"offline":1}"#,
        r#"{"offline":9,"wants":"go_ahead","tools":["pay"],"arguments":{},"voice":"hi","tries":0}"#,
        r#"{"offline":1,"wants":"go_ahead","tools":["no_such_tool"],"arguments":{},"voice":"hi","tries":0}"#,
        r#"{"offline":1,"wants":{"field":{"name":"amount","choices":[]}},"tools":[],"arguments":{},"voice":"","tries":0}"#,
    ] {
        let reply = answer(vec![ChatMessage::user("hi"), asked(state), ChatMessage::user("500")]);
        assert_eq!(reply.text(), plain.text(), "{state}");
    }
}

#[test]
fn a_very_long_message_is_still_answered() {
    let reply = answer(vec![ChatMessage::user("Ramesh ko 500 udhaar diya ".repeat(2_000))]);
    assert!(!reply.text().is_empty() || reply.tool_calls().next().is_some());
}
