//! `munshi connector list`

use clap::Args;
use munshi_connectors::ConnectorState;
use munshi_operations::NameListInput;
use munshi_operations::connectors::{ConnectorNodeView, ConnectorView, ListConnectors};
use munshi_pack::operation::ListView;
use munshi_types::ConnectorName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct ConnectorListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    sorting: ListOrderArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorListArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    let order = arguments.sorting.order;
    let view = context.run_whole_list::<ListConnectors, _>(&target, |after| {
        Ok(NameListInput { after, limit: Some(LARGEST_PAGE), order })
    })?;
    context.output.print_result(&view, render_text)
}

fn render_text(listing: &ListView<ConnectorView>, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No connectors yet. Add one with `munshi connector add NAME -- COMMAND`.\n".to_owned();
    }
    let mut table =
        OutputTable::new(&["NAME", "STATE", "TOOLS", "CONFINED", "SERVER", "SINCE (UTC)", "TRANSPORT"]);
    let mut notes = String::new();
    for item in &listing.items {
        let unknown = ConnectorNodeView { state: ConnectorState::Stopped, ..ConnectorNodeView::default() };
        for standing in item.nodes.iter().chain(item.nodes.is_empty().then_some(&unknown)) {
            table.add_row([
                item.name.as_str().into(),
                state(standing, item.nodes.is_empty()),
                standing.tools.to_string().into(),
                build_confined_cell(standing),
                OutputTableCell::truncated(
                    &format!("{} {}", standing.server, standing.version),
                    30,
                    OutputCellStyle::Plain,
                ),
                standing.since.map_or_else(|| "-".to_owned(), format_time).into(),
                OutputTableCell::truncated(&item.reached, 50, OutputCellStyle::Dim),
            ]);
            notes += &remarks(&item.name, standing, painter);
        }
    }
    table.render(painter) + &notes
}

fn state(standing: &ConnectorNodeView, is_unknown: bool) -> OutputTableCell {
    match standing.state {
        _ if is_unknown => OutputTableCell::new("not running", OutputCellStyle::Dim),
        ConnectorState::Ready if standing.held => OutputTableCell::new("held", OutputCellStyle::Doubtful),
        ConnectorState::Ready if standing.undeclared > 0 => {
            OutputTableCell::new("ready, UNSAFE", OutputCellStyle::Doubtful)
        }
        ConnectorState::Ready => OutputTableCell::new("ready", OutputCellStyle::Good),
        ConnectorState::Starting | ConnectorState::Restarting => {
            OutputTableCell::new(standing.state.as_str(), OutputCellStyle::Doubtful)
        }
        ConnectorState::WantsLogin => OutputTableCell::new("login required", OutputCellStyle::Doubtful),
        ConnectorState::Degraded => OutputTableCell::new("DEGRADED", OutputCellStyle::Bad),
        ConnectorState::Stopped => OutputTableCell::new("stopped", OutputCellStyle::Dim),
    }
}

fn build_confined_cell(standing: &ConnectorNodeView) -> OutputTableCell {
    match standing.confined {
        Some(true) => OutputTableCell::new("yes", OutputCellStyle::Good),
        Some(false) => OutputTableCell::new("NO", OutputCellStyle::Doubtful),
        None => OutputTableCell::new("-", OutputCellStyle::Dim),
    }
}

/// What a person has to know beside the row.
fn remarks(name: &ConnectorName, standing: &ConnectorNodeView, painter: TextStyler) -> String {
    let mut said = String::new();
    if standing.state == ConnectorState::Degraded || standing.state == ConnectorState::Restarting {
        said += &format!("{name}: {}. See `munshi connector logs {name}`.\n", standing.why);
    }
    if standing.state == ConnectorState::WantsLogin {
        said += &format!("{name}: the service requires a login. Run `munshi connector login {name}`.\n");
    }
    if standing.confined == Some(false) {
        said +=
            &format!("{name}: not confined on this machine; the program can read everything Munshi can.\n");
    }
    if (standing.confined, standing.closes_sockets) == (Some(true), Some(false)) {
        said += &format!(
            "{name}: confined, except from sockets of services that run as the same user. See `munshi doctor`.\n"
        );
    }
    if standing.held {
        said += &format!(
            "{name}: its tools changed, so only reads are allowed. Review with `munshi connector accept {name} --dry-run`.\n"
        );
    }
    if standing.undeclared > 0 && !standing.held {
        let count = standing.undeclared;
        said += &format!(
            "{name}: {count} of its tools are undeclared, so they are read-only or refused. Declare them in \
             connectors.toml under [{name}.tools.TOOL].\n"
        );
    }
    for left in standing.left_out.iter().take(5) {
        said += &format!("{name}: tool {} is skipped: {}\n", left.tool, left.why);
    }
    painter.dim(&crate::output::sanitize_text(&said))
}
