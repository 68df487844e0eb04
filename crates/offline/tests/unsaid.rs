//! Sentences that speak of money and goods and tell no plain fact of the shop: hedged, heard, hoped, intended, owed,
//! forgiven, rounded, somebody else's, quoted, joked. `said/unsaid.txt` has them, by language. None may be written
//! without asking first.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

#[path = "../shop/mod.rs"]
mod shop;

use munshi_lang::Phrasebook;
use munshi_llm::provider::Provider;
use munshi_llm::{ChatRequest, Message, Target};
use munshi_offline::Offline;

const UNSAID: &str = include_str!("said/unsaid.txt");

#[tokio::test]
async fn what_is_not_plainly_said_is_not_written() {
    let offline = Offline::new(Phrasebook::core().unwrap()).unwrap();
    let tools = shop::tools();
    let writes = |name: &str| tools.iter().any(|tool| tool.name.as_str() == name && tool.effect.writes());
    let (mut all, mut written) = (0, Vec::new());
    for line in UNSAID.lines().filter(|line| !line.starts_with('#')) {
        let messages = vec![Message::user(line)];
        let request = ChatRequest { messages, tools: tools.clone(), ..ChatRequest::default() };
        let reply = offline.complete(&Target::offline(), &request).await.unwrap();
        all += 1;
        for call in reply.tool_calls().filter(|call| writes(&call.name)) {
            let confidence = offline.judge(&request).confidence;
            written.push(format!("{confidence:.2} {line}\n     {} {}", call.name, call.arguments));
        }
    }
    println!("{} of {all} written\n{}", written.len(), written.join("\n"));
    assert!(all >= 200, "only {all} sentences");
    assert!(written.is_empty(), "{} of {all} were written", written.len());
}
