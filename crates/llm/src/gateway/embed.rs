//! Vectors for texts, paid and written down like everything else.

use std::sync::Arc;

use super::call::CallBilling;
use super::call_log::ModelCallOutcome;
use super::estimate::CallEstimate;
use super::fallback::retry_delay;
use super::meter::{AttemptContext, AttemptMeter};
use super::route::{Capability, ModelRoute};
use super::{BreakerDecision, CallSpend, Gateway};
use crate::chat::{StopReason, TokenUsage};
use crate::error::ModelError;
use crate::pricing::count_tokens_for;
use crate::provider::Embedding;
use crate::target::ModelTarget;

/// No server is asked for more texts at once; all take this many.
const MOST_TEXTS: usize = 64;

impl Gateway {
    /// The target a route embeds with: one, since vectors of different models can't be compared.
    pub fn embedder(&self, route: &ModelRoute) -> Result<Arc<ModelTarget>, ModelError> {
        route.embedder(&self.shared.targets)
    }

    /// Vectors in the order of the texts. A target that fails is tried once more; another is never asked instead.
    pub async fn embed(
        &self,
        target: &Arc<ModelTarget>,
        texts: &[String],
        account: &CallBilling,
    ) -> Result<Embedding, ModelError> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut tokens = Some(0);
        for batch in texts.chunks(MOST_TEXTS) {
            let part = self.embed_batch(target, batch, account).await?;
            tokens = tokens.zip(part.input_tokens).map(|(sum, more)| sum + more);
            vectors.extend(part.vectors);
        }
        let dimension = vectors.first().map_or(0, Vec::len);
        if vectors.iter().any(|vector| vector.len() != dimension) {
            return Err(ModelError::Garbled("embeddings of different dimensions".to_owned()));
        }
        Ok(Embedding { vectors, dimension, input_tokens: tokens })
    }

    async fn embed_batch(
        &self,
        target: &Arc<ModelTarget>,
        texts: &[String],
        account: &CallBilling,
    ) -> Result<Embedding, ModelError> {
        let fault = match self.embed_once(target, texts, account, 1).await {
            Ok(embedding) => return Ok(embedding),
            Err(fault) => fault,
        };
        let Some(pause) = retry_delay(&fault, &*self.shared.random) else { return Err(fault) };
        tokio::time::sleep(pause).await;
        match self.embed_once(target, texts, account, 2).await {
            // That it rests now is no news; why it does is.
            Err(ModelError::NoTarget(_)) => Err(fault),
            outcome => outcome,
        }
    }

    async fn embed_once(
        &self,
        target: &Arc<ModelTarget>,
        texts: &[String],
        account: &CallBilling,
        number: u32,
    ) -> Result<Embedding, ModelError> {
        let shared = &self.shared;
        let permission = shared.health.try_acquire(&target.name);
        if let BreakerDecision::Skip { until } = permission {
            return Err(ModelError::NoTarget(format!(
                "the circuit breaker of `{}` is open until {until}",
                target.name
            )));
        }
        let input =
            if target.is_local() { 0 } else { texts.iter().map(|text| count_tokens_for(target, text)).sum() };
        let usage = TokenUsage { input, ..TokenUsage::default() };
        let cost = shared.prices_for(account).cost(target, &usage, shared.clock.now());
        let estimate = CallEstimate { input, most: CallSpend { tokens: input, output: 0, cost } };
        let purpose = AttemptContext { account, wanted: Capability::Embeddings, number, permission };
        let mut meter = AttemptMeter::start(shared, target, purpose, estimate).await?;
        let outcome = shared.provider.embed(target, texts).await;
        let (ending, usage) = match &outcome {
            Ok(Embedding { input_tokens: Some(counted), .. }) if *counted > 0 || input == 0 => {
                (ModelCallOutcome::Finished(StopReason::EndTurn), TokenUsage { input: *counted, ..usage })
            }
            Ok(_) => (
                ModelCallOutcome::Finished(StopReason::EndTurn),
                TokenUsage { estimated: input > 0, ..usage },
            ),
            Err(fault) => {
                let usage = super::estimate::compute_failure_usage(
                    estimate,
                    fault,
                    super::estimate::ReceivedUsage::default(),
                );
                (ModelCallOutcome::Failed(fault.clone()), usage)
            }
        };
        meter.stop(ending, usage, None).await;
        outcome
    }
}
