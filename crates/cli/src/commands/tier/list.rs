//! `munshi tier list TENANT`

use clap::Args;
use munshi_operations::tiers::{ListTiers, ListTiersInput, TierView};
use munshi_pack::operation::ListView;
use munshi_types::TenantName;
use munshi_types::tier::{TierKind, TierStatus};
use munshi_wiring::failure::Result;

use super::PAGE;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct TierListArguments {
    /// Tenant
    tenant: TenantName,
    /// Only tiers of this kind: human, team, agent or binding
    #[arg(long)]
    kind: Option<TierKind>,
    #[command(flatten)]
    sorting: ListOrderArguments,
}

pub(super) fn run(context: &CommandContext, arguments: TierListArguments) -> Result<()> {
    let of = TenantSelectorArguments::named(arguments.tenant);
    let target = OperationTarget { of: &of, operator: None };
    let order = arguments.sorting.order;
    let mut input = ListTiersInput { kind: arguments.kind, after: None, limit: Some(PAGE), order };
    let mut listing = context.run_operation::<ListTiers>(&target, &input)?;
    while let Some(next) = listing.next.take() {
        input.after = Some(next);
        let page = context.run_operation::<ListTiers>(&target, &input)?;
        listing.items.extend(page.items);
        listing.next = page.next;
    }
    context.output.print_result(&listing, render_text)
}

fn render_text(listing: &ListView<TierView>, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No tiers yet. Add some with `munshi apply DIR`.".to_owned();
    }
    let mut table = OutputTable::new(&["KIND", "NAME", "STATUS", "VERSION", "TOKENS"]);
    for item in &listing.items {
        let tone =
            if item.status == TierStatus::Active { OutputCellStyle::Good } else { OutputCellStyle::Dim };
        let tokens = if item.kind == TierKind::Binding { "-".to_owned() } else { item.tokens.to_string() };
        table.add_row([
            item.kind.as_str().into(),
            item.name.as_str().into(),
            OutputTableCell::new(item.status.as_str(), tone),
            item.version.to_string().into(),
            tokens.into(),
        ]);
    }
    table.render(painter)
}
