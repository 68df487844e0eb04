//! `munshi tenant resume NAME`

use munshi_types::TenantStatus;

use super::status::{Arguments, change};
use crate::context::Context;
use crate::failure::Result;

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    change(context, (&arguments.name, &arguments.operator), TenantStatus::Active, |name| {
        format!("{name} is active again.")
    })
}
