//! `munshi host-key retire KID`

use clap::Args;
use munshi_operations::host_keys::{RetireHostKey, RetireHostKeyInput};
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::formatting::format_time;

#[derive(Debug, Args)]
pub(crate) struct HostKeyRetireArguments {
    /// Key id
    kid: String,
    /// Hours until it expires; 0 expires it at once
    #[arg(long, value_name = "HOURS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=720))]
    grace: u32,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &HostKeyRetireArguments) -> Result<()> {
    let input = RetireHostKeyInput { kid: arguments.kid.clone(), grace: Some(arguments.grace) };
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let retired = context.run_operation::<RetireHostKey>(&target, &input)?;
    context.output.print_result(&retired, |retired, _| {
        let end = retired.ends_at.map_or_else(String::new, |end| format!(" {} UTC", format_time(end)));
        format!("{} expires{end}.", retired.kid)
    })
}
