//! `munshi tier list TENANT`

use clap::Args;
use munshi_tiers::history;
use munshi_types::TenantName;
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct TierListArguments {
    /// Tenant
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

pub(super) fn run(context: &CommandContext, arguments: &TierListArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let tiers = context.block_on(async {
        let db = database.open().await?;
        Ok(history::list_tiers(&db, &arguments.tenant).await?)
    })?;
    let items = tiers.into_iter().map(|tier| Item {
        kind: tier.kind,
        name: tier.name,
        status: tier.status,
        version: tier.version,
        tokens: tier.tokens.total,
    });
    context.output.print_result(&Listing { items: items.collect() }, render_text)
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
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
