//! `munshi channel list`

use clap::Args;
use munshi_channels::accounts::ReceiveWay;
use munshi_operations::NameListInput;
use munshi_operations::channels::{ChannelView, ListChannels};
use munshi_pack::operation::ListView;
use munshi_types::tier::TierName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct ChannelListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    sorting: ListOrderArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ChannelListArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    let order = arguments.sorting.order;
    let view = context.run_whole_list::<ListChannels, _>(&target, |after| {
        Ok(NameListInput { after, limit: Some(LARGEST_PAGE), order })
    })?;
    context.output.print_result(&view, render_text)
}

fn render_text(listing: &ListView<ChannelView>, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No channels yet: nothing can leave or come. Add one with `munshi channel add NAME --kind KIND`; docs/channels.md has the steps for each.\n"
            .to_owned();
    }
    let mut table = OutputTable::new(&[
        "NAME",
        "KIND",
        "ADDRESS",
        "BINDINGS",
        "A MINUTE",
        "HEARD",
        "SERVER OR ADDRESS FOR THE PROVIDER",
    ]);
    for item in &listing.items {
        let bindings: Vec<&str> = item.bindings.iter().map(TierName::as_str).collect();
        let bindings = if bindings.is_empty() { "all".to_owned() } else { bindings.join(", ") };
        table.add_row([
            item.name.as_str().into(),
            item.kind.as_str().into(),
            OutputTableCell::truncated(item.address.as_deref().unwrap_or("-"), 40, OutputCellStyle::Plain),
            OutputTableCell::truncated(&bindings, 30, OutputCellStyle::Plain),
            item.per_minute.map_or_else(|| "-".to_owned(), |count| count.to_string()).into(),
            OutputTableCell::truncated(&render_hearing(item), 60, OutputCellStyle::Plain),
            OutputTableCell::truncated(
                item.server.as_deref().or(item.webhook.as_deref()).unwrap_or("-"),
                120,
                OutputCellStyle::Dim,
            ),
        ]);
    }
    table.render(painter)
}

/// When something came by it last, and what was wrong with it.
fn render_hearing(item: &ChannelView) -> String {
    match (item.receive, item.heard_at, &item.fault) {
        (None | Some(ReceiveWay::None), ..) => "-".to_owned(),
        (Some(_), None, _) => "never".to_owned(),
        (Some(_), Some(at), None) => format_time(at),
        (Some(_), Some(at), Some(fault)) => format!("{}: {fault}", format_time(at)),
    }
}
