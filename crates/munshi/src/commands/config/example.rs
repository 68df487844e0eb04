//! `munshi config example`

use serde_json::json;

use crate::context::CommandContext;
use crate::failure::Result;

pub(super) fn run(context: &CommandContext) -> Result<()> {
    let example = munshi_config::render_example();
    context.output.print_result(&json!({ "toml": example }), |_, _| example.clone())
}
