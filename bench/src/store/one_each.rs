//! What everybody writes first: one connection behind a mutex, one commit for each row.
//!
//! Callers are plain threads that do the work themselves, so nothing is lost on the way to another thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use munshi_types::{Id, TenantId};
use rusqlite::{Connection, params};

use crate::contest::Contestant;
use crate::fresh_database::{BODY, Fresh, INSERT, sequential_id};
use crate::load::{Load, Tally};
use crate::sqlite;

pub(crate) struct OneEach {
    fresh: Fresh,
    connection: Arc<Mutex<Connection>>,
    next: Arc<AtomicU64>,
}

impl OneEach {
    pub(crate) fn new(mut fresh: Fresh) -> Result<Self> {
        drop(fresh.take_db());
        let connection = Arc::new(Mutex::new(sqlite::open(&fresh.address)?));
        Ok(Self { fresh, connection, next: Arc::default() })
    }
}

impl Contestant for OneEach {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (connection, next, tenant) = (self.connection.clone(), self.next.clone(), self.fresh.tenant);
        load.run_threads(move || {
            let (connection, next) = (connection.clone(), next.clone());
            Ok(move || {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                insert(&connection, tenant, number)
            })
        })
    }
}

fn insert(connection: &Connection, tenant: TenantId, number: u64) -> Result<()> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    connection.prepare_cached(INSERT)?.execute(params![
        tenant.as_uuid().as_bytes(),
        sequential_id(number).as_bytes(),
        BODY
    ])?;
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(())
}
