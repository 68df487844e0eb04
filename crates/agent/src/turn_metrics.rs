//! What is counted of turns as they end.

use std::time::Duration;

use metrics::{counter, histogram};
use munshi_conversations::TurnTimings;
use munshi_conversations::decisions::TurnDecision;
use munshi_types::tier::Channel;

/// A turn that ended, or waits for a person, and is stored.
pub(crate) fn record_turn(channel: Channel, decision: &TurnDecision, took: &TurnTimings) {
    count_outcome(channel, &decision.outcome);
    let stage = |name: &'static str, micros: i64| {
        let seconds = Duration::from_micros(micros.max(0).unsigned_abs()).as_secs_f64();
        histogram!("munshi_turn_seconds", "channel" => channel.as_str(), "stage" => name).record(seconds);
    };
    stage("ingest", took.ingest);
    stage("prepare", took.prepare);
    if decision.model_calls > 0 {
        stage("think", took.think);
    }
    if decision.tool_calls > 0 {
        stage("act", took.act);
    }
    stage("check", took.check);
    stage("respond", took.respond);
    if let Some(first) = took.first_word {
        stage("first_word", first);
    }
    stage("total", took.total);
    record_usage(channel, decision);
}

/// One that was turned away at the door has no stages.
pub(crate) fn count_outcome(channel: Channel, outcome: &str) {
    let outcome = outcome.to_owned();
    counter!("munshi_turns_total", "channel" => channel.as_str(), "outcome" => outcome).increment(1);
}

fn record_usage(channel: Channel, decision: &TurnDecision) {
    let channel = channel.as_str();
    if decision.is_degraded {
        counter!("munshi_turns_degraded_total", "channel" => channel).increment(1);
    }
    counter!("munshi_turn_violations_total", "channel" => channel).increment(u64::from(decision.violations));
    let tokens = [
        ("human", decision.tokens.human),
        ("team", decision.tokens.team),
        ("agent", decision.tokens.agent),
        ("dynamic", decision.tokens.dynamic),
        ("output", decision.output_tokens),
    ];
    for (tier, count) in tokens {
        counter!("munshi_turn_tokens_total", "tier" => tier).increment(u64::from(count));
    }
    let cost = decision.cost.unwrap_or(0).max(0).unsigned_abs();
    counter!("munshi_turn_cost_microdollars_total", "channel" => channel).increment(cost);
}
