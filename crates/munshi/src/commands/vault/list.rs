//! `munshi vault list`

use munshi_safety::vault::{self, SecretInfo};
use serde::Serialize;

use super::TenantScopeArguments;
use crate::context::CommandContext;
use crate::failure::Result;
use crate::output::TextStyler;
use crate::output::shown::moment;
use crate::output::table::OutputTable;
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Serialize)]
struct Listing {
    items: Vec<SecretInfo>,
}

pub(super) fn run(context: &CommandContext, whose: &TenantScopeArguments) -> Result<()> {
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let items = context.block_on(async {
        let db = database.open().await?;
        let tenant = whose.find(&db).await?;
        Ok(vault::list(&db, tenant).await?)
    })?;
    context.output.answer(&Listing { items }, words)
}

fn words(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No secrets yet. Keep one with `munshi vault set NAME`.".to_owned();
    }
    let mut table = OutputTable::new(&["NAME", "VERSION", "SET (UTC)"]);
    for item in &listing.items {
        table.row([item.name.as_str().into(), item.version.to_string().into(), moment(item.set_at).into()]);
    }
    table.render(painter)
}
