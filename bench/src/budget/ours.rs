//! Through the governor.

use std::sync::Arc;

use anyhow::Result;
use munshi_safety::budget::{Governor, Settings};
use munshi_types::{Clock, Ids, SystemClock};

use super::{MOST, Payer};
use crate::contest::Contestant;
use crate::load::{Load, Tally};

pub(crate) struct Ours {
    payer: Arc<Payer>,
    governor: Arc<Governor>,
}

impl Ours {
    pub(crate) fn new(payer: Payer) -> Self {
        let governor = Arc::new(Governor::new(Settings::default(), Ids::system()));
        Self { payer: Arc::new(payer), governor }
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (payer, governor) = (self.payer.clone(), self.governor.clone());
        load.tasks(move || {
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
