//! `munshi person leave PERSON`

use clap::Args;
use munshi_operations::persons::{LeavePerson, PersonInput};
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct PersonLeaveArguments {
    /// Name, phone, e-mail, @handle or id
    person: String,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: PersonLeaveArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let left = context.run_operation::<LeavePerson>(&target, &PersonInput { id: arguments.person })?;
    context.output.print_result(&left, |left, _| match left.changed {
        true => format!("{} has left and no longer has access.", left.person.name),
        false => format!("{} had already left.", left.person.name),
    })
}
