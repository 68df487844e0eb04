//! `munshi connector logout NAME`

use clap::Args;
use munshi_operations::connectors::{ConnectorInput, LogoutConnector};
use munshi_types::ConnectorName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::table::sanitize_line;

#[derive(Debug, Args)]
pub(crate) struct ConnectorLogoutArguments {
    name: ConnectorName,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorLogoutArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let input = ConnectorInput { name: arguments.name.clone() };
    let ended = context.run_operation::<LogoutConnector>(&target, &input)?;
    context.output.print_result(&ended, |ended, _| match &ended.login_note {
        Some(note) => sanitize_line(note) + "\n",
        None if ended.logged_out => format!("Removed the login of {}.\n", ended.connector),
        None => format!("Nobody was logged in to {}. Links to log in no longer work.\n", ended.connector),
    })
}
