//! The ceiling: each caller is a thread with a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use munshi_store::DatabaseAddress;
use munshi_types::{Id, TenantId};

use super::scatter;
use crate::contest::Contestant;
use crate::fresh_database::{Fresh, SELECT, sequential_id};
use crate::load::{Load, Tally};
use crate::sqlite;

pub(crate) struct BareThreads {
    address: DatabaseAddress,
    tenant: TenantId,
    next: Arc<AtomicU64>,
}

impl BareThreads {
    pub(crate) fn new(fresh: &Fresh) -> Self {
        Self { address: fresh.address.clone(), tenant: fresh.tenant, next: Arc::default() }
    }
}

impl Contestant for BareThreads {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (address, tenant, next) = (self.address.clone(), self.tenant, self.next.clone());
        load.run_threads(move || {
            let (connection, next) = (sqlite::open(&address)?, next.clone());
            Ok(move || {
                let number = scatter(next.fetch_add(1, Ordering::Relaxed));
                read(&connection, tenant, number)?;
                Ok(())
            })
        })
    }
}

pub(crate) fn read(connection: &rusqlite::Connection, tenant: TenantId, number: u64) -> Result<String> {
    let mut statement = connection.prepare_cached(SELECT)?;
    let (tenant, id) = (tenant.as_uuid(), sequential_id(number));
    Ok(statement.query_row([tenant.as_bytes(), id.as_bytes()], |row| row.get(0))?)
}
