//! People's files, in a folder.

use std::path::Path;
use std::sync::Arc;

use munshi_blobs::storage::DiskStore;
use munshi_blobs::{BlobLimits, BlobService, BlobServiceParts, NoTenantQuota};
use munshi_store::Db;
use munshi_types::{Clock, IdGenerator, SystemRandom};

/// As an installation has them, with less room.
pub(crate) const LARGEST_FILE: u64 = 8 << 20;

pub(super) fn build(db: &Db, clock: &Arc<dyn Clock>, ids: &IdGenerator, folder: &Path) -> BlobService {
    let limits = BlobLimits { file_bytes: LARGEST_FILE, picture_memory: 64 << 20, ..BlobLimits::default() };
    BlobService::new(BlobServiceParts {
        db: db.clone(),
        store: Arc::new(DiskStore::new(folder)),
        spool: folder.join("partial"),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
        ids: ids.clone(),
        limits,
        quota: Arc::new(NoTenantQuota),
    })
}
