//! Sentences in every language and script with what they mean: the right call, or none.
//!
//! `said/` has them, one a line: `SENTENCE => TOOL; argument=value` or `=> no act`, which means that nothing is written
//! and nobody is asked to confirm it, or `=> read back`, which means that it is confirmed first. `traps` are those that only look like facts, and who gave to whom.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

use crate::shop;
use munshi_lang::{Phrasebook, names};
use munshi_llm::provider::Provider;
use munshi_llm::{ChatMessage, ChatReply, ChatRequest, ModelTarget, ToolCall};
use munshi_offline::{OfflineProvider, SURE};

const SAID: [(&str, &str); 12] = [
    ("en", include_str!("said/en.txt")),
    ("hi", include_str!("said/hi.txt")),
    ("bn", include_str!("said/bn.txt")),
    ("gu", include_str!("said/gu.txt")),
    ("kn", include_str!("said/kn.txt")),
    ("ml", include_str!("said/ml.txt")),
    ("mr", include_str!("said/mr.txt")),
    ("or", include_str!("said/or.txt")),
    ("pa", include_str!("said/pa.txt")),
    ("ta", include_str!("said/ta.txt")),
    ("te", include_str!("said/te.txt")),
    ("traps", include_str!("said/traps.txt")),
];

struct Outcome {
    language: &'static str,
    text: &'static str,
    confidence: f32,
    acted: bool,
    is_right: bool,
    seen: String,
}

async fn run() -> Vec<Outcome> {
    let offline = OfflineProvider::new(Phrasebook::core().unwrap()).unwrap();
    let tools = shop::tools();
    let mut outcomes = Vec::new();
    for (language, lines) in SAID {
        for line in lines.lines() {
            let (text, meant) = line.split_once(" => ").unwrap();
            let request = ChatRequest {
                messages: vec![ChatMessage::user(text)],
                tools: tools.clone(),
                ..ChatRequest::default()
            };
            let reply = offline.complete(&ModelTarget::offline(), &request).await.unwrap();
            let confidence = offline.judge(&request).confidence;
            let calls: Vec<&ToolCall> = reply.tool_calls().collect();
            let is_right = is_meant(&calls, meant, &reply);
            let shown: Vec<String> =
                calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
            let seen = format!("{} {}", shown.join(" && "), reply.text());
            outcomes.push(Outcome { language, text, confidence, acted: !calls.is_empty(), is_right, seen });
        }
    }
    outcomes
}

fn is_meant(calls: &[&ToolCall], meant: &str, reply: &ChatReply) -> bool {
    let is_state = |part: &munshi_llm::ModelMessagePart| matches!(part, munshi_llm::ModelMessagePart::State { data } if data.contains("go_ahead"));
    let is_read_back = reply.message.parts.iter().any(is_state);
    match meant {
        "no act" => return calls.iter().all(|call| is_read(&call.name)) && !is_read_back,
        "read back" => return calls.is_empty() && is_read_back,
        _ => {}
    }
    let wanted: Vec<&str> = meant.split(" && ").collect();
    wanted.len() == calls.len() && wanted.iter().zip(calls).all(|(wanted, call)| is_call(call, wanted))
}

fn is_read(name: &str) -> bool {
    shop::tools().iter().any(|tool| tool.name.as_str() == name && !tool.effect.writes())
}

fn is_call(call: &ToolCall, wanted: &str) -> bool {
    let mut parts = wanted.split("; ");
    parts.next() == Some(call.name.as_str())
        && parts.all(|part| {
            let (name, value) = part.split_once('=').unwrap();
            let given = &call.arguments[name];
            match name {
                "amount" => given.as_i64() == value.parse::<i64>().ok().map(|rupees| rupees * 100),
                "quantity" => given.as_f64() == value.parse().ok(),
                "person" | "item" => given.as_str().is_some_and(|given| {
                    names::similarity(value, given) >= names::SAME
                        || names::name_key(value) == names::name_key(given)
                }),
                _ => given.as_str() == Some(value),
            }
        })
}

#[tokio::test]
async fn most_sentences_are_understood_in_every_language() {
    let outcomes = run().await;
    for (language, _) in SAID {
        let own: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.language == language).collect();
        let right = own.iter().filter(|outcome| outcome.is_right).count();
        println!("{language}: {right} of {}", own.len());
        assert!(own.len() >= 15, "{language} has too few sentences");
        for outcome in own.iter().filter(|outcome| !outcome.is_right) {
            println!("   {:.2} {}\n        {}", outcome.confidence, outcome.text, outcome.seen);
        }
    }
    for (language, _) in SAID {
        let own = outcomes.iter().filter(|outcome| outcome.language == language);
        let (all, right) = own.fold((0, 0), |(all, right), one| (all + 1, right + usize::from(one.is_right)));
        assert!(right * 100 >= all * 90, "{language}: {right} of {all}");
    }
}

/// The promise of `OfflineJudgement`: of what is sure, 99 in 100 are right; and nothing wrong is written with that certainty.
#[tokio::test]
async fn what_is_sure_is_right() {
    let outcomes = run().await;
    let sure: Vec<&Outcome> = outcomes.iter().filter(|one| one.acted && one.confidence >= SURE).collect();
    let wrong: Vec<&&Outcome> = sure.iter().filter(|one| !one.is_right).collect();
    for one in &wrong {
        println!("{:.2} {}\n     {}", one.confidence, one.text, one.seen);
    }
    println!("{} sure, {} of them wrong", sure.len(), wrong.len());
    assert!(sure.len() > 150, "only {} of {} are sure", sure.len(), outcomes.len());
    assert!(wrong.len() * 100 <= sure.len(), "{} of {} sure answers are wrong", wrong.len(), sure.len());
}
