//! `munshi operator list`

use clap::Args;
use munshi_operations::NameListInput;
use munshi_operations::operators::{ListOperators, OperatorView};
use munshi_pack::operation::ListView;
use munshi_types::TenantName;
use munshi_wiring::failure::Result;

use super::invitations;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::OutputTable;

#[derive(Debug, Args)]
pub(crate) struct OperatorListArguments {
    /// Only operators of this tenant, and keepers
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// List open invitations instead
    #[arg(long)]
    invited: bool,
    #[command(flatten)]
    sorting: ListOrderArguments,
}

pub(super) fn run(context: &CommandContext, arguments: OperatorListArguments) -> Result<()> {
    let of = TenantSelectorArguments::named(arguments.tenant);
    let target = OperationTarget { of: &of, operator: None };
    let order = arguments.sorting.order;
    if arguments.invited {
        return invitations::run(context, &target, order);
    }
    let all = context.run_whole_list::<ListOperators, _>(&target, |after| {
        Ok(NameListInput { after, limit: Some(LARGEST_PAGE), order })
    })?;
    context.output.print_result(&all, render_text)
}

fn render_text(all: &ListView<OperatorView>, painter: TextStyler) -> String {
    if all.items.is_empty() {
        return "There is no operator yet. Create a link for the first one with `munshi operator link`."
            .to_owned();
    }
    let mut table = OutputTable::new(&["E-MAIL", "NAME", "ACCESS", "SINCE (UTC)"]);
    for OperatorView { email, name, keeper, roles, made_at, .. } in &all.items {
        let mut places: Vec<String> =
            roles.iter().map(|given| format!("{} ({})", given.tenant, given.role)).collect();
        if *keeper {
            places.insert(0, "everything (keeper)".to_owned());
        }
        let places = if places.is_empty() { "-".to_owned() } else { places.join(", ") };
        table.add_row([
            email.as_str().into(),
            name.as_str().into(),
            places.into(),
            format_time(*made_at).into(),
        ]);
    }
    table.render(painter)
}
