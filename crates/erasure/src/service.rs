//! What forgetting works with.

use std::fmt;
use std::sync::Arc;

use munshi_jobs::JobQueue;
use munshi_pack::PackRegistry;
use munshi_store::Db;
use munshi_types::{Clock, IdGenerator};

use crate::addressed::AddressedRecords;

#[derive(Clone)]
pub struct ErasureService {
    pub db: Db,
    pub packs: Arc<PackRegistry>,
    /// What floors beside this one know of addresses.
    pub addressed: Vec<Arc<dyn AddressedRecords>>,
    pub queue: JobQueue,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
}

impl fmt::Debug for ErasureService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasureService")
    }
}
