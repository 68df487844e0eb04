//! `munshi vault list`

use munshi_safety::vault::{self, Listed};
use serde::Serialize;

use super::Whose;
use crate::context::Context;
use crate::failure::Result;
use crate::output::Painter;
use crate::output::shown::moment;
use crate::output::table::Table;
use crate::wiring::database::Database;

#[derive(Debug, Serialize)]
struct Listing {
    items: Vec<Listed>,
}

pub(super) fn run(context: &Context, whose: &Whose) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let items = context.block_on(async {
        let db = database.open().await?;
        let tenant = whose.find(&db).await?;
        Ok(vault::list(&db, tenant).await?)
    })?;
    context.output.answer(&Listing { items }, words)
}

fn words(listing: &Listing, painter: Painter) -> String {
    if listing.items.is_empty() {
        return "No secrets yet. Keep one with `munshi vault set NAME`.".to_owned();
    }
    let mut table = Table::new(&["NAME", "VERSION", "SET (UTC)"]);
    for item in &listing.items {
        table.row([item.name.as_str().into(), item.version.to_string().into(), moment(item.set_at).into()]);
    }
    table.render(painter)
}
