//! Reads through the store: a snapshot for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, ensure};
use munshi_store::{Db, params};
use munshi_types::TenantId;

use super::scatter;
use crate::contest::Contestant;
use crate::fresh_database::{SELECT, sequential_id};
use crate::load::{Load, Tally};

pub(crate) struct Ours {
    db: Db,
    tenant: TenantId,
    next: Arc<AtomicU64>,
}

impl Ours {
    pub(crate) fn new(db: Db, tenant: TenantId) -> Self {
        Self { db, tenant, next: Arc::default() }
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (db, next, tenant) = (self.db.clone(), self.next.clone(), self.tenant);
        load.run_tasks(move || {
            let (db, number) = (db.clone(), scatter(next.fetch_add(1, Ordering::Relaxed)));
            async move {
                let body: Option<String> = db
                    .read(tenant, move |tx| {
                        tx.optional(SELECT, params![sequential_id(number)], |row| row.get(0))
                    })
                    .await?;
                ensure!(body.is_some(), "row {number} is missing");
                Ok(())
            }
        })
    }
}
