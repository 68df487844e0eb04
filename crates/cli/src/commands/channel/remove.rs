//! `munshi channel remove NAME`

use clap::Args;
use munshi_channels::accounts::ChannelAccountName;
use munshi_operations::channels::{ChannelInput, RemoveChannel};
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct ChannelRemoveArguments {
    name: ChannelAccountName,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: ChannelRemoveArguments) -> Result<()> {
    let ChannelRemoveArguments { name, of, operator } = arguments;
    let target = OperationTarget { of: &of, operator: Some(&operator) };
    let removed = context.run_operation::<RemoveChannel>(&target, &ChannelInput { name })?;
    context.output.print_result(&removed, |removed, _| {
        format!("Removed the channel {}. Its secrets stay in the vault.\n", removed.channel)
    })
}
