//! `munshi person show PERSON`

use clap::Args;
use munshi_operations::persons::{PersonInput, ShowPerson};
use munshi_pack::operation::ListView;
use munshi_wiring::failure::Result;

use super::list::render_text;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct PersonShowArguments {
    /// Name, phone, e-mail, @handle or id
    person: String,
    #[command(flatten)]
    of: TenantSelectorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: PersonShowArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    let person = context.run_operation::<ShowPerson>(&target, &PersonInput { id: arguments.person })?;
    context.output.print_result(&person, |person, painter| {
        render_text(&ListView { items: vec![person.clone()], next: None }, painter)
    })
}
