//! `munshi operator role EMAIL ROLE`

use clap::Args;
use munshi_identity::{Role, RoleError};
use munshi_operations::operators::{GrantedRole, SetOperatorRole, SetOperatorRoleInput};
use munshi_wiring::failure::Result;

use super::render_revoked_keys;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct OperatorRoleArguments {
    /// E-mail of the operator
    email: String,
    /// owner, admin, staff, viewer, or none
    #[arg(value_parser = parse_role)]
    role: GrantedRole,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

fn parse_role(text: &str) -> Result<GrantedRole, String> {
    match text {
        "none" => Ok(GrantedRole::None),
        text => {
            let role: Role = text.parse().map_err(|error: RoleError| error.to_string())?;
            Ok(Some(role).into())
        }
    }
}

pub(super) fn run(context: &CommandContext, arguments: OperatorRoleArguments) -> Result<()> {
    let OperatorRoleArguments { email, role, of, operator } = arguments;
    let target = OperationTarget { of: &of, operator: Some(&operator) };
    let input = SetOperatorRoleInput { id: email, role };
    let changed = context.run_operation::<SetOperatorRole>(&target, &input)?;
    context.output.print_result(&changed, |changed, _| {
        let (email, tenant, keys) = (&changed.email, &changed.tenant, render_revoked_keys(&changed.revoked));
        match changed.now {
            Some(role) => format!("{email} is now {role} of {tenant}.{keys}"),
            None => format!("{email} no longer has a role in {tenant}.{keys}"),
        }
    })
}
