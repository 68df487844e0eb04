//! `munshi key list`

use clap::Args;
use munshi_identity::keys::AreaGrant;
use munshi_operations::keys::{KeyState, KeyView, ListKeys};
use munshi_pack::operation::{ListInput, ListView};
use munshi_wiring::failure::Result;

use super::format_subject;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListPageArguments;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct KeyListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    page: ListPageArguments,
}

fn state_cell(state: KeyState) -> OutputTableCell {
    match state {
        KeyState::Open => OutputTableCell::new("open", OutputCellStyle::Good),
        KeyState::Ended => OutputTableCell::new("ended", OutputCellStyle::Dim),
        KeyState::Revoked => OutputTableCell::new("revoked", OutputCellStyle::Dim),
    }
}

pub(super) fn run(context: &CommandContext, arguments: &KeyListArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    let ListPageArguments { limit, after, sorting } = &arguments.page;
    let input = ListInput { after: *after, limit: Some(*limit), order: sorting.order };
    let listing = context.run_operation::<ListKeys>(&target, &input)?;
    context.output.print_result(&listing, render_text)
}

pub(super) fn render_text(listing: &ListView<KeyView>, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No keys yet. Add one with `munshi key add NAME --role staff --speaks-as program`."
            .to_owned();
    }
    let headings =
        ["NAME", "STATE", "PREFIX", "ACTS AS", "SPEAKS AS", "ACCESS", "EXPIRES (UTC)", "LAST USED (UTC)"];
    let mut table = OutputTable::new(&headings);
    for key in &listing.items {
        let handles: Vec<&str> = key.secrets.iter().map(|secret| secret.handle.as_str()).collect();
        table.add_row([
            key.name.as_str().into(),
            state_cell(key.state),
            handles.first().copied().unwrap_or("-").into(),
            format_subject(key).into(),
            key.speaks_as.as_str().into(),
            format_access(key).into(),
            key.expires_at.map_or_else(|| "-".to_owned(), format_time).into(),
            key.last_used_at.map_or_else(|| "-".to_owned(), format_time).into(),
        ]);
    }
    let mut text = table.render(painter);
    if let Some(next) = &listing.next {
        text += &format!("More rows: add --after {next}\n");
    }
    text
}

fn format_access(key: &KeyView) -> String {
    let areas =
        key.areas.as_ref().map(|areas| areas.iter().map(AreaGrant::to_string).collect::<Vec<_>>().join(", "));
    let areas = areas.unwrap_or_else(|| "all".to_owned());
    match key.bindings.as_ref().map(Vec::len) {
        None => areas,
        Some(1) => format!("{areas} (1 binding)"),
        Some(count) => format!("{areas} ({count} bindings)"),
    }
}
