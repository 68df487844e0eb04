//! How much is taken.

use std::time::Duration;

/// Of one installation.
#[derive(Clone, Copy, Debug)]
pub struct BlobLimits {
    pub file_bytes: u64,
    /// Of one tenant, sealed and with previews; a tenant's own limit may be lower.
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
