//! `munshi person list`

use clap::Args;
use munshi_identity::persons::{self, Wanted};
use munshi_identity::{Address, Role};
use munshi_store::{Cursor, PageRequest};
use munshi_types::TenantName;
use serde::Serialize;

use super::Shown;
use crate::commands::tenant::Of;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::Painter;
use crate::output::table::{Cell, Table, Tone};
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    of: Of,
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

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let wanted = if arguments.all { Wanted::Everybody } else { Wanted::Here };
    let request = PageRequest::new(arguments.after, arguments.limit);
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let name = tenant.name.clone();
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Listing, Failure> {
            let page = persons::list(tx, wanted, &request)?;
            let items = page.items.into_iter().map(|person| Shown::of(tx, person)).collect::<Result<_>>()?;
            Ok(Listing { tenant: name, items, next: page.next })
        };
        db.read(tenant.id, unit).await
    })?;
    context.output.answer(&listing, words)
}

fn words(listing: &Listing, painter: Painter) -> String {
    if listing.items.is_empty() {
        return format!(
            "Nobody yet. `munshi person add NAME --role owner --tenant {}` adds the owner.",
            listing.tenant
        );
    }
    let mut table = Table::new(&["NAME", "ROLE", "REACHED AT", "TAGS", "LANGUAGE", "ID"]);
    for Shown { person, addresses } in &listing.items {
        let (role, tone) = match (person.left_at, person.role) {
            (Some(_), _) => ("left", Tone::Dim),
            (None, Some(role)) => (Role::as_str(role), Tone::Good),
            (None, None) => ("-", Tone::Plain),
        };
        let addresses: Vec<&str> = addresses.iter().map(Address::as_str).collect();
        table.row([
            person.name.as_str().into(),
            Cell::new(role, tone),
            addresses.join(", ").into(),
            person.tags.join(", ").into(),
            person.language.map_or("-", |language| language.code()).into(),
            Cell::new(person.id.to_string(), Tone::Dim),
        ]);
    }
    let mut text = table.render(painter);
    if let Some(next) = &listing.next {
        text += &format!("There are more: add --after {next}\n");
    }
    text
}
