//! `munshi config show`

use crate::context::CommandContext;
use crate::failure::Result;

pub(super) fn run(context: &CommandContext) -> Result<()> {
    context.output.print_result(&context.config()?.show(), |show, _| show.to_string())
}
