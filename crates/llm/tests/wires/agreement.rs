//! What is asked is what the providers document, to the byte; what they answer means the same whole and streamed.

use munshi_llm::chat::{StopReason, TokenUsage};
use munshi_llm::provider::Provider;
use munshi_llm::{ChatReply, ModelMessagePart, ToolCall};
use munshi_test_support::model_server::{FakeModelStep, Fixture};
use serde_json::json;

use crate::wires::scene::{WIRES, cut, hear, request, server, target, wires};

/// Asks both ways, requires that both say the same, and gives what they said.
async fn ask(wire: &str, name: &str) -> ChatReply {
    let server = server(wire).await;
    let (wires, target, request) = (wires(), target(wire, &server.url()), request(wire, name));
    let whole = wires.complete(&target, &request).await;
    let streamed = wires.stream(&target, &request).await;
    assert_eq!(server.unmatched_requests(), Vec::<String>::new());
    let mut assembler = munshi_llm::chat::ModelReplyAssembler::default();
    let mut streamed = streamed.unwrap();
    while let Some(event) = munshi_llm::provider::next_event(&mut streamed).await {
        assembler.push(&event.unwrap()).unwrap();
    }
    let (whole, streamed) = (whole.unwrap(), assembler.finish().unwrap());
    assert_eq!(whole, streamed, "{wire} {name}");
    whole
}

fn text(text: &str) -> ModelMessagePart {
    ModelMessagePart::Text { text: text.to_owned() }
}

fn call(id: &str, name: &str, arguments: serde_json::Value) -> ModelMessagePart {
    ModelMessagePart::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments })
}

#[tokio::test]
async fn plain_text_with_its_count() {
    for wire in WIRES {
        let reply = ask(wire, "text").await;
        assert_eq!(reply.message.parts, [text("Ramesh का ₹500 बाकी है 🛒.")]);
        let is_cached = wire != "anthropic";
        let usage = TokenUsage {
            input: 41,
            output: 19,
            cache_read: if is_cached { 2000 } else { 0 },
            ..TokenUsage::default()
        };
        assert_eq!(reply.usage, usage, "{wire}");
        // Only one of the three tells which of the two ends it was.
        let stop = if wire == "anthropic" { StopReason::StopSequence } else { StopReason::EndTurn };
        assert_eq!(reply.stop, stop, "{wire}");
        let (id, model) = match wire {
            "anthropic" => ("req_018EeWyXxfu5pfWkrYcMdjWG", "claude-sonnet-4-5"),
            "openai" => ("req_7d3c2f", "gpt-5-mini-2025-08-07"),
            _ => ("rA1", "gemini-2.5-flash"),
        };
        assert_eq!((reply.request_id.as_deref(), reply.model.as_deref()), (Some(id), Some(model)));
        let remaining = reply.limits.requests.and_then(|requests| requests.remaining);
        assert_eq!(remaining, [Some(49), Some(59), None][WIRES.iter().position(|it| *it == wire).unwrap()]);
    }
}

#[tokio::test]
async fn thinking_and_two_tool_calls_at_once() {
    let thought = |text: &str, signature: Option<&str>| ModelMessagePart::Thinking {
        text: text.to_owned(),
        signature: signature.map(str::to_owned),
    };
    let calls = |first: &str, second: &str| {
        [
            call(first, "balance", json!({"name": "Ramesh chai"})),
            call(second, "log_sale", json!({"item": "chai", "amount": 20})),
        ]
    };
    let cases = [
        (
            "anthropic",
            vec![
                thought("Two calls are needed.", Some("anthropic:EuYBCkQYAiJA")),
                ModelMessagePart::SealedThinking { data: "anthropic:EvAFCoYBGAIi".to_owned() },
                text("Looking again."),
            ],
            calls("toolu_02", "toolu_03"),
            TokenUsage {
                input: 12,
                output: 120,
                cache_read: 2000,
                cache_write_5m: 100,
                cache_write_1h: 200,
                thinking: 33,
                estimated: false,
            },
        ),
        (
            "openai",
            vec![text("Looking again.")],
            calls("call_02", "call_03"),
            TokenUsage { input: 212, output: 120, thinking: 64, ..TokenUsage::default() },
        ),
        (
            "gemini",
            vec![
                thought("Two calls are needed.", None),
                text("Looking again."),
                thought("", Some("gemini:CpwCAVSoXO6yQ")),
            ],
            calls("fc_02", "fc_03"),
            TokenUsage { input: 212, output: 120, thinking: 64, ..TokenUsage::default() },
        ),
    ];
    for (wire, mut parts, calls, usage) in cases {
        let reply = ask(wire, "tools").await;
        parts.extend(calls);
        assert_eq!(reply.message.parts, parts, "{wire}");
        assert_eq!((reply.stop, reply.usage), (StopReason::ToolUse, usage), "{wire}");
    }
}

#[tokio::test]
async fn json_media_and_refusals() {
    for wire in WIRES {
        let reply = ask(wire, "json").await;
        assert_eq!((reply.text().as_str(), reply.stop), ("{\"fruit\": \"mango\"}", StopReason::EndTurn));

        let reply = ask(wire, "media").await;
        let id = ["toolu_04", "call_04", "rD1_0"][WIRES.iter().position(|it| *it == wire).unwrap()];
        assert_eq!(reply.message.parts, [call(id, "log_sale", json!({"item": "chai", "amount": 20}))]);
        assert_eq!(reply.stop, StopReason::ToolUse, "{wire}");

        let reply = ask(wire, "refused").await;
        assert_eq!(reply.stop, StopReason::Refused, "{wire}");
        assert_eq!(reply.text(), if wire == "gemini" { "" } else { "I can't help" });
    }
}

#[tokio::test]
async fn embeddings_come_in_the_order_of_the_texts() {
    for (wire, model, tokens) in
        [("openai", "text-embedding-3-small", Some(5)), ("gemini", "gemini-embedding-001", None)]
    {
        let server = server(wire).await;
        let mut target = target(wire, &server.url());
        target.model = model.to_owned();
        let texts = ["chai".to_owned(), "दूध".to_owned()];
        let embedding = wires().embed(&target, &texts).await;
        assert_eq!(server.unmatched_requests(), Vec::<String>::new());
        let embedding = embedding.unwrap();
        assert_eq!(embedding.vectors, [[0.5, 0.125, -0.75], [0.25, -1.0, 0.5]]);
        assert_eq!((embedding.dimension, embedding.input_tokens), (3, tokens));
    }
}

#[tokio::test]
async fn one_byte_at_a_time_is_the_same_answer() {
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, target, request) = (wires(), target(wire, &server.url()), request(wire, "text"));
        let fixture = Fixture::load(wire, "text");
        let drip = fixture
            .stream
            .iter()
            .map(|byte| FakeModelStep::Send(vec![*byte]))
            .chain([FakeModelStep::End])
            .collect();
        let whole = hear(&wires, &target, &request).await;
        cut(&server, &fixture, 0, drip);
        let dripped = hear(&wires, &target, &request).await;
        assert_eq!(dripped.events, whole.events);
        assert!(dripped.is_finished());
    }
}

#[tokio::test]
async fn a_connection_serves_many_calls() {
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, target, request) = (wires(), target(wire, &server.url()), request(wire, "text"));
        for _ in 0..5 {
            wires.complete(&target, &request).await.unwrap();
            assert!(hear(&wires, &target, &request).await.is_finished());
        }
        let seen = server.stats();
        // A second one may be opened while the first is on its way back.
        assert!(seen.requests == 10 && seen.connections <= 2 && seen.hung_up == 0, "{wire}: {seen:?}");
    }
}
