//! How many files are taken at once: so many on this node, and only a few of them one person's, so that nobody takes the others' turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use munshi_types::{PersonId, TenantId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::BlobLimits;
use crate::refusal::UploadRefusal;

type SlotOwner = (TenantId, PersonId);

/// All of a node.
#[derive(Debug)]
pub(super) struct UploadSlots {
    free: Arc<Semaphore>,
    most_of_one: usize,
    /// Of those who have some.
    taken: Mutex<HashMap<SlotOwner, usize>>,
}

/// Leave to upload one file. It ends when the upload has ended, and all that works on it: a thread that decodes goes on when whoever sent the
/// picture has hung up.
#[derive(Debug)]
pub struct UploadSlot {
    _permit: OwnedSemaphorePermit,
    slots: Arc<UploadSlots>,
    /// None for what is the tenant's own.
    owner: Option<SlotOwner>,
}

impl UploadSlots {
    pub(super) fn new(limits: &BlobLimits) -> Self {
        Self {
            free: Arc::new(Semaphore::new(limits.uploads_at_once)),
            most_of_one: limits.uploads_of_one_person,
            taken: Mutex::default(),
        }
    }

    pub(super) fn acquire(
        self: &Arc<Self>,
        tenant: TenantId,
        person: Option<PersonId>,
    ) -> Result<UploadSlot, UploadRefusal> {
        let owner = person.map(|person| (tenant, person));
        let permit = self.free.clone().try_acquire_owned().map_err(|_| UploadRefusal::TooManyUploads)?;
        if let Some(owner) = owner {
            let mut taken = self.lock();
            let count = taken.entry(owner).or_default();
            if *count >= self.most_of_one {
                return Err(UploadRefusal::TooManyUploads);
            }
            *count += 1;
        }
        Ok(UploadSlot { _permit: permit, slots: self.clone(), owner })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SlotOwner, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UploadSlot {
    fn drop(&mut self) {
        let Some(owner) = self.owner else { return };
        let mut taken = self.slots.lock();
        if let Some(count) = taken.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&owner);
            }
        }
    }
}
