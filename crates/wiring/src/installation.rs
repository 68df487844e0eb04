//! What this installation has that a tier may name.

use std::sync::Arc;

use munshi_config::{Config, OFFLINE};
use munshi_tiers::InstalledNames;
use munshi_types::ToolSpec;

use crate::failure::Result;

/// Every model of the settings, and every tool.
pub fn list_installed_names(config: &Config) -> Result<InstalledNames> {
    let models = config.models.iter().map(|model| model.name.clone());
    let registry = crate::tools::registry()?;
    let tools = registry.all().filter_map(|tool| tool.known.identity().parse().ok()).collect();
    Ok(InstalledNames { tools, models: models.chain([OFFLINE.to_owned()]).collect() })
}

/// The tools that can be offered; `apply` warns of each other that an agent names.
pub fn tools() -> Result<Vec<Arc<ToolSpec>>> {
    // What a tool says of itself does not depend on the time.
    let registry = crate::tools::registry()?;
    Ok(registry.all().map(|tool| Arc::new(tool.known.spec.clone())).collect())
}
