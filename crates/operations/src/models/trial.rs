//! A model asked something, to see whether it answers: for the command line and the start page.

use std::time::{Duration, Instant};

use munshi_llm::gateway::ModelCall;
use munshi_llm::pricing::Cost;
use munshi_llm::{ChatEvent, Gateway, ModelError};
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One thing the model was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ModelCheck)]
pub struct ModelTrialResult {
    pub what: String,
    pub is_good: bool,
    /// What came, or what went wrong.
    pub detail: String,
    pub first_word_ms: Option<u64>,
    pub total_ms: u64,
    pub tokens: u64,
    pub cost_micros: Option<i64>,
}

/// Asks, and says what came or what went wrong; the fault besides, for those who say it in other words.
pub async fn ask(
    gateway: &Gateway,
    call: ModelCall,
    what: &str,
    now: Timestamp,
) -> (ModelTrialResult, Option<ModelError>) {
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
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let result = ModelTrialResult {
        what: what.to_owned(),
        is_good,
        detail,
        first_word_ms: first.map(milliseconds),
        total_ms: milliseconds(began.elapsed()),
        tokens,
        cost_micros: cost.map(Cost::as_micros),
    };
    (result, fault)
}
