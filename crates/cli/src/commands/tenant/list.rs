//! `munshi tenant list`

use clap::Args;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest};
use munshi_types::Tenant;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use super::row;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::table::OutputTable;

#[derive(Debug, Args)]
pub(crate) struct TenantListArguments {
    /// Maximum number of rows. Default: all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Listing {
    items: Vec<Tenant>,
}

pub(super) fn run(context: &CommandContext, arguments: &TenantListArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let wanted = arguments.limit.map_or(usize::MAX, |limit| limit as usize);
    let items = context.block_on(async { gather(&database.open().await?, wanted).await })?;
    context.output.print_result(&Listing { items }, render_text)
}

/// Follows the pages until there are no more, or enough.
async fn gather(db: &Db, wanted: usize) -> Result<Vec<Tenant>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let left = u32::try_from(wanted - found.len()).unwrap_or(u32::MAX);
        let request = PageRequest::new(after, left);
        let page = db.platform(TENANTS).read(move |tx| tenants::list(tx, &request)).await?;
        found.extend(page.items);
        after = page.next;
        if after.is_none() || found.len() >= wanted {
            return Ok(found);
        }
    }
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No tenants yet. Add the first with `munshi tenant add NAME`.".to_owned();
    }
    let mut table = OutputTable::new(&["NAME", "STATUS", "ZONE", "ADDED (UTC)", "ID"]);
    listing.items.iter().for_each(|tenant| table.add_row(row(tenant)));
    table.render(painter)
}
