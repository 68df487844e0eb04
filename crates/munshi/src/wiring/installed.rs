//! What this installation has that a tier may name.

use std::sync::Arc;

use munshi_config::{Config, OFFLINE};
use munshi_tiers::Installed;
use munshi_types::ToolSpec;

/// Every model of the settings, and every tool.
pub(crate) fn installed(config: &Config) -> Installed {
    let models = config.models.iter().map(|model| model.name.clone());
    let tools = tools().iter().map(|tool| tool.name.to_string()).collect();
    Installed { tools, models: models.chain([OFFLINE.to_owned()]).collect() }
}

/// The tools that can be offered. None is installed yet: `apply` warns of each that an agent names.
pub(crate) fn tools() -> Vec<Arc<ToolSpec>> {
    Vec::new()
}
