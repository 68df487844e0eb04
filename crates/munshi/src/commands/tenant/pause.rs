//! `munshi tenant pause NAME`

use munshi_types::TenantStatus;

use super::status::{Arguments, change};
use crate::context::Context;
use crate::failure::Result;

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    change(context, (&arguments.name, &arguments.operator), TenantStatus::Paused, |name| {
        format!("Paused {name}. `munshi tenant resume {name}` wakes it.")
    })
}
