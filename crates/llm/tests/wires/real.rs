//! A real model, small but real: llama.cpp's server on loopback, on both wires it speaks.

use munshi_llm::chat::{ReplyFormat, StopReason};
use munshi_llm::dialect::OutputLimit;
use munshi_llm::provider::{self, Provider};
use munshi_llm::{ChatEvent, ChatMessage, ChatRequest, ModelTarget, WireFormat};
use munshi_test_support::environment;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::wires::scene::{PATIENCE, fruit, hear, wires};

fn target(wire: WireFormat) -> ModelTarget {
    let mut target = ModelTarget::new("real", wire, format!("{}/v1", environment::model()), "smollm2");
    target.timeouts = crate::wires::scene::target("openai", "").timeouts;
    target.dialect.output_limit = OutputLimit::MaxTokens;
    target
}

fn request(text: &str, max_output_tokens: u32) -> ChatRequest {
    let messages = vec![ChatMessage::user(text)];
    ChatRequest { messages, max_output_tokens, temperature_milli: Some(0), ..ChatRequest::default() }
}

#[tokio::test]
async fn streamed_and_whole_say_the_same_and_count() {
    let mut texts = Vec::new();
    for wire in [WireFormat::OpenAi, WireFormat::Anthropic] {
        let (wires, target, request) = (wires(), target(wire), request("Count: one, two, three,", 8));
        let heard = hear(&wires, &target, &request).await;
        let Some(ChatEvent::Finished { stop, usage }) = heard.events.last() else {
            panic!("{:?}", heard.fault)
        };
        assert_eq!(*stop, StopReason::MaxTokens);
        assert_eq!((usage.output, usage.estimated), (8, false));
        assert!(usage.input + usage.cache_read > 8, "{usage:?}");
        let whole = wires.complete(&target, &request).await.unwrap();
        assert_eq!(whole.text(), heard.text());
        assert_eq!((&whole.stop, whole.usage.output), (&StopReason::MaxTokens, 8));
        texts.push(whole.text());
    }
    assert_eq!(texts[0], texts[1], "one model behind both wires");
}

#[tokio::test]
async fn it_stops_where_it_is_told() {
    for wire in [WireFormat::OpenAi, WireFormat::Anthropic] {
        let (wires, target) = (wires(), target(wire));
        let free = wires.complete(&target, &request("Say hello.", 12)).await.unwrap();
        let word = free.text().split_whitespace().nth(2).unwrap().to_owned();
        let stopped = ChatRequest { stop: vec![word.clone()], ..request("Say hello.", 12) };
        let reply = wires.complete(&target, &stopped).await.unwrap();
        assert!(
            !reply.text().contains(&word) && free.text().starts_with(&reply.text()),
            "{:?}",
            reply.text()
        );
        // llama.cpp does not tell which of the two it was.
        assert!(matches!(reply.stop, StopReason::EndTurn | StopReason::StopSequence), "{:?}", reply.stop);
    }
}

#[tokio::test]
async fn it_keeps_to_a_schema() {
    let output = ReplyFormat::Json { name: "fruit".to_owned(), schema: fruit() };
    let asked = ChatRequest { output, ..request("Name a fruit.", 40) };
    let heard = hear(&wires(), &target(WireFormat::OpenAi), &asked).await;
    let answer: Value = serde_json::from_str(&heard.text()).unwrap();
    assert!(["apple", "mango"].contains(&answer["fruit"].as_str().unwrap()), "{answer}");
}

/// Dropping the stream frees the server's slot long before the answer would have ended.
#[tokio::test]
async fn cancelling_stops_the_model() {
    for wire in [WireFormat::OpenAi, WireFormat::Anthropic] {
        let wires = wires();
        let mut stream = wires.stream(&target(wire), &request("Tell a very long story.", 900)).await.unwrap();
        while !matches!(provider::next_event(&mut stream).await.unwrap().unwrap(), ChatEvent::Text(_)) {}
        drop(stream);
        let freed = async {
            while is_busy_with(900).await {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, freed).await.expect("the model stops");
    }
}

/// Whether any slot is answering a request with this limit.
async fn is_busy_with(limit: i64) -> bool {
    let address = environment::model().replace("http://", "");
    let mut socket = TcpStream::connect(&address).await.unwrap();
    let request = format!("GET /slots HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let slots: Vec<Value> = serde_json::from_str(body).unwrap();
    let is_it = |slot: &Value| slot["params"]["n_predict"] == limit || slot["params"]["max_tokens"] == limit;
    slots.iter().any(|slot| slot["is_processing"] == true && is_it(slot))
}
