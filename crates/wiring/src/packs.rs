//! The packs there are. A pack has its line here; its tools, tables, phrases and commands follow from it.

use std::sync::{Arc, OnceLock};

use munshi_ledger::LedgerPack;
use munshi_pack::{Pack, PackRegistry};
use munshi_store::Migration;
use munshi_tools::{ToolRegistry, builtin as own};
use munshi_types::{Clock, IdGenerator, SystemClock, SystemRandom};

use crate::failure::{CommandFailure, Result};

/// Every pack of this installation.
fn packs() -> Vec<Arc<dyn Pack>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    vec![Arc::new(LedgerPack::new(clock, ids))]
}

/// All of them installed, beside the tools that every installation has. They are read once in a process: that is a good
/// part of a command's time.
pub fn load_registry() -> Result<Arc<PackRegistry>> {
    static INSTALLED: OnceLock<Arc<PackRegistry>> = OnceLock::new();
    if let Some(packs) = INSTALLED.get() {
        return Ok(packs.clone());
    }
    let mut tools = ToolRegistry::default();
    own::install(&mut tools, Arc::new(SystemClock)).map_err(|bad| CommandFailure::failed(bad.to_string()))?;
    let registry = PackRegistry::install_with_tools(tools, &packs())
        .map_err(|bad| CommandFailure::failed(bad.to_string()))?;
    Ok(INSTALLED.get_or_init(|| Arc::new(registry)).clone())
}

/// Their tables.
pub fn migrations() -> Vec<&'static [Migration]> {
    packs().iter().map(|pack| pack.migrations()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pack_can_be_installed() {
        let packs = load_registry().unwrap();
        assert!(packs.tools.get("today").is_some());
        assert!(packs.tools.get("log_sale").is_some());
        packs.book.check().unwrap();
    }
}
