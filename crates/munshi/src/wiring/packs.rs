//! The packs there are. A pack has its line here; its tools, tables, phrases and commands follow from it.

use std::sync::Arc;

use munshi_ledger::Ledger;
use munshi_pack::{House, Pack};
use munshi_store::Migration;
use munshi_tools::{Registry, house as own};
use munshi_types::{Clock, Ids, SystemClock, SystemRandom};

use crate::failure::{Failure, Result};

/// Every pack of this installation.
pub(crate) fn packs(clock: &Arc<dyn Clock>) -> Vec<Arc<dyn Pack>> {
    let ids = Ids::new(clock.clone(), Arc::new(SystemRandom));
    vec![Arc::new(Ledger::new(clock.clone(), ids))]
}

/// All of them installed, beside the tools that every installation has.
pub(crate) fn house(clock: Arc<dyn Clock>) -> Result<House> {
    let packs = packs(&clock);
    let mut tools = Registry::default();
    own::install(&mut tools, clock).map_err(|bad| Failure::failed(bad.to_string()))?;
    House::install_beside(tools, &packs).map_err(|bad| Failure::failed(bad.to_string()))
}

/// Their tables.
pub(crate) fn migrations() -> Vec<&'static [Migration]> {
    // Which tables a pack has does not depend on the time.
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    packs(&clock).iter().map(|pack| pack.migrations()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pack_can_be_installed() {
        let house = house(Arc::new(SystemClock)).unwrap();
        assert!(house.tools.get("today").is_some());
        assert!(house.tools.get("log_sale").is_some());
        house.book.check().unwrap();
    }
}
