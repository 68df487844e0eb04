//! Vectors for texts, paid and written down like everything else.

use std::sync::Arc;

use super::bill::Estimate;
use super::call::Account;
use super::fallback::pause_after;
use super::meter::{Meter, Purpose};
use super::route::{Route, Use};
use super::tab::Ending;
use super::{Gateway, Permission, Spend};
use crate::chat::{StopReason, Usage};
use crate::fault::Fault;
use crate::money::count_for;
use crate::provider::Embedding;
use crate::target::Target;

/// No server is asked for more texts at once; all take this many.
const MOST_TEXTS: usize = 64;

impl Gateway {
    /// The target a route embeds with: one, since vectors of different models can't be compared.
    pub fn embedder(&self, route: &Route) -> Result<Arc<Target>, Fault> {
        route.embedder(&self.shared.targets)
    }

    /// Vectors in the order of the texts. A target that fails is tried once more; another is never asked instead.
    pub async fn embed(
        &self,
        target: &Arc<Target>,
        texts: &[String],
        account: &Account,
    ) -> Result<Embedding, Fault> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut tokens = Some(0);
        for batch in texts.chunks(MOST_TEXTS) {
            let part = self.embed_batch(target, batch, account).await?;
            tokens = tokens.zip(part.input_tokens).map(|(sum, more)| sum + more);
            vectors.extend(part.vectors);
        }
        let dimension = vectors.first().map_or(0, Vec::len);
        if vectors.iter().any(|vector| vector.len() != dimension) {
            return Err(Fault::Garbled("vectors of different lengths".to_owned()));
        }
        Ok(Embedding { vectors, dimension, input_tokens: tokens })
    }

    async fn embed_batch(
        &self,
        target: &Arc<Target>,
        texts: &[String],
        account: &Account,
    ) -> Result<Embedding, Fault> {
        let fault = match self.embed_once(target, texts, account, 1).await {
            Ok(embedding) => return Ok(embedding),
            Err(fault) => fault,
        };
        let Some(pause) = pause_after(&fault, &*self.shared.random) else { return Err(fault) };
        tokio::time::sleep(pause).await;
        match self.embed_once(target, texts, account, 2).await {
            // That it rests now is no news; why it does is.
            Err(Fault::NoTarget(_)) => Err(fault),
            outcome => outcome,
        }
    }

    async fn embed_once(
        &self,
        target: &Arc<Target>,
        texts: &[String],
        account: &Account,
        number: u32,
    ) -> Result<Embedding, Fault> {
        let shared = &self.shared;
        let permission = shared.health.ask(&target.name);
        if let Permission::No { until } = permission {
            return Err(Fault::NoTarget(format!("`{}` is resting until {until}", target.name)));
        }
        let input =
            if target.stays_here() { 0 } else { texts.iter().map(|text| count_for(target, text)).sum() };
        let usage = Usage { input, ..Usage::default() };
        let cost = shared.prices_for(account).cost(target, &usage, shared.clock.now());
        let estimate = Estimate { input, most: Spend { tokens: input, output: 0, cost } };
        let purpose = Purpose { account, wanted: Use::Embeddings, number, permission };
        let mut meter = Meter::start(shared, target, purpose, estimate).await?;
        let outcome = shared.provider.embed(target, texts).await;
        let (ending, usage) = match &outcome {
            Ok(Embedding { input_tokens: Some(counted), .. }) if *counted > 0 || input == 0 => {
                (Ending::Finished(StopReason::EndTurn), Usage { input: *counted, ..usage })
            }
            Ok(_) => (Ending::Finished(StopReason::EndTurn), Usage { estimated: input > 0, ..usage }),
            Err(fault) => {
                let usage = super::bill::of_failure(estimate, fault, super::bill::Heard::default());
                (Ending::Failed(fault.clone()), usage)
            }
        };
        meter.stop(ending, usage, None).await;
        outcome
    }
}
