//! A real call of a model, with its times.

use std::sync::Arc;
use std::time::Instant;

use munshi_llm::calls::StoredCallLog;
use munshi_llm::chat::ReplyFormat;
use munshi_llm::gateway::{CallBilling, CallSubject, Capability, ModelCall, ModelRoute, UnlimitedBudget};
use munshi_llm::{ChatMessage, ChatRequest, ModelTarget};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::{TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::HouseModels;
use super::trial::{ModelTrialResult, ask};
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TestModelInput {
    /// The model's name in the settings.
    pub name: String,
}

/// What a model managed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ModelTest)]
pub struct ModelTestView {
    pub model: String,
    pub checks: Vec<ModelTrialResult>,
}

pub struct TestModel;

impl Operation<HouseServices> for TestModel {
    type Input = TestModelInput;
    type View = ModelTestView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "model-targets",
        noun: "model",
        command: "models",
        verb: "test",
        about: "Send test requests to a model and measure the latency. The provider may charge for them.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["model.test_requested", "model.tested"]),
        method: RouteMethod::Post,
        path: "/v1/model-targets/{name}/test",
    };

    async fn run(call: &HouseCall, input: TestModelInput) -> Result<ModelTestView, OperationError> {
        let models = call.services.parts.open_models()?;
        let target = models.find(&input.name)?.clone();
        let name = target.name.clone();
        let asked = call.write(move |tx| {
            tx.note("model.test_requested", name, json!({}));
            Ok(())
        });
        asked.await?;
        let log = StoredCallLog::new(call.db.clone());
        let view = run_checks(&models, &target, &bill_to_installation(log.clone()), call.now).await;
        log.flush().await;
        let outcome = view.clone();
        let told = call.write(move |tx| {
            let failed = outcome.checks.iter().filter(|check| !check.is_good).count();
            let payload = json!({ "checks": outcome.checks.len(), "failed": failed });
            tx.note("model.tested", outcome.model, payload);
            Ok(())
        });
        told.await?;
        Ok(view)
    }
}

fn bill_to_installation(log: StoredCallLog) -> CallBilling {
    let (budget, tab) = (Arc::new(UnlimitedBudget), Arc::new(log));
    CallBilling {
        tenant: TenantId::PLATFORM,
        about: CallSubject::default(),
        budget,
        tab,
        prices: None,
        prompt: None,
    }
}

/// Asks it for what every model should manage, and for what this one is said to.
pub async fn run_checks(
    models: &HouseModels,
    target: &Arc<ModelTarget>,
    account: &CallBilling,
    now: Timestamp,
) -> ModelTestView {
    let only = [(Capability::Default, vec![target.name.clone()])].into();
    let route = Arc::new(ModelRoute { targets: only, ..ModelRoute::default() });
    let mut checks = Vec::new();
    for (what, request) in build_requests(target) {
        let call = ModelCall {
            wanted: Capability::Default,
            route: route.clone(),
            request: request.into(),
            account: account.clone(),
            // The questions are our own and name nobody.
            veil: None,
        };
        checks.push(ask(&models.gateway, call, what, now).await.0);
    }
    if target.capabilities.embeddings {
        checks.push(embed(models, target, account).await);
    }
    models.gateway.wait_until_settled().await;
    ModelTestView { model: target.name.clone(), checks }
}

fn build_requests(target: &ModelTarget) -> Vec<(&'static str, ChatRequest)> {
    let plain = ChatRequest {
        messages: vec![ChatMessage::user("Hello!")],
        max_output_tokens: 64,
        ..ChatRequest::default()
    };
    let mut requests = vec![("answer", plain.clone())];
    if target.capabilities.json_schema && !target.is_local() {
        let schema = json!({
            "type": "object",
            "properties": {"greeting": {"type": "string"}},
            "required": ["greeting"],
            "additionalProperties": false,
        });
        let output = ReplyFormat::Json { name: "greeting".to_owned(), schema };
        requests.push(("answer of a form", ChatRequest { output, ..plain }));
    }
    requests
}

async fn embed(models: &HouseModels, target: &Arc<ModelTarget>, account: &CallBilling) -> ModelTrialResult {
    let began = Instant::now();
    let outcome = models.gateway.embed(target, &["hello".to_owned()], account).await;
    let (is_good, detail, tokens) = match outcome {
        Ok(made) => (true, format!("{}-dimensional vector", made.dimension), made.input_tokens.unwrap_or(0)),
        Err(fault) => (false, fault.to_string(), 0),
    };
    ModelTrialResult {
        what: "vectors".to_owned(),
        is_good,
        detail,
        first_word_ms: None,
        total_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        tokens,
        cost_micros: None,
    }
}
