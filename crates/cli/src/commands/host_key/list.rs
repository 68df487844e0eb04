//! `munshi host-key list`

use clap::Args;
use munshi_identity::hosts::HostKeyValueKind;
use munshi_operations::NameListInput;
use munshi_operations::host_keys::{HostKeyView, ListHostKeys};
use munshi_pack::operation::ListView;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct HostKeyListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    sorting: ListOrderArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &HostKeyListArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    let order = arguments.sorting.order;
    let keys = context.run_whole_list::<ListHostKeys, _>(&target, |after| {
        Ok(NameListInput { after, limit: Some(LARGEST_PAGE), order })
    })?;
    context.output.print_result(&keys, render_text)
}

fn render_text(keys: &ListView<HostKeyView>, painter: TextStyler) -> String {
    if keys.items.is_empty() {
        return "No host keys yet. Add one with `munshi host-key add KID --secret NAME`.".to_owned();
    }
    let mut table =
        OutputTable::new(&["KID", "HOST", "STATE", "ALGORITHM", "FROM", "ADDED (UTC)", "EXPIRES (UTC)"]);
    for key in &keys.items {
        let from = match key.holds {
            HostKeyValueKind::Secret => format!("vault:{}", key.value),
            HostKeyValueKind::Public => "public key".to_owned(),
            HostKeyValueKind::Address => key.value.clone(),
        };
        table.add_row([
            key.kid.as_str().into(),
            key.host.as_str().into(),
            match key.good {
                true => OutputTableCell::new("good", OutputCellStyle::Good),
                false => OutputTableCell::new("ended", OutputCellStyle::Dim),
            },
            key.algorithm.as_str().into(),
            from.into(),
            format_time(key.added_at).into(),
            key.ends_at.map_or_else(|| "-".to_owned(), format_time).into(),
        ]);
    }
    table.render(painter)
}
