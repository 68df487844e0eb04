//! `munshi person list`

use clap::Args;
use munshi_identity::persons::{self, PersonFilter};
use munshi_identity::{ContactAddress, Role};
use munshi_store::{Cursor, PageRequest};
use munshi_types::TenantName;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;

use super::Shown;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct PersonListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    /// Include people who left
    #[arg(long)]
    all: bool,
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
    items: Vec<Shown>,
    next: Option<Cursor>,
}

pub(super) fn run(context: &CommandContext, arguments: &PersonListArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let wanted = if arguments.all { PersonFilter::Everybody } else { PersonFilter::Here };
    let request = PageRequest::new(arguments.after, arguments.limit);
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let name = tenant.name.clone();
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Listing, CommandFailure> {
            let page = persons::list(tx, wanted, &request)?;
            let items =
                page.items.into_iter().map(|person| Shown::load(tx, person)).collect::<Result<_>>()?;
            Ok(Listing { tenant: name, items, next: page.next })
        };
        db.read(tenant.id, unit).await
    })?;
    context.output.print_result(&listing, render_text)
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return format!(
            "No people yet. Add the owner with `munshi person add NAME --role owner --tenant {}`.",
            listing.tenant
        );
    }
    let mut table = OutputTable::new(&["NAME", "ROLE", "ADDRESSES", "TAGS", "LANGUAGE", "ID"]);
    for Shown { person, addresses } in &listing.items {
        let (role, tone) = match (person.left_at, person.role) {
            (Some(_), _) => ("left", OutputCellStyle::Dim),
            (None, Some(role)) => (Role::as_str(role), OutputCellStyle::Good),
            (None, None) => ("-", OutputCellStyle::Plain),
        };
        let addresses: Vec<&str> = addresses.iter().map(ContactAddress::as_str).collect();
        table.add_row([
            person.name.as_str().into(),
            OutputTableCell::new(role, tone),
            addresses.join(", ").into(),
            person.tags.join(", ").into(),
            person.language.map_or("-", |language| language.code()).into(),
            OutputTableCell::new(person.id.to_string(), OutputCellStyle::Dim),
        ]);
    }
    let mut text = table.render(painter);
    if let Some(next) = &listing.next {
        text += &format!("More rows: add --after {next}\n");
    }
    text
}
