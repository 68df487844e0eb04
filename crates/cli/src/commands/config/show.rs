//! `munshi config show`

use munshi_wiring::failure::Result;

use crate::context::CommandContext;

pub(super) fn run(context: &CommandContext) -> Result<()> {
    context.output.print_result(&context.config()?.show(), |show, _| show.to_string())
}
