//! How long an answer takes with fifty tools.
//!
//! `cargo run --release -p munshi-offline --example offline_speed`

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "the figures are what this prints")]

#[path = "../shop/mod.rs"]
mod shop;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use munshi_lang::Phrasebook;
use munshi_llm::{ChatMessage, ChatRequest};
use munshi_offline::OfflineProvider;
use munshi_types::tool::ToolSpec;

const MESSAGES: &[&str] = &[
    "Ramesh ne dhai hazaar diye",
    "रमेश को साढ़े तीन सौ का सामान उधार दिया",
    "Gupta supplier ku anjaayiram rubai kuduthen",
    "రమేష్ కి మూడు వందల యాభై రూపాయల సరుకు అప్పుగా ఇచ్చాను",
    "Ramesh ko 500 diye aur Suresh se 300 mile",
    "what is today's total sale?",
    "please tell me something nice about the weather in the mountains this week",
    "ok",
];

fn main() -> anyhow::Result<()> {
    let offline = OfflineProvider::new(Phrasebook::core()?)?;
    let tools = fifty();
    let phrases: usize = tools.iter().flat_map(|tool| tool.phrases.values()).map(Vec::len).sum();
    let asked = |text: &str| ChatRequest {
        messages: vec![ChatMessage::user(text)],
        tools: tools.clone(),
        ..ChatRequest::default()
    };
    let start = Instant::now();
    offline.prepare(&tools);
    println!("{} tools, {phrases} phrases; made ready in {} ms", tools.len(), start.elapsed().as_millis());
    for message in MESSAGES {
        let request = asked(message);
        let mut times: Vec<f64> = (0..2_000)
            .map(|_| {
                let start = Instant::now();
                black_box(offline.judge(black_box(&request)));
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{:>7.0} us, p99 {:>7.0} us  {message}",
            times[times.len() / 2],
            times[times.len() * 99 / 100]
        );
    }
    Ok(())
}

/// The shop's tools, and again under other names with some of their words changed.
fn fifty() -> Vec<Arc<ToolSpec>> {
    let shop = shop::tools();
    let others = (1..3).flat_map(|round| shop.iter().map(move |tool| other(tool, round)));
    shop.iter().cloned().chain(others).take(50).collect()
}

fn other(tool: &ToolSpec, round: usize) -> Arc<ToolSpec> {
    let mut spec = tool.clone();
    spec.name = format!("{}_{round}", tool.name).parse().unwrap();
    for phrase in spec.phrases.values_mut().flatten() {
        phrase.push_str(if round == 1 { " agro" } else { " beta" });
    }
    Arc::new(spec)
}
