//! `munshi connector list`

use clap::Args;
use munshi_connectors::entries::{ConnectorEntry, ConnectorTransport};
use munshi_connectors::{ConnectorState, ConnectorStatus, rows};
use munshi_types::{ConnectorName, TenantName};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct ConnectorListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
}

#[derive(Debug, Serialize)]
struct Listing {
    tenant: TenantName,
    items: Vec<Item>,
}

#[derive(Debug, Serialize)]
struct Item {
    name: ConnectorName,
    reached: String,
    /// On each node that runs it; empty where none does.
    nodes: Vec<ConnectorStatus>,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorListArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let now = context.now();
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let (declared, states) = db
            .read(tenant.id, move |tx| -> munshi_connectors::Result<_> {
                Ok((rows::load_entries(tx)?.1, rows::list_states(tx, now)?))
            })
            .await?;
        let items = declared.0.into_iter().map(|(name, entry)| Item {
            nodes: states
                .iter()
                .filter(|(of, _)| of == name.as_str())
                .map(|(_, standing)| standing.clone())
                .collect(),
            reached: describe_transport(&entry),
            name,
        });
        Ok(Listing { tenant: tenant.name, items: items.collect() })
    })?;
    context.output.print_result(&listing, render_text)
}

fn describe_transport(entry: &ConnectorEntry) -> String {
    match entry.resolve_transport() {
        Ok(ConnectorTransport::Child) => entry.command.join(" "),
        Ok(ConnectorTransport::Http(url)) => url.to_string(),
        Ok(ConnectorTransport::OpenApi(..)) => {
            format!("openapi: {}", entry.openapi.as_deref().unwrap_or_default())
        }
        Ok(ConnectorTransport::Inside(name)) => format!("inside: {name}"),
        Err(what) => what,
    }
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No connectors yet. Add one with `munshi connector add NAME -- COMMAND`.\n".to_owned();
    }
    let mut table =
        OutputTable::new(&["NAME", "STATE", "TOOLS", "CONFINED", "SERVER", "SINCE (UTC)", "TRANSPORT"]);
    let mut notes = String::new();
    for item in &listing.items {
        let unknown = ConnectorStatus { state: ConnectorState::Stopped, ..ConnectorStatus::default() };
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

fn state(standing: &ConnectorStatus, is_unknown: bool) -> OutputTableCell {
    match standing.state {
        _ if is_unknown => OutputTableCell::new("not running", OutputCellStyle::Dim),
        ConnectorState::Ready if standing.held => OutputTableCell::new("held", OutputCellStyle::Doubtful),
        ConnectorState::Ready if standing.is_unsafe() => {
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

fn build_confined_cell(standing: &ConnectorStatus) -> OutputTableCell {
    match standing.confined {
        Some(true) => OutputTableCell::new("yes", OutputCellStyle::Good),
        Some(false) => OutputTableCell::new("NO", OutputCellStyle::Doubtful),
        None => OutputTableCell::new("-", OutputCellStyle::Dim),
    }
}

/// What a person has to know beside the row.
fn remarks(name: &ConnectorName, standing: &ConnectorStatus, painter: TextStyler) -> String {
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
