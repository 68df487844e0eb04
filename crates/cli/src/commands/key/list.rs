//! `munshi key list`

use clap::Args;
use munshi_identity::keys::{self, ApiKeyRecord, AreaGrant};
use munshi_store::{Cursor, PageRequest};
use munshi_types::{TenantName, Timestamp};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use super::format_subject;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct KeyListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Continue after this cursor: the `next` of the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<Cursor>,
}

#[derive(Debug, Serialize)]
struct Listing {
    tenant: TenantName,
    items: Vec<Item>,
    next: Option<Cursor>,
}

#[derive(Debug, Serialize)]
struct Item {
    #[serde(flatten)]
    key: ApiKeyRecord,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    Ended,
    Revoked,
}

impl State {
    fn from_key(key: &ApiKeyRecord, now: Timestamp) -> Self {
        match (key.revoked_at, key.expires_at) {
            (Some(_), _) => Self::Revoked,
            (None, Some(end)) if end <= now => Self::Ended,
            (None, _) => Self::Open,
        }
    }

    fn cell(self) -> OutputTableCell {
        match self {
            Self::Open => OutputTableCell::new("open", OutputCellStyle::Good),
            Self::Ended => OutputTableCell::new("ended", OutputCellStyle::Dim),
            Self::Revoked => OutputTableCell::new("revoked", OutputCellStyle::Dim),
        }
    }
}

pub(super) fn run(context: &CommandContext, arguments: &KeyListArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let request = PageRequest::new(arguments.after, arguments.limit);
    let now = context.now();
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let page = db.read(tenant.id, move |tx| keys::list(tx, &request)).await?;
        let items =
            page.items.into_iter().map(|key| Item { state: State::from_key(&key, now), key }).collect();
        Ok(Listing { tenant: tenant.name, items, next: page.next })
    })?;
    context.output.print_result(&listing, render_text)
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        let tenant = &listing.tenant;
        return format!(
            "No keys yet. Add one with `munshi key add NAME --role staff --speaks-as program --tenant {tenant}`."
        );
    }
    let headings =
        ["NAME", "STATE", "PREFIX", "ACTS AS", "SPEAKS AS", "ACCESS", "EXPIRES (UTC)", "LAST USED (UTC)"];
    let mut table = OutputTable::new(&headings);
    for Item { key, state } in &listing.items {
        let handles: Vec<&str> = key.secrets.iter().map(|secret| secret.handle.as_str()).collect();
        table.add_row([
            key.name.as_str().into(),
            state.cell(),
            handles.first().copied().unwrap_or("-").into(),
            format_subject(key).into(),
            key.speaks_as.as_str().into(),
            format_access(key).into(),
            key.expires_at.map_or_else(|| "-".to_owned(), format_time).into(),
            key.last_used_at.map_or_else(|| "-".to_owned(), format_time).into(),
        ]);
    }
    let mut text = table.render(painter);
    if let Some(next) = &listing.next {
        text += &format!("More rows: add --after {next}\n");
    }
    text
}

fn format_access(key: &ApiKeyRecord) -> String {
    let areas =
        key.areas.as_ref().map(|areas| areas.iter().map(AreaGrant::to_string).collect::<Vec<_>>().join(", "));
    let areas = areas.unwrap_or_else(|| "all".to_owned());
    match key.bindings.as_ref().map(Vec::len) {
        None => areas,
        Some(1) => format!("{areas} (1 binding)"),
        Some(count) => format!("{areas} ({count} bindings)"),
    }
}
