//! `munshi person list`

use clap::Args;
use munshi_identity::persons::{self, PersonFilter};
use munshi_identity::{ContactAddress, Role};
use munshi_store::{Cursor, PageRequest};
use munshi_types::TenantName;
use serde::Serialize;

use super::Shown;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Args)]
pub(crate) struct PersonListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    /// Those who have left too
    #[arg(long)]
    all: bool,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Go on after this page mark, which the page before gave as its `next`
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
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let wanted = if arguments.all { PersonFilter::Everybody } else { PersonFilter::Here };
    let request = PageRequest::new(arguments.after, arguments.limit);
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let name = tenant.name.clone();
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Listing, CommandFailure> {
            let page = persons::list(tx, wanted, &request)?;
            let items = page.items.into_iter().map(|person| Shown::of(tx, person)).collect::<Result<_>>()?;
            Ok(Listing { tenant: name, items, next: page.next })
        };
        db.read(tenant.id, unit).await
    })?;
    context.output.answer(&listing, words)
}

fn words(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return format!(
            "Nobody yet. `munshi person add NAME --role owner --tenant {}` adds the owner.",
            listing.tenant
        );
    }
    let mut table = OutputTable::new(&["NAME", "ROLE", "REACHED AT", "TAGS", "LANGUAGE", "ID"]);
    for Shown { person, addresses } in &listing.items {
        let (role, tone) = match (person.left_at, person.role) {
            (Some(_), _) => ("left", OutputCellStyle::Dim),
            (None, Some(role)) => (Role::as_str(role), OutputCellStyle::Good),
            (None, None) => ("-", OutputCellStyle::Plain),
        };
        let addresses: Vec<&str> = addresses.iter().map(ContactAddress::as_str).collect();
        table.row([
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
        text += &format!("There are more: add --after {next}\n");
    }
    text
}
