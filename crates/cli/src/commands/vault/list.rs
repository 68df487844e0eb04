//! `munshi vault list`

use munshi_safety::vault::{self, SecretInfo};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use super::TenantScopeArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::OutputTable;

#[derive(Debug, Serialize)]
struct Listing {
    items: Vec<SecretInfo>,
}

pub(super) fn run(context: &CommandContext, whose: &TenantScopeArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let items = context.block_on(async {
        let db = database.open().await?;
        let tenant = whose.find(&db).await?;
        Ok(vault::list(&db, tenant).await?)
    })?;
    context.output.print_result(&Listing { items }, render_text)
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No secrets yet. Add one with `munshi vault set NAME`.".to_owned();
    }
    let mut table = OutputTable::new(&["NAME", "VERSION", "SET (UTC)"]);
    for item in &listing.items {
        table.add_row([
            item.name.as_str().into(),
            item.version.to_string().into(),
            format_time(item.set_at).into(),
        ]);
    }
    table.render(painter)
}
