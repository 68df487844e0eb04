//! `munshi person list`

use clap::Args;
use munshi_identity::Role;
use munshi_operations::persons::{ListPersons, ListPersonsInput, PersonView};
use munshi_pack::operation::ListView;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListPageArguments;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct PersonListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    /// Include people who left
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    page: ListPageArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &PersonListArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    let input = ListPersonsInput {
        everybody: arguments.all.then_some(true),
        after: arguments.page.after,
        limit: Some(arguments.page.limit),
        order: arguments.page.sorting.order,
    };
    let listing = context.run_operation::<ListPersons>(&target, &input)?;
    context.output.print_result(&listing, render_text)
}

pub(super) fn render_text(listing: &ListView<PersonView>, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No people yet. Add the owner with `munshi person add NAME --role owner`.".to_owned();
    }
    let mut table = OutputTable::new(&["NAME", "ROLE", "ADDRESSES", "TAGS", "LANGUAGE", "ID"]);
    for person in &listing.items {
        let (role, tone) = match (person.left_at, person.role) {
            (Some(_), _) => ("left", OutputCellStyle::Dim),
            (None, Some(role)) => (Role::as_str(role), OutputCellStyle::Good),
            (None, None) => ("-", OutputCellStyle::Plain),
        };
        let addresses: Vec<&str> = person.addresses.iter().map(|one| one.address.as_str()).collect();
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
