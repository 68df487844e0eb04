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

/// When something came by it last, and what is wrong with it.
fn render_hearing(item: &ChannelView) -> String {
    if matches!(item.receive, None | Some(ReceiveWay::None)) {
        return "-".to_owned();
    }
    let heard = item.heard_at.map_or_else(|| "never".to_owned(), format_time);
    match &item.fault {
        Some(fault) => format!("{heard}: {fault}"),
        None => heard,
    }
}

#[cfg(test)]
mod tests {
    use munshi_channels::accounts::ChannelAccountKind;

    use super::*;

    #[test]
    fn what_is_wrong_is_shown_though_nothing_was_ever_heard() {
        let view = |receive, fault: Option<&str>| ChannelView {
            name: "mail".parse().unwrap(),
            kind: ChannelAccountKind::Email,
            address: None,
            server: None,
            login: None,
            bindings: Vec::new(),
            per_minute: None,
            receive,
            webhook: None,
            heard_at: None,
            fault: fault.map(str::to_owned),
        };
        assert_eq!(
            render_hearing(&view(Some(ReceiveWay::Poll), Some("wrong password"))),
            "never: wrong password"
        );
        assert_eq!(render_hearing(&view(Some(ReceiveWay::Webhook), None)), "never");
        assert_eq!(render_hearing(&view(Some(ReceiveWay::None), Some("x"))), "-");
        assert_eq!(render_hearing(&view(None, None)), "-");
    }
}
