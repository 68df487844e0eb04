//! `munshi models capabilities` and `munshi models set`: which models answer a tenant, use by use.

use clap::Args;
use munshi_operations::NameListInput;
use munshi_operations::models::{
    ListModelCapabilities, ModelCapabilityView, SetModelCapability, SetModelCapabilityInput,
};
use munshi_pack::operation::ListView;
use munshi_store::SortOrder;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct ModelSetArguments {
    /// Use, such as default, cheap, multilingual, chat_tools or embeddings; see `munshi models capabilities`
    capability: String,
    /// Models by their names in the settings, the first choice first. Without any, the installation's choice holds
    models: Vec<String>,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn list(
    context: &CommandContext,
    tenant: &TenantSelectorArguments,
    order: Option<SortOrder>,
) -> Result<()> {
    let target = OperationTarget { of: tenant, operator: None };
    let view = context.run_whole_list::<ListModelCapabilities, _>(&target, |after| {
        Ok(NameListInput { after, limit: Some(LARGEST_PAGE), order })
    })?;
    context.output.print_result(&view, render_list)
}

pub(super) fn set(
    context: &CommandContext,
    tenant: &TenantSelectorArguments,
    arguments: &ModelSetArguments,
) -> Result<()> {
    let target = OperationTarget { of: tenant, operator: Some(&arguments.operator) };
    let input = SetModelCapabilityInput {
        capability: arguments.capability.clone(),
        models: arguments.models.clone(),
    };
    let view = context.run_operation::<SetModelCapability>(&target, &input)?;
    context.output.print_result(&view, |view, painter| render_table([view], painter))
}

fn render_list(list: &ListView<ModelCapabilityView>, painter: TextStyler) -> String {
    render_table(&list.items, painter)
}

fn render_table<'a>(items: impl IntoIterator<Item = &'a ModelCapabilityView>, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&["USED FOR", "MODELS", "SET BY", "NOT PERMITTED"]);
    for item in items {
        let set_by = match (&item.falls_back_to, item.set_by.as_str()) {
            (Some(other), "fallback") => OutputTableCell::new(format!("as {other}"), OutputCellStyle::Dim),
            (None, "fallback") => OutputTableCell::new("nobody", OutputCellStyle::Dim),
            (_, origin) => origin.to_owned().into(),
        };
        table.add_row([
            item.capability.clone().into(),
            item.models.join(", ").into(),
            set_by,
            OutputTableCell::new(item.not_permitted.join(", "), OutputCellStyle::Doubtful),
        ]);
    }
    table.render(painter)
}
