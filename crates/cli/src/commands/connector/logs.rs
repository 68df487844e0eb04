//! `munshi connector logs NAME`

use clap::Args;
use munshi_operations::connectors::{ConnectorLogInput, ShowConnectorLog};
use munshi_types::ConnectorName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::table::sanitize_line;

#[derive(Debug, Args)]
pub(crate) struct ConnectorLogsArguments {
    name: ConnectorName,
    /// Number of lines, from the end
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    lines: u32,
    #[command(flatten)]
    of: TenantSelectorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorLogsArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    let input = ConnectorLogInput { name: arguments.name.clone(), lines: Some(arguments.lines) };
    let log = context.run_operation::<ShowConnectorLog>(&target, &input)?;
    context.output.print_result(&log, |log, _| match log.lines.is_empty() {
        true => format!("{} has no log on this machine.\n", log.connector),
        false => log.lines.iter().map(|line| sanitize_line(line) + "\n").collect(),
    })
}
