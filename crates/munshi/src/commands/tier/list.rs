//! `munshi tier list TENANT`

use clap::Args;
use munshi_tiers::history;
use munshi_types::TenantName;
use munshi_types::tier::{TierKind, TierName, TierStatus};
use serde::Serialize;

use crate::context::Context;
use crate::failure::Result;
use crate::output::Painter;
use crate::output::table::{Cell, Table, Tone};
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Whose
    tenant: TenantName,
}

#[derive(Debug, Serialize)]
struct Listing {
    items: Vec<Item>,
}

#[derive(Debug, Serialize)]
struct Item {
    kind: TierKind,
    name: TierName,
    status: TierStatus,
    version: u32,
    tokens: u64,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let tiers = context.block_on(async {
        let db = database.open().await?;
        Ok(history::tiers(&db, &arguments.tenant).await?)
    })?;
    let items = tiers.into_iter().map(|tier| Item {
        kind: tier.kind,
        name: tier.name,
        status: tier.status,
        version: tier.version,
        tokens: tier.tokens.total,
    });
    context.output.answer(&Listing { items: items.collect() }, words)
}

fn words(listing: &Listing, painter: Painter) -> String {
    if listing.items.is_empty() {
        return "No tiers yet. `munshi apply DIR` brings some.".to_owned();
    }
    let mut table = Table::new(&["KIND", "NAME", "STATUS", "VERSION", "TOKENS"]);
    for item in &listing.items {
        let tone = if item.status == TierStatus::Active { Tone::Good } else { Tone::Dim };
        let tokens = if item.kind == TierKind::Binding { "-".to_owned() } else { item.tokens.to_string() };
        table.row([
            item.kind.as_str().into(),
            item.name.as_str().into(),
            Cell::new(item.status.as_str(), tone),
            item.version.to_string().into(),
            tokens.into(),
        ]);
    }
    table.render(painter)
}
