//! The packs there are. A pack has its line here; its tools, tables, phrases and commands follow from it.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use munshi_ledger::LedgerPack;
use munshi_pack::{Pack, PackRegistry};
use munshi_store::Migration;
use munshi_tools::{ToolRegistry, builtin as own};
use munshi_types::{Clock, IdGenerator, SystemClock, SystemRandom};

use crate::failure::{CommandFailure, Result};
use crate::tenant_outbox::TenantOutbox;

/// Every pack of this installation.
fn packs() -> Vec<Arc<dyn Pack>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    vec![Arc::new(LedgerPack::new(clock, ids).with_outbox(Arc::new(TenantOutbox)))]
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
    munshi_conversations::search::install_tool(&mut tools, Arc::new(SystemClock))
        .map_err(|bad| CommandFailure::failed(bad.to_string()))?;
    let registry = PackRegistry::install_with_tools(tools, &packs())
        .map_err(|bad| CommandFailure::failed(bad.to_string()))?;
    Ok(INSTALLED.get_or_init(|| Arc::new(registry)).clone())
}

/// What they are called.
pub(crate) fn list_names() -> BTreeSet<String> {
    packs().iter().map(|pack| pack.name().to_owned()).collect()
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
        assert!(packs.tools.get("today").is_some() && packs.tools.get("search_messages").is_some());
        assert!(packs.tools.get("log_sale").is_some());
        packs.book.check().unwrap();
    }

    #[test]
    #[allow(
        clippy::disallowed_methods,
        reason = "a developer asks for the page to be written with UPDATE_DOCS=1"
    )]
    fn the_reference_of_operations_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
        let wanted = munshi_operations::render_reference(&load_registry().unwrap().operations);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &wanted).unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap_or_default();
        let how = "docs/operations.md is out of date: run UPDATE_DOCS=1 cargo test -p munshi-wiring";
        assert!(page == wanted, "{how}");
    }
}
