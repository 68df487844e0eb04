//! `munshi connector list`

use clap::Args;
use munshi_connectors::declared::{Entry, Reached};
use munshi_connectors::{Standing, State, rows};
use munshi_types::{ConnectorName, TenantName};
use serde::Serialize;

use crate::commands::tenant::Of;
use crate::context::Context;
use crate::failure::Result;
use crate::output::Painter;
use crate::output::shown::moment;
use crate::output::table::{Cell, Table, Tone};
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    of: Of,
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
    nodes: Vec<Standing>,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let now = context.now();
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let (declared, states) = db
            .read(tenant.id, move |tx| -> munshi_connectors::Result<_> {
                Ok((rows::current(tx)?.1, rows::states(tx, now)?))
            })
            .await?;
        let items = declared.0.into_iter().map(|(name, entry)| Item {
            nodes: states
                .iter()
                .filter(|(of, _)| of == name.as_str())
                .map(|(_, standing)| standing.clone())
                .collect(),
            reached: reached(&entry),
            name,
        });
        Ok(Listing { tenant: tenant.name, items: items.collect() })
    })?;
    context.output.answer(&listing, words)
}

fn reached(entry: &Entry) -> String {
    match entry.reached() {
        Ok(Reached::Child) => entry.command.join(" "),
        Ok(Reached::Http(url)) => url.to_string(),
        Ok(Reached::OpenApi(..)) => format!("openapi: {}", entry.openapi.as_deref().unwrap_or_default()),
        Ok(Reached::Inside(name)) => format!("inside: {name}"),
        Err(what) => what,
    }
}

fn words(listing: &Listing, painter: Painter) -> String {
    if listing.items.is_empty() {
        return "No connectors yet. `munshi connector add NAME -- COMMAND` adds one.\n".to_owned();
    }
    let mut table =
        Table::new(&["NAME", "STATE", "TOOLS", "CONFINED", "SERVER", "SINCE (UTC)", "REACHED BY"]);
    let mut notes = String::new();
    for item in &listing.items {
        let unknown = Standing { state: State::Stopped, ..Standing::default() };
        for standing in item.nodes.iter().chain(item.nodes.is_empty().then_some(&unknown)) {
            table.row([
                item.name.as_str().into(),
                state(standing, item.nodes.is_empty()),
                standing.tools.to_string().into(),
                confined(standing),
                Cell::short(&format!("{} {}", standing.server, standing.version), 30, Tone::Plain),
                standing.since.map_or_else(|| "-".to_owned(), moment).into(),
                Cell::short(&item.reached, 50, Tone::Dim),
            ]);
            notes += &remarks(&item.name, standing, painter);
        }
    }
    table.render(painter) + &notes
}

fn state(standing: &Standing, is_unknown: bool) -> Cell {
    match standing.state {
        _ if is_unknown => Cell::new("not running", Tone::Dim),
        State::Ready if standing.held => Cell::new("held", Tone::Doubtful),
        State::Ready if standing.is_unsafe() => Cell::new("ready, UNSAFE", Tone::Doubtful),
        State::Ready => Cell::new("ready", Tone::Good),
        State::Starting | State::Restarting => Cell::new(standing.state.as_str(), Tone::Doubtful),
        State::WantsLogin => Cell::new("wants a login", Tone::Doubtful),
        State::Degraded => Cell::new("DEGRADED", Tone::Bad),
        State::Stopped => Cell::new("stopped", Tone::Dim),
    }
}

fn confined(standing: &Standing) -> Cell {
    match standing.confined {
        Some(true) => Cell::new("yes", Tone::Good),
        Some(false) => Cell::new("NO", Tone::Doubtful),
        None => Cell::new("-", Tone::Dim),
    }
}

/// What a person has to know beside the row.
fn remarks(name: &ConnectorName, standing: &Standing, painter: Painter) -> String {
    let mut said = String::new();
    if standing.state == State::Degraded || standing.state == State::Restarting {
        said += &format!("{name}: {}. `munshi connector logs {name}` shows what it said.\n", standing.why);
    }
    if standing.state == State::WantsLogin {
        said += &format!(
            "{name}: its service wants somebody to sign in. `munshi connector login {name}` begins that.\n"
        );
    }
    if standing.confined == Some(false) {
        said +=
            &format!("{name}: this machine can't confine its program, so it can read whatever Munshi can.\n");
    }
    if standing.held {
        said += &format!(
            "{name}: its tools changed, so it only looks. `munshi connector accept {name} --dry-run` shows what changed.\n"
        );
    }
    if standing.undeclared > 0 && !standing.held {
        let count = standing.undeclared;
        said += &format!(
            "{name}: nobody says what {count} of its tools do, so these only look or are refused. Declare them in \
             connectors.toml under [{name}.tools.TOOL].\n"
        );
    }
    for left in standing.left_out.iter().take(5) {
        said += &format!("{name}: {} is left out: {}\n", left.tool, left.why);
    }
    painter.dim(&crate::output::without_commands(&said))
}
