//! Through the governor.

use std::sync::Arc;

use anyhow::Result;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_types::{Clock, IdGenerator, SystemClock};

use super::{MOST, Payer};
use crate::contest::Contestant;
use crate::load::{Load, Tally};

pub(crate) struct Ours {
    payer: Arc<Payer>,
    governor: Arc<BudgetGovernor>,
}

impl Ours {
    pub(crate) fn new(payer: Payer) -> Self {
        let governor = Arc::new(BudgetGovernor::new(BudgetSettings::default(), IdGenerator::system()));
        Self { payer: Arc::new(payer), governor }
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (payer, governor) = (self.payer.clone(), self.governor.clone());
        load.run_tasks(move || {
            let (payer, governor) = (payer.clone(), governor.clone());
            async move {
                let (db, tenant) = (payer.db.clone(), payer.tenant);
                db.write(tenant, move |tx| {
                    let reserved = governor.reserve(tx, &payer.account, &MOST, SystemClock.now())?;
                    governor.release(tx, reserved.id)
                })
                .await?;
                Ok(())
            }
        })
    }
}
