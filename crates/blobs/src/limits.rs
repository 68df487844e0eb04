//! How much is taken.

use std::fmt;
use std::time::Duration;

use munshi_store::Tx;

/// Of one installation.
#[derive(Clone, Copy, Debug)]
pub struct BlobLimits {
    pub file_bytes: u64,
    /// Of one tenant, sealed and with previews; a [`TenantQuota`] may be lower.
    pub tenant_bytes: u64,
    /// For decoding one picture. Pictures are decoded one by one.
    pub picture_memory: u64,
    pub uploads_at_once: usize,
    /// Of them, those of one person.
    pub uploads_of_one_person: usize,
    /// What stays free on the disk of files on their way: the database may lie there too.
    pub free_bytes: u64,
    /// For all of an upload.
    pub upload_time: Duration,
    /// How long a file waits for a message that carries it.
    pub unattached: Duration,
}

/// What a tenant's own rules say of how much it keeps. Read where an upload is announced, and in the unit that promises the file.
pub trait TenantQuota: fmt::Debug + Send + Sync {
    /// In bytes; none where the tenant says nothing of it. Of this and the installation's limit the lower one counts.
    fn load(&self, tx: &mut Tx<'_>) -> munshi_store::Result<Option<u64>>;
}

/// Tenants keep what the installation permits.
#[derive(Clone, Copy, Debug)]
pub struct NoTenantQuota;

impl TenantQuota for NoTenantQuota {
    fn load(&self, _: &mut Tx<'_>) -> munshi_store::Result<Option<u64>> {
        Ok(None)
    }
}

impl Default for BlobLimits {
    fn default() -> Self {
        Self {
            file_bytes: 25 << 20,
            tenant_bytes: 5 << 30,
            picture_memory: 256 << 20,
            uploads_at_once: 16,
            uploads_of_one_person: 3,
            free_bytes: 500 << 20,
            upload_time: Duration::from_secs(300),
            unattached: Duration::from_secs(86_400),
        }
    }
}
