//! `munshi config show`

use crate::context::Context;
use crate::failure::Result;

pub(super) fn run(context: &Context) -> Result<()> {
    context.output.answer(&context.config()?.show(), |show, _| show.to_string())
}
