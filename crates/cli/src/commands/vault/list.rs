//! `munshi vault list`

use clap::Args;
use munshi_operations::NameListInput;
use munshi_operations::vault::{ListSecrets, SecretView};
use munshi_pack::operation::ListView;
use munshi_wiring::failure::Result;

use super::TenantScopeArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::OutputTable;

#[derive(Debug, Args)]
pub(crate) struct VaultListArguments {
    #[command(flatten)]
    whose: TenantScopeArguments,
    #[command(flatten)]
    sorting: ListOrderArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &VaultListArguments) -> Result<()> {
    let of = arguments.whose.selector();
    let order = arguments.sorting.order;
    let target = OperationTarget { of: &of, operator: None };
    let listing = context.run_whole_list::<ListSecrets, _>(&target, |after| {
        Ok(NameListInput { after, limit: Some(LARGEST_PAGE), order })
    })?;
    context.output.print_result(&listing, render_text)
}

fn render_text(listing: &ListView<SecretView>, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No secrets yet. Add one with `munshi vault set NAME`.".to_owned();
    }
    let mut table = OutputTable::new(&["NAME", "VERSION", "SET (UTC)"]);
    for item in &listing.items {
        table.add_row([
            item.name.as_str().into(),
            item.version.to_string().into(),
            format_time(item.set_at).into(),
        ]);
    }
    table.render(painter)
}
