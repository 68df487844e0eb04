//! Inserts through the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use munshi_store::{Db, params};

use crate::contest::Contestant;
use crate::fresh_database::{BODY, Fresh, INSERT, sequential_id};
use crate::load::{Load, Tally};

pub(crate) struct Ours {
    fresh: Fresh,
    db: Db,
    next: Arc<AtomicU64>,
}

impl Ours {
    pub(crate) fn new(mut fresh: Fresh) -> Result<Self> {
        let db = fresh.take_db().context("the database is open already")?;
        Ok(Self { fresh, db, next: Arc::default() })
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (db, next, tenant) = (self.db.clone(), self.next.clone(), self.fresh.tenant);
        load.run_tasks(move || {
            let (db, number) = (db.clone(), next.fetch_add(1, Ordering::Relaxed));
            let body = BODY.to_owned();
            async move {
                db.write(tenant, move |tx| {
                    tx.execute(INSERT, params![sequential_id(number), body])?;
                    anyhow::Ok(())
                })
                .await
            }
        })
    }
}
