//! `munshi models test TARGET`: a real call, with its times.

use std::sync::Arc;

use clap::Args;
use munshi_llm::gateway::{CallBilling, CallSubject, InMemoryCallLog, UnlimitedBudget};
use munshi_operations::models::{ModelTestView, TestModel, TestModelInput, run_checks};
use munshi_types::TenantId;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::operations::open_models;

use super::has_database;
use crate::commands::complete::find_target;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell, sanitize_line};

#[derive(Debug, Args)]
pub(crate) struct ModelTestArguments {
    /// Model name in the settings; see `munshi models`
    target: String,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ModelTestArguments) -> Result<()> {
    let view = if has_database(context)? {
        let target = OperationTarget::installation(Some(&arguments.operator));
        let input = TestModelInput { name: arguments.target.clone() };
        context.run_operation::<TestModel>(&target, &input)?
    } else {
        test_without_database(context, &arguments.target)?
    };
    context.output.print_result(&view, render_text)?;
    match view.checks.iter().filter(|check| !check.is_good).count() {
        0 => Ok(()),
        failed => Err(CommandFailure::failed(format!("{failed} of {} checks failed", view.checks.len()))),
    }
}

/// Before there is a database nothing can be written down, and nobody could look it up.
fn test_without_database(context: &CommandContext, name: &str) -> Result<ModelTestView> {
    let models = open_models(&context.config()?, &context.clock)?;
    let target = find_target(&models.gateway, name)?;
    let (budget, tab) = (Arc::new(UnlimitedBudget), Arc::new(InMemoryCallLog::default()));
    let about = CallSubject::default();
    let account = CallBilling { tenant: TenantId::PLATFORM, about, budget, tab, prices: None, prompt: None };
    context.block_on(async { Ok(run_checks(&models, &target, &account, context.now()).await) })
}

fn render_text(report: &ModelTestView, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&["CHECK", "", "FIRST TOKEN", "TOTAL", "TOKENS", "RESULT"]);
    for check in &report.checks {
        let verdict = if check.is_good {
            OutputTableCell::new("good", OutputCellStyle::Good)
        } else {
            OutputTableCell::new("bad", OutputCellStyle::Bad)
        };
        let milliseconds = |time: u64| OutputTableCell::from(format!("{time} ms"));
        table.add_row([
            check.what.clone().into(),
            verdict,
            check.first_word_ms.map_or_else(|| "".into(), milliseconds),
            milliseconds(check.total_ms),
            check.tokens.to_string().into(),
            OutputTableCell::truncated(&sanitize_line(check.detail.trim()), 60, OutputCellStyle::Plain),
        ]);
    }
    table.render(painter)
}
