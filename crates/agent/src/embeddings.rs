//! Vectors for texts, in the name of a binding: its models, its budget, its record of calls.

use std::sync::Arc;

use munshi_conversations::Result;
use munshi_llm::gateway::{CallBilling, CallSubject, InMemoryCallLog};
use munshi_llm::{ModelError, calls};
use munshi_safety::budget::{BudgetLane, load_plan};
use munshi_store::Tx;
use munshi_tiers::BindingResolution;
use munshi_types::{Id, PersonId, RunId};

use crate::engine::TurnEngine;
use crate::model_routing::CallPayer;

/// Vectors in the order of their texts.
#[derive(Clone, Debug, PartialEq)]
pub struct TextEmbeddings {
    pub vectors: Vec<Vec<f32>>,
    /// As the provider counted them; none of the model of this machine.
    pub tokens: u64,
}

/// Why there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextEmbeddingFailure {
    OverBudget(String),
    /// The request can't be answered by this model.
    Unfit(String),
    Failed(String),
}

impl TurnEngine {
    /// Asks the model that the binding's route embeds with. Every attempt is paid and written down.
    pub async fn embed_texts(
        &self,
        binding: &BindingResolution,
        person: Option<PersonId>,
        texts: &[String],
    ) -> Result<Result<TextEmbeddings, TextEmbeddingFailure>> {
        self.embed_texts_of_run(binding, (person, None), texts).await
    }

    /// The same for a run, in whose record the calls stand.
    pub(crate) async fn embed_texts_of_run(
        &self,
        binding: &BindingResolution,
        (person, run): (Option<PersonId>, Option<RunId>),
        texts: &[String],
    ) -> Result<Result<TextEmbeddings, TextEmbeddingFailure>> {
        let inner = &self.inner;
        let settings = inner.act_services.clone();
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            Ok((load_plan(tx, settings.governor.settings())?, settings.load_policy(tx)?))
        };
        let (plan, policy) = inner.db.read(binding.tenant, read).await?;
        let route = inner.resolve_permitted_route(binding, plan, &policy.residency);
        let tab = Arc::new(InMemoryCallLog::default());
        let payer = CallPayer { person, lane: BudgetLane::People, run };
        let account = CallBilling {
            tenant: binding.tenant,
            about: CallSubject { run: run.map(Id::as_uuid), binding: Some(binding.binding_id.as_uuid()) },
            budget: Arc::new(inner.build_durable_budget(binding, payer)),
            tab: tab.clone(),
            prices: None,
            prompt: None,
        };
        let made = match inner.gateway.embedder(&route) {
            Ok(target) => inner.gateway.embed(&target, texts, &account).await,
            Err(fault) => Err(fault),
        };
        let attempts = tab.take();
        let record = move |tx: &mut Tx<'_>| attempts.iter().try_for_each(|call| calls::record(tx, call));
        inner.db.write(binding.tenant, record).await?;
        Ok(made
            .map(|made| TextEmbeddings { vectors: made.vectors, tokens: made.input_tokens.unwrap_or(0) })
            .map_err(classify_failure))
    }
}

fn classify_failure(fault: ModelError) -> TextEmbeddingFailure {
    match fault {
        ModelError::OverBudget(what) => TextEmbeddingFailure::OverBudget(what),
        fault @ (ModelError::TooLong | ModelError::Rejected { .. } | ModelError::NoTarget(_)) => {
            TextEmbeddingFailure::Unfit(fault.to_string())
        }
        fault => TextEmbeddingFailure::Failed(fault.to_string()),
    }
}
