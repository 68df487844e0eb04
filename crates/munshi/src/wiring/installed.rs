//! What this installation has that a tier may name.

use std::collections::BTreeSet;

use munshi_config::{Config, OFFLINE};
use munshi_tiers::Installed;

/// Every model of the settings. No tool is installed yet: each that an agent names is warned of.
pub(crate) fn installed(config: &Config) -> Installed {
    let models = config.models.iter().map(|model| model.name.clone());
    Installed { tools: BTreeSet::new(), models: models.chain([OFFLINE.to_owned()]).collect() }
}
