//! `munshi config check`

use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use munshi_wiring::models::GatewayModels;
use serde_json::json;

use crate::context::CommandContext;

pub(super) fn run(context: &CommandContext) -> Result<()> {
    let sources = context.sources();
    let config = context.config()?;
    // The store reads its address more closely than the settings do.
    ConfiguredDatabase::from_config(&config)?;
    let models = GatewayModels::from_config(&config)?;
    let file = sources.file().map(|path| path.display().to_string());
    let value = json!({ "ok": true, "file": file, "warnings": models.warnings });
    context.output.print_result(&value, |_, _| {
        let good = match &file {
            Some(file) => format!("The settings are valid. Read {file} and the variables."),
            None => "The settings are valid. No file found: defaults and variables only.".to_owned(),
        };
        let warnings: String =
            models.warnings.iter().map(|warning| format!("\nwarning: {warning}")).collect();
        format!("{good}{warnings}")
    })
}
