//! Everyday requests against the pack's own tools: the right tool and arguments, per language.
//!
//! `cargo run --release -p munshi-ledger --example utterances -- FOLDER [--all]`, where FOLDER has `utterances.jsonl`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "the table is what this prints")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use munshi_lang::names;
use munshi_ledger::LedgerPack;
use munshi_llm::provider::Provider;
use munshi_llm::{ChatMessage, ChatRequest, ModelTarget, ToolCall};
use munshi_offline::{OfflineProvider, SURE};
use munshi_pack::{Pack, PackRegistry};
use munshi_types::{IdGenerator, SystemClock, SystemRandom, ToolSpec};
use serde_json::Value;

/// What the cases call a tool of the shop.
fn tool_for(intent: &str) -> &str {
    match intent {
        "sale" => "log_sale",
        "expense" => "log_expense",
        "udhaar_given" => "credit_given",
        "balance_query" => "balance_of",
        "sales_report_query" => "day_summary",
        "gst_query" => "gst_due",
        "purchase" => "log_purchase",
        other => other,
    }
}

#[derive(Default)]
struct Row {
    all: usize,
    right: usize,
    asked: usize,
    wrong: usize,
    sure: usize,
    sure_wrong: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let folder = PathBuf::from(words.next().unwrap_or_else(|| "../shared/data".to_owned()));
    let shows_all = words.any(|word| word == "--all");
    let text = std::fs::read_to_string(folder.join("utterances.jsonl"))?;
    let house = build_registry()?;
    let tools = tools(&house);
    let offline = OfflineProvider::new(house.book)?;
    let mut table: BTreeMap<String, Row> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line)?;
        let said = case["text"].as_str().unwrap_or_default();
        let request = ChatRequest {
            messages: vec![ChatMessage::user(said)],
            tools: tools.clone(),
            ..ChatRequest::default()
        };
        let reply = offline.complete(&ModelTarget::offline(), &request).await?;
        let judgement = offline.judge(&request);
        let calls: Vec<&ToolCall> = reply.tool_calls().collect();
        let wrong = match calls.as_slice() {
            [call] => find_difference(call, &case["expected"]),
            [] => Some(format!("asked: {}", reply.text())),
            _ => Some("several calls".to_owned()),
        };
        let row = table.entry(case["lang"].as_str().unwrap_or("?").to_owned()).or_default();
        row.all += 1;
        let is_sure = judgement.confidence >= SURE && !calls.is_empty();
        row.sure += usize::from(is_sure);
        match &wrong {
            None => row.right += 1,
            Some(_) if calls.is_empty() => row.asked += 1,
            Some(_) => {
                row.wrong += 1;
                row.sure_wrong += usize::from(is_sure);
            }
        }
        if shows_all || wrong.is_some() {
            println!(
                "{:.2} {said}\n     {}",
                judgement.confidence,
                wrong.unwrap_or_else(|| "right".to_owned())
            );
            for call in calls {
                println!("     {} {}", call.name, call.arguments);
            }
        }
    }
    print(&table);
    Ok(())
}

fn build_registry() -> anyhow::Result<PackRegistry> {
    let clock = Arc::new(SystemClock);
    let pack: Arc<dyn Pack> =
        Arc::new(LedgerPack::new(clock.clone(), IdGenerator::new(clock, Arc::new(SystemRandom))));
    Ok(PackRegistry::install_all(&[pack])?)
}

/// Every tool that the ready tenant's agent has.
fn tools(house: &PackRegistry) -> Vec<Arc<ToolSpec>> {
    house.tools.all().map(|tool| Arc::new(tool.known.spec.clone())).collect()
}

/// What is wrong with a call; none when it is right.
fn find_difference(call: &ToolCall, expected: &Value) -> Option<String> {
    let meant = tool_for(expected["intent"].as_str().unwrap_or_default());
    if call.name != meant {
        return Some(format!("meant {meant}"));
    }
    let rupees = expected["amount"].as_f64().map(|rupees| (rupees * 100.0).round());
    if rupees != call.arguments["amount"].as_f64() {
        return Some(format!("meant the amount {}", expected["amount"]));
    }
    for (name, argument) in [("qty", "quantity"), ("unit", "unit"), ("mode", "mode"), ("period", "period")] {
        let (wanted, given) = (&expected[name], &call.arguments[argument]);
        if !wanted.is_null()
            && wanted.as_f64().is_none_or(|number| given.as_f64() != Some(number))
            && wanted != given
        {
            return Some(format!("meant {name} {wanted}"));
        }
    }
    ["person", "item"].into_iter().find_map(|name| {
        let (wanted, given) = (expected[name].as_str(), call.arguments[name].as_str());
        let is_right = match (wanted, given) {
            (None, None) => true,
            (Some(wanted), Some(given)) => names_match(wanted, given),
            _ => false,
        };
        (!is_right).then(|| format!("meant {name} {wanted:?}"))
    })
}

/// Whether a tool that looks a name up across spellings would find it.
fn names_match(wanted: &str, given: &str) -> bool {
    names::similarity(wanted, given) >= names::SAME || names::name_key(wanted) == names::name_key(given)
}

fn print(table: &BTreeMap<String, Row>) {
    println!(
        "\n{:<16}{:>5}{:>7}{:>7}{:>7}{:>7}{:>12}",
        "language", "all", "right", "asked", "wrong", "sure", "sure, wrong"
    );
    let mut total = Row::default();
    for (language, row) in table {
        line(language, row);
        total.all += row.all;
        total.right += row.right;
        total.asked += row.asked;
        total.wrong += row.wrong;
        total.sure += row.sure;
        total.sure_wrong += row.sure_wrong;
    }
    line("all", &total);
}

fn line(name: &str, row: &Row) {
    println!(
        "{name:<16}{:>5}{:>7}{:>7}{:>7}{:>7}{:>12}",
        row.all, row.right, row.asked, row.wrong, row.sure, row.sure_wrong
    );
}
