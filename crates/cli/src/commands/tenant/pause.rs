//! `munshi tenant pause NAME`

use munshi_operations::tenants::PauseTenant;
use munshi_wiring::failure::Result;

use super::status::{TenantStatusArguments, change};
use crate::context::CommandContext;

pub(super) fn run(context: &CommandContext, arguments: &TenantStatusArguments) -> Result<()> {
    change::<PauseTenant>(context, (&arguments.name, &arguments.operator), |name| {
        format!("Paused {name}. Resume it with `munshi tenant resume {name}`.")
    })
}
