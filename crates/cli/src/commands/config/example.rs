//! `munshi config example`

use munshi_wiring::failure::Result;
use serde_json::json;

use crate::context::CommandContext;

pub(super) fn run(context: &CommandContext) -> Result<()> {
    let example = munshi_config::render_example();
    context.output.print_result(&json!({ "toml": example }), |_, _| example.clone())
}
