//! `munshi connector remove NAME`

use clap::Args;
use munshi_operations::connectors::{ConnectorInput, RemoveConnector};
use munshi_types::ConnectorName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::table::sanitize_line;

#[derive(Debug, Args)]
pub(crate) struct ConnectorRemoveArguments {
    name: ConnectorName,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorRemoveArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let input = ConnectorInput { name: arguments.name.clone() };
    let removed = context.run_operation::<RemoveConnector>(&target, &input)?;
    context.output.print_result(&removed, |removed, _| {
        let note = removed.login_note.as_ref().map(|note| sanitize_line(note) + "\n").unwrap_or_default();
        format!(
            "Removed the connector {}. A running server stops it within seconds; its folder and log are kept.\n{note}",
            removed.connector
        )
    })
}
