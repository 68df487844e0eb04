//! `munshi models test TARGET`: a real call, with its times.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use munshi_llm::chat::ReplyFormat;
use munshi_llm::gateway::{CallBilling, Capability, ModelCall};
use munshi_llm::{ChatMessage, ChatRequest, ModelTarget};
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::gateway::{CommandCallLog, ConfiguredGateway};
use munshi_wiring::trial::{ModelTrialResult, ask};
use serde::Serialize;
use serde_json::json;

use crate::commands::complete::build_single_route;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell, sanitize_line};

#[derive(Debug, Args)]
pub(crate) struct ModelTestArguments {
    /// Model name in the settings; see `munshi models`
    target: String,
}

#[derive(Debug, Serialize)]
struct Report {
    model: String,
    checks: Vec<ModelTrialResult>,
}

pub(super) fn run(context: &CommandContext, arguments: &ModelTestArguments) -> Result<()> {
    let config = context.config()?;
    let report = context.block_on(async {
        let wired = ConfiguredGateway::from_config(&config, &context.clock)?;
        let route = Arc::new(build_single_route(&wired, &arguments.target)?);
        let book = CommandCallLog::open(&config).await?;
        let account = book.billing();
        let target = wired.gateway.target(&arguments.target)?.clone();
        let mut checks = Vec::new();
        for (what, request) in questions(&target) {
            let call = ModelCall {
                wanted: Capability::Default,
                route: route.clone(),
                request: request.into(),
                account: account.clone(),
                // The questions are our own and name nobody.
                veil: None,
            };
            checks.push(ask(&wired.gateway, call, what, context.now()).await);
        }
        if target.capabilities.embeddings {
            checks.push(embed(&wired, &target, &account).await);
        }
        wired.gateway.wait_until_settled().await;
        book.close().await;
        Ok(Report { model: target.name.clone(), checks })
    })?;
    context.output.print_result(&report, render_text)?;
    match report.checks.iter().filter(|check| !check.is_good).count() {
        0 => Ok(()),
        failed => Err(CommandFailure::failed(format!("{failed} of {} checks failed", report.checks.len()))),
    }
}

/// What every model should manage, and what this one is said to.
fn questions(target: &ModelTarget) -> Vec<(&'static str, ChatRequest)> {
    let plain = ChatRequest {
        messages: vec![ChatMessage::user("Hello!")],
        max_output_tokens: 64,
        ..ChatRequest::default()
    };
    let mut questions = vec![("answer", plain.clone())];
    if target.capabilities.json_schema && !target.is_local() {
        let schema = json!({
            "type": "object",
            "properties": {"greeting": {"type": "string"}},
            "required": ["greeting"],
            "additionalProperties": false,
        });
        let output = ReplyFormat::Json { name: "greeting".to_owned(), schema };
        questions.push(("answer of a form", ChatRequest { output, ..plain }));
    }
    questions
}

async fn embed(
    wired: &ConfiguredGateway,
    target: &Arc<ModelTarget>,
    account: &CallBilling,
) -> ModelTrialResult {
    let began = Instant::now();
    let outcome = wired.gateway.embed(target, &["hello".to_owned()], account).await;
    let (is_good, detail, tokens) = match outcome {
        Ok(made) => (true, format!("{}-dimensional vector", made.dimension), made.input_tokens.unwrap_or(0)),
        Err(fault) => (false, fault.to_string(), 0),
    };
    let total_ms = began.elapsed().as_millis();
    ModelTrialResult {
        what: "vectors",
        is_good,
        detail,
        fault: None,
        first_word_ms: None,
        total_ms,
        tokens,
        cost_micros: None,
    }
}

fn render_text(report: &Report, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&["CHECK", "", "FIRST TOKEN", "TOTAL", "TOKENS", "RESULT"]);
    for check in &report.checks {
        let verdict = if check.is_good {
            OutputTableCell::new("good", OutputCellStyle::Good)
        } else {
            OutputTableCell::new("bad", OutputCellStyle::Bad)
        };
        let milliseconds = |time: u128| OutputTableCell::from(format!("{time} ms"));
        table.add_row([
            check.what.into(),
            verdict,
            check.first_word_ms.map_or_else(|| "".into(), milliseconds),
            milliseconds(check.total_ms),
            check.tokens.to_string().into(),
            OutputTableCell::truncated(&sanitize_line(check.detail.trim()), 60, OutputCellStyle::Plain),
        ]);
    }
    table.render(painter)
}
