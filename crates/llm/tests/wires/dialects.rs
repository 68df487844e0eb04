//! Servers that differ from the documentation, by what the target's configuration says about them.

use munshi_llm::chat::{StopReason, ThinkingBudget, TokenUsage};
use munshi_llm::dialect::{JsonMode, KeyHeader, OutputLimit, ThinkingMode};
use munshi_llm::provider::Provider;
use munshi_llm::{ChatEvent, ChatMessage, ChatReply, ChatRequest, ModelError, ModelMessagePart, ModelTarget};
use munshi_test_support::model_server::{
    FakeModelAnswer, FakeModelStep, Fixture, FixtureDelivery, ModelServer,
};
use serde_json::{Value, json};

use crate::wires::scene::{hear, request, server, target, wires};

/// What a target with this dialect sends for the request.
async fn sent(wire: &str, name: &str, change: impl FnOnce(&mut ModelTarget)) -> Value {
    let server = server(wire).await;
    let mut target = target(wire, &server.url());
    change(&mut target);
    server.enqueue_answer(Fixture::load(wire, name).answer(FixtureDelivery::Whole));
    let _reply = wires().complete(&target, &request(wire, name)).await;
    serde_json::from_slice(&server.requests()[0].body).unwrap()
}

fn chunks(chunks: &[Value]) -> Vec<FakeModelStep> {
    let text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    vec![FakeModelStep::Send(text.into_bytes())]
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

async fn streamed(steps: Vec<FakeModelStep>) -> Result<ChatReply, ModelError> {
    let server = ModelServer::start(Vec::new()).await;
    server.enqueue_answer(FakeModelAnswer::stream(steps));
    let heard = hear(&wires(), &target("openai", &server.url()), &request("openai", "text")).await;
    let mut assembler = munshi_llm::chat::ModelReplyAssembler::default();
    heard.events.iter().try_for_each(|event| assembler.push(event))?;
    heard.fault.map_or_else(|| assembler.finish(), Err)
}

#[tokio::test]
async fn keys_and_addresses() {
    let cases = [
        ("anthropic", KeyHeader::AsDocumented, "x-api-key", "sk-test-key"),
        ("anthropic", KeyHeader::Bearer, "authorization", "Bearer sk-test-key"),
        ("openai", KeyHeader::AsDocumented, "authorization", "Bearer sk-test-key"),
        ("openai", KeyHeader::Header("api-key".to_owned()), "api-key", "sk-test-key"),
        ("gemini", KeyHeader::AsDocumented, "x-goog-api-key", "sk-test-key"),
    ];
    for (wire, place, header, value) in cases {
        let server = server(wire).await;
        let mut target = target(wire, &server.url());
        target.base_url.push('/');
        target.dialect.key = place;
        target.dialect.query = vec![("api-version".to_owned(), "2024-10-21".to_owned())];
        target.headers = vec![("x-title".to_owned(), "Munshi".to_owned())];
        wires().complete(&target, &request(wire, "text")).await.unwrap();
        let asked = &server.requests()[0];
        assert_eq!(asked.header(header), Some(value), "{wire}");
        assert_eq!(asked.header("x-title"), Some("Munshi"));
        assert!(asked.path.ends_with("?api-version=2024-10-21"), "{}", asked.path);
        let keys = asked.headers.iter().filter(|(_, value)| value.contains("sk-test-key")).count();
        assert_eq!(keys, 1, "the key goes in one header");
    }
}

#[tokio::test]
async fn fields_that_a_server_does_not_know_are_left_out() {
    let body = sent("openai", "text", |target| {
        target.dialect.output_limit = OutputLimit::MaxTokens;
        target.dialect.stream_usage = false;
        target.dialect.temperature = false;
        target.dialect.user_field = None;
    })
    .await;
    let mut names: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["max_tokens", "messages", "model", "stop", "stream"]);
    let body = sent("openai", "text", |target| {
        target.dialect.extra.insert("service_tier".to_owned(), json!("flex"));
        target.dialect.extra.insert("temperature".to_owned(), json!(1));
    })
    .await;
    assert_eq!((&body["service_tier"], &body["temperature"]), (&json!("flex"), &json!(1)));
    let body = sent("openai", "tools", |target| target.capabilities.thinking = false).await;
    assert_eq!(body.get("reasoning_effort"), None);
}

#[tokio::test]
async fn thinking_said_in_words_or_tokens() {
    let effort = |target: &mut ModelTarget| target.dialect.thinking = ThinkingMode::Effort;
    let body = sent("anthropic", "tools", effort).await;
    assert_eq!(
        (&body["thinking"], &body["output_config"]),
        (&json!({"type": "adaptive"}), &json!({"effort": "low"}))
    );
    let body = sent("gemini", "tools", effort).await;
    let config = json!({"includeThoughts": true, "thinkingLevel": "low"});
    assert_eq!(body["generationConfig"]["thinkingConfig"], config);
    let returned =
        |target: &mut ModelTarget| target.dialect.thinking_field = Some("reasoning_content".to_owned());
    let body = sent("openai", "tools", returned).await;
    assert_eq!(body["messages"][2]["reasoning_content"], "I should look.");
}

#[tokio::test]
async fn another_providers_signatures_stay_home() {
    let foreign = request("gemini", "tools");
    let server = server("anthropic").await;
    server.enqueue_answer(Fixture::load("anthropic", "text").answer(FixtureDelivery::Whole));
    wires().complete(&target("anthropic", &server.url()), &foreign).await.unwrap();
    let body: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    let kinds: Vec<_> =
        body["messages"][1]["content"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(kinds, ["redacted_thinking", "text", "tool_use"], "Gemini's signed thought is left out");

    let body = sent("gemini", "tools", |target| {
        target.dialect.unsigned_call = Some("skip_thought_signature_validator".to_owned());
    })
    .await;
    assert_eq!(body["contents"][1]["parts"][1]["thoughtSignature"], "skip_thought_signature_validator");
}

#[tokio::test]
async fn json_by_a_tool_by_a_promise_or_by_words() {
    let body = sent("openai", "json", |target| target.dialect.json = JsonMode::Object).await;
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("\"mango\""));
    let body = sent("gemini", "json", |target| target.dialect.json = JsonMode::Words).await;
    assert_eq!(body["generationConfig"].get("responseMimeType"), None);

    let server = server("anthropic").await;
    let mut target = target("anthropic", &server.url());
    target.dialect.json = JsonMode::Tool;
    let content = json!([{"type": "text", "text": "Here:"},
        {"type": "tool_use", "id": "t", "name": "give_answer", "input": {"fruit": "mango"}}]);
    let answer = json!({"model": "m", "content": content, "stop_reason": "tool_use", "usage": {}});
    server.enqueue_answer(FakeModelAnswer::json(200, &answer));
    let asked = ChatRequest {
        thinking: Some(ThinkingBudget { budget_tokens: 1024 }),
        ..request("anthropic", "json")
    };
    let reply = wires().complete(&target, &asked).await.unwrap();
    assert_eq!((reply.text().as_str(), reply.stop), ("{\"fruit\":\"mango\"}", StopReason::EndTurn));
    assert!(reply.usage.estimated, "nothing was counted, so nothing is claimed");
    let body: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "give_answer"}));
    assert_eq!((body.get("thinking"), body.get("output_config")), (None, None));
}

#[tokio::test]
async fn servers_that_count_elsewhere_or_not_at_all() {
    let said = || vec![chunk(&json!({"content": "Hi"}), None), chunk(&json!({}), Some("stop"))];
    let uncounted = streamed([chunks(&said()), vec![FakeModelStep::End]].concat()).await.unwrap();
    assert_eq!(uncounted.usage, TokenUsage { estimated: true, ..TokenUsage::default() });
    assert_eq!(uncounted.text(), "Hi");
    let with_last = |fields: Value| {
        let mut said = said();
        let last = said[1].as_object_mut().unwrap();
        last.extend(fields.as_object().unwrap().clone());
        chunks(&said)
    };
    let counts = json!({"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 4});
    for place in [json!({"usage": counts}), json!({"x_groq": {"id": "r", "usage": counts}})] {
        let reply = streamed([with_last(place), vec![FakeModelStep::End]].concat()).await.unwrap();
        assert_eq!(reply.usage, TokenUsage { input: 5, output: 2, cache_read: 4, ..TokenUsage::default() });
    }
}

#[tokio::test]
async fn azures_first_chunk_names_nothing() {
    let first = json!({"id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]});
    let said = [first, chunk(&json!({"content": "Hi"}), None), chunk(&json!({}), Some("stop"))];
    let reply = streamed([chunks(&said), vec![FakeModelStep::End]].concat()).await.unwrap();
    assert_eq!((reply.text().as_str(), reply.model, reply.request_id), ("Hi", None, None));
}

#[tokio::test]
async fn a_last_word_without_an_end_is_no_end() {
    let steps = vec![FakeModelStep::Send(b"data: [DONE]\n\n".to_vec()), FakeModelStep::End];
    let half = chunks(&[chunk(&json!({"content": "Hal"}), None)]);
    assert_eq!(streamed([half, steps].concat()).await, Err(ModelError::Interrupted));
}

#[tokio::test]
async fn thinking_and_calls_as_compatible_servers_send_them() {
    let call = |id: &str, arguments: Value| json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": id, "arguments": arguments}}]});
    let steps = chunks(&[
        chunk(&json!({"reasoning_content": "Hm"}), None),
        chunk(&json!({"reasoning": "."}), None),
        chunk(&call("first", json!("{\"a\":1}")), None),
        chunk(&call("second", json!({"b": 2})), None),
        chunk(&json!({"tool_calls": [{"function": {"name": "third", "arguments": "{}"}, "index": 5}]}), None),
        chunk(&json!({}), Some("stop")),
    ]);
    let reply = streamed([steps, vec![FakeModelStep::End]].concat()).await.unwrap();
    assert_eq!(
        reply.message.parts[0],
        ModelMessagePart::Thinking { text: "Hm.".to_owned(), signature: None }
    );
    let calls: Vec<_> =
        reply.tool_calls().map(|call| (call.id.as_str(), call.arguments.to_string())).collect();
    let expected = [("first", "{\"a\":1}"), ("second", "{\"b\":2}"), ("c1_2", "{}")];
    assert_eq!(calls, expected.map(|(id, arguments)| (id, arguments.to_owned())));
    assert_eq!(reply.stop, StopReason::ToolUse);
}

#[tokio::test]
async fn calls_gemini_could_not_write_are_malformed() {
    let server = server("gemini").await;
    let answer = json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "x("}]});
    server.enqueue_answer(FakeModelAnswer::json(200, &answer));
    let outcome = wires().complete(&target("gemini", &server.url()), &request("gemini", "text")).await;
    assert_eq!(
        outcome,
        Err(ModelError::MalformedArguments { tool: "a tool".to_owned(), text: "x(".to_owned() })
    );
    for reason in ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"] {
        server.enqueue_answer(FakeModelAnswer::json(200, &json!({"candidates": [{"finishReason": reason}]})));
        let reply = wires().complete(&target("gemini", &server.url()), &request("gemini", "text")).await;
        assert_eq!(reply.unwrap().stop, StopReason::Refused);
    }
}

#[tokio::test]
async fn events_are_handed_out_as_they_come() {
    let server = ModelServer::start(Vec::new()).await;
    let steps = [chunks(&[chunk(&json!({"content": "one"}), None)]), vec![FakeModelStep::Hang]].concat();
    server.enqueue_answer(FakeModelAnswer::stream(steps));
    let request = ChatRequest { messages: vec![ChatMessage::user("Hi")], ..ChatRequest::default() };
    let target = target("openai", &server.url());
    let mut stream = wires().stream(&target, &request).await.unwrap();
    let started = munshi_llm::provider::next_event(&mut stream).await.unwrap().unwrap();
    assert!(matches!(started, ChatEvent::Started { .. }));
    let text = munshi_llm::provider::next_event(&mut stream).await.unwrap().unwrap();
    assert_eq!(text, ChatEvent::Text("one".to_owned()));
}
