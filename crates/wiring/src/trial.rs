//! A model asked something, to see whether it answers: for the command line and the start page.

use std::time::{Duration, Instant};

use munshi_llm::gateway::ModelCall;
use munshi_llm::pricing::Cost;
use munshi_llm::{ChatEvent, Gateway, ModelError};
use munshi_types::Timestamp;
use serde::Serialize;

/// One thing the model was asked for.
#[derive(Debug, Serialize)]
pub struct ModelTrialResult {
    pub what: &'static str,
    pub is_good: bool,
    /// What came, or what went wrong.
    pub detail: String,
    /// What went wrong, for those who say it in other words.
    #[serde(skip)]
    pub fault: Option<ModelError>,
    pub first_word_ms: Option<u128>,
    pub total_ms: u128,
    pub tokens: u64,
    pub cost_micros: Option<i64>,
}

/// Asks, and says what came or what went wrong.
pub async fn ask(gateway: &Gateway, call: ModelCall, what: &'static str, now: Timestamp) -> ModelTrialResult {
    let began = Instant::now();
    let mut first = None;
    let outcome = async {
        let mut live = gateway.stream(call).await?;
        let (mut text, mut used) = (String::new(), None);
        while let Some(event) = live.next().await {
            match event? {
                ChatEvent::Text(more) => {
                    first.get_or_insert_with(|| began.elapsed());
                    text.push_str(&more);
                }
                ChatEvent::Finished { usage, .. } => used = Some(usage),
                _ => {}
            }
        }
        let usage = used.unwrap_or_default();
        let cost = gateway.prices().cost(live.target(), &usage, now);
        Ok::<_, ModelError>((text, usage.total(), cost))
    };
    let outcome = outcome.await;
    let (is_good, detail, tokens, cost, fault) = match outcome {
        Ok((text, tokens, cost)) => (!text.trim().is_empty(), text, tokens, cost, None),
        Err(fault) => (false, fault.to_string(), 0, None, Some(fault)),
    };
    ModelTrialResult {
        what,
        is_good,
        detail,
        fault,
        first_word_ms: first.as_ref().map(Duration::as_millis),
        total_ms: began.elapsed().as_millis(),
        tokens,
        cost_micros: cost.map(Cost::as_micros),
    }
}
