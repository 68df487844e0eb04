//! `munshi tenant list`

use clap::Args;
use munshi_operations::tenants::{ListTenants, TenantView};
use munshi_pack::operation::{ListInput, ListView};
use munshi_store::ListCursor;
use munshi_wiring::failure::{CommandFailure, Result};

use super::row;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::table::OutputTable;

const LARGEST_PAGE: u32 = 500;

#[derive(Debug, Args)]
pub(crate) struct TenantListArguments {
    /// Maximum number of rows. Default: all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Continue after this cursor: the `next` of the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<ListCursor>,
    #[command(flatten)]
    sorting: ListOrderArguments,
}

/// Follows the pages until there are no more, or enough.
pub(super) fn run(context: &CommandContext, arguments: &TenantListArguments) -> Result<()> {
    let target = OperationTarget::installation(None);
    let wanted = arguments.limit.unwrap_or(u32::MAX);
    let order = arguments.sorting.order;
    let mut input = ListInput { after: arguments.after, limit: Some(wanted.min(LARGEST_PAGE)), order };
    let mut all = context.run_operation::<ListTenants>(&target, &input)?;
    while let Some(next) = &all.next {
        let left = wanted.saturating_sub(u32::try_from(all.items.len()).unwrap_or(u32::MAX));
        if left == 0 {
            break;
        }
        let after = next.parse().map_err(|_| CommandFailure::failed("the next page can't be asked for"))?;
        input = ListInput { after: Some(after), limit: Some(left.min(LARGEST_PAGE)), order };
        let page = context.run_operation::<ListTenants>(&target, &input)?;
        all.items.extend(page.items);
        all.next = page.next;
    }
    context.output.print_result(&all, render_text)
}

pub(super) fn render_text(listing: &ListView<TenantView>, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No tenants yet. Add the first with `munshi tenant add NAME`.".to_owned();
    }
    let mut table = OutputTable::new(&["NAME", "STATUS", "ZONE", "ADDED (UTC)", "ID"]);
    listing.items.iter().for_each(|tenant| table.add_row(row(tenant)));
    let mut text = table.render(painter);
    if let Some(next) = &listing.next {
        text += &format!("More rows: add --after {next}\n");
    }
    text
}
