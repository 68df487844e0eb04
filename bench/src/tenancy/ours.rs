//! The transaction through the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use munshi_store::{Db, params};
use munshi_types::TenantId;

use super::{Act, scatter};
use crate::contest::Contestant;
use crate::fresh_database::{BODY, INSERT, SELECT, sequential_id};
use crate::load::{Load, Tally};

pub(crate) struct Ours {
    db: Db,
    tenant: TenantId,
    act: Act,
    next: Arc<AtomicU64>,
}

impl Ours {
    pub(crate) fn new(db: Db, tenant: TenantId, act: Act) -> Self {
        // Half of the numbers: the bare contestant inserts into the same table below them.
        Self { db, tenant, act, next: Arc::new(AtomicU64::new(u64::MAX / 2)) }
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (db, next, tenant, act) = (self.db.clone(), self.next.clone(), self.tenant, self.act);
        load.run_tasks(move || {
            let (db, step) = (db.clone(), next.fetch_add(1, Ordering::Relaxed));
            async move {
                match act {
                    Act::Insert => insert(&db, tenant, step).await,
                    Act::Read => read(&db, tenant, scatter(step)).await,
                }
            }
        })
    }
}

async fn insert(db: &Db, tenant: TenantId, number: u64) -> Result<()> {
    db.write(tenant, move |tx| {
        tx.execute(INSERT, params![sequential_id(number), BODY])?;
        Ok(())
    })
    .await
}

async fn read(db: &Db, tenant: TenantId, number: u64) -> Result<()> {
    db.read(tenant, move |tx| {
        let _body: String = tx.one(SELECT, params![sequential_id(number)], |row| row.get(0))?;
        Ok(())
    })
    .await
}
