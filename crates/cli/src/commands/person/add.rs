//! `munshi person add NAME`

use clap::Args;
use munshi_identity::Role;
use munshi_operations::persons::{AddPerson, AddPersonInput};
use munshi_wiring::failure::Result;

use super::mark_handles;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct PersonAddArguments {
    /// Display name
    name: String,
    /// owner, admin, staff or viewer. Default: none, a contact of the tenant
    #[arg(long)]
    role: Option<Role>,
    /// Phone number; repeatable
    #[arg(long)]
    phone: Vec<String>,
    /// E-mail address; repeatable
    #[arg(long)]
    email: Vec<String>,
    /// Handle; repeatable
    #[arg(long)]
    handle: Vec<String>,
    /// Audience they belong to, such as customers; repeatable
    #[arg(long)]
    tag: Vec<String>,
    /// Their language, such as hi
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: PersonAddArguments) -> Result<()> {
    let PersonAddArguments { name, role, phone, email, handle, tag, language, of, operator } = arguments;
    let addresses = [phone, email, mark_handles(&handle)].concat();
    let input = AddPersonInput { name, role, tags: tag, language, addresses, ..AddPersonInput::default() };
    let target = OperationTarget { of: &of, operator: Some(&operator) };
    let person = context.run_operation::<AddPerson>(&target, &input)?;
    context.output.print_result(&person, |person, _| {
        let what = person.role.map_or_else(String::new, |role| format!(", {role}"));
        format!("Added {}{what}. Their id is {}.", person.name, person.id)
    })
}
