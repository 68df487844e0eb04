//! Files as the rest of the program handles them.

mod read;
mod receive;
mod restore;
mod slots;
mod upload;

use std::path::PathBuf;
use std::sync::Arc;

use munshi_store::Db;
use munshi_types::{BlobId, Clock, IdGenerator, Random, TenantId};
use tokio::sync::Semaphore;

pub use self::read::BlobContent;
pub use self::slots::UploadSlot;
use self::slots::UploadSlots;
pub use self::upload::{UploadRequest, UploadStream};
use crate::chunk_cipher::{BlobObject, BlobVariant};
use crate::error::Result;
use crate::limits::{BlobLimits, TenantQuota};
use crate::rows;
use crate::spool::SpoolFolder;
use crate::storage::BlobStore;

/// What the service is made of.
#[derive(Debug)]
pub struct BlobServiceParts {
    pub db: Db,
    pub store: Arc<dyn BlobStore>,
    /// Where files on their way lie; on the same disk as the store, where that is a folder.
    pub spool: PathBuf,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub ids: IdGenerator,
    pub limits: BlobLimits,
    /// What tenants say themselves, within the limits.
    pub quota: Arc<dyn TenantQuota>,
}

/// Takes files, gives them back, and removes them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BlobService(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    store: Arc<dyn BlobStore>,
    spool: SpoolFolder,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    ids: IdGenerator,
    limits: BlobLimits,
    quota: Arc<dyn TenantQuota>,
    slots: Arc<UploadSlots>,
    /// One picture at a time: each may need all the memory that is allowed.
    decoding: Arc<Semaphore>,
}

impl BlobService {
    pub fn new(parts: BlobServiceParts) -> Self {
        let BlobServiceParts { db, store, spool, clock, random, ids, limits, quota } = parts;
        Self(Arc::new(Inner {
            db,
            store,
            spool: SpoolFolder::new(spool, limits.free_bytes),
            clock,
            random,
            ids,
            limits,
            quota,
            slots: Arc::new(UploadSlots::new(&limits)),
            decoding: Arc::new(Semaphore::new(1)),
        }))
    }

    pub fn limits(&self) -> &BlobLimits {
        &self.0.limits
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.0.clock.as_ref()
    }

    pub(crate) fn db(&self) -> &Db {
        &self.0.db
    }

    pub(crate) fn spool(&self) -> &SpoolFolder {
        &self.0.spool
    }

    /// Removes a file that is out of sight: its bytes, then its row. Done again after a crash it ends the same.
    pub(crate) async fn remove(&self, tenant: TenantId, blob: BlobId) -> Result<()> {
        for variant in [BlobVariant::Original, BlobVariant::Preview] {
            self.0.store.delete(BlobObject { tenant, blob, variant }).await?;
        }
        self.0.db.write(tenant, move |tx| rows::remove_retired(tx, blob)).await?;
        Ok(())
    }
}
