//! `munshi tenant pause NAME`

use munshi_types::TenantStatus;
use munshi_wiring::failure::Result;

use super::status::{TenantStatusArguments, change};
use crate::context::CommandContext;

pub(super) fn run(context: &CommandContext, arguments: &TenantStatusArguments) -> Result<()> {
    change(context, (&arguments.name, &arguments.operator), TenantStatus::Paused, |name| {
        format!("Paused {name}. Resume it with `munshi tenant resume {name}`.")
    })
}
