//! `munshi models list`

use munshi_llm::pricing::Cost;
use munshi_operations::models::{
    ListModels, ListModelsInput, ModelState, ModelView, ModelsView, list_without_database,
};
use munshi_store::SortOrder;
use munshi_wiring::failure::Result;
use munshi_wiring::operations::open_models;

use super::has_database;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

pub(super) fn run(
    context: &CommandContext,
    tenant: &TenantSelectorArguments,
    order: Option<SortOrder>,
) -> Result<()> {
    // Looking at the settings makes no database.
    let view = if tenant.name().is_some() || has_database(context)? {
        let target = OperationTarget { of: tenant, operator: None };
        context.run_operation::<ListModels>(&target, &ListModelsInput { order })?
    } else {
        list_without_database(&open_models(&context.config()?, &context.clock)?, order, context.now())
    };
    context.output.print_result(&view, render_text)
}

fn render_text(listing: &ModelsView, painter: TextStyler) -> String {
    let mut table =
        OutputTable::new(&["NAME", "PROVIDER", "MODEL", "STATE", "IN/M", "OUT/M", "CLASS", "USED FOR"]);
    for item in &listing.models {
        table.add_row([
            item.name.clone().into(),
            item.provider.clone().into(),
            item.model.clone().into(),
            state(item),
            dollars(item.input_price).into(),
            dollars(item.output_price).into(),
            item.class.as_str().into(),
            OutputTableCell::new(item.uses.join(", "), OutputCellStyle::Dim),
        ]);
    }
    let warnings = listing.warnings.iter().map(|warning| format!("{}\n", painter.doubtful(warning)));
    table.render(painter) + &warnings.collect::<String>()
}

fn state(item: &ModelView) -> OutputTableCell {
    if item.permitted == Some(false) {
        return OutputTableCell::new("not permitted", OutputCellStyle::Doubtful);
    }
    match (item.state, item.resting_until) {
        (ModelState::Well, _) => OutputTableCell::new("well", OutputCellStyle::Good),
        (ModelState::Shaky, _) => OutputTableCell::new(describe_failures(item), OutputCellStyle::Doubtful),
        (ModelState::Resting, Some(until)) => OutputTableCell::new(
            format!("circuit open until {} UTC", format_time(until)),
            OutputCellStyle::Bad,
        ),
        (ModelState::Resting, None) => OutputTableCell::new("resting", OutputCellStyle::Bad),
        (ModelState::Unknown, _) => OutputTableCell::new("not called recently", OutputCellStyle::Dim),
    }
}

fn describe_failures(item: &ModelView) -> String {
    let last = item.last_outcome.as_deref().unwrap_or_default().replace('_', " ");
    match item.failures_lately {
        0 | 1 => format!("last: {last}"),
        many => format!("failed {many} times, last: {last}"),
    }
}

/// `$3`, `$0.25`, `free`, `unknown`.
fn dollars(micros: Option<i64>) -> String {
    match micros {
        None => "unknown".to_owned(),
        Some(0) => "free".to_owned(),
        Some(micros) => {
            let text = Cost::from_micros(micros).to_string();
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}
