//! `munshi connector accept NAME`

use clap::Args;
use munshi_operations::connectors::{AcceptConnector, AcceptConnectorInput};
use munshi_types::ConnectorName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::table::sanitize_line;

#[derive(Debug, Args)]
pub(crate) struct ConnectorAcceptArguments {
    name: ConnectorName,
    /// Only show what changed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorAcceptArguments) -> Result<()> {
    let only_show = arguments.dry_run;
    let input =
        AcceptConnectorInput { name: arguments.name.clone(), dry_run: Some(only_show), manifest: None };
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let review = context.run_operation::<AcceptConnector>(&target, &input)?;
    context.output.print_result(&review, |review, _| {
        if !review.pending {
            return format!("The tools of {} are unchanged since they were accepted.\n", review.connector);
        }
        let lines: String =
            review.changed.iter().map(|line| format!("  {}\n", sanitize_line(line))).collect();
        let end = match only_show {
            true => "Nothing was accepted.\n",
            false => "Accepted. Their declarations take effect within seconds.\n",
        };
        format!("{lines}{end}")
    })
}
