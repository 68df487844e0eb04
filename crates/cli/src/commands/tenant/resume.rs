//! `munshi tenant resume NAME`

use munshi_operations::tenants::ResumeTenant;
use munshi_wiring::failure::Result;

use super::status::{TenantStatusArguments, change};
use crate::context::CommandContext;

pub(super) fn run(context: &CommandContext, arguments: &TenantStatusArguments) -> Result<()> {
    change::<ResumeTenant>(context, (&arguments.name, &arguments.operator), |name| {
        format!("{name} is active again.")
    })
}
