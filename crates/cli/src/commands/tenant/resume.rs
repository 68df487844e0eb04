//! `munshi tenant resume NAME`

use munshi_types::TenantStatus;
use munshi_wiring::failure::Result;

use super::status::{TenantStatusArguments, change};
use crate::context::CommandContext;

pub(super) fn run(context: &CommandContext, arguments: &TenantStatusArguments) -> Result<()> {
    change(context, (&arguments.name, &arguments.operator), TenantStatus::Active, |name| {
        format!("{name} is active again.")
    })
}
