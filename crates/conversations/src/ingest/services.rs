//! What storing turns needs beside a transaction.

use std::sync::Arc;

use munshi_jobs::JobQueue;
use munshi_safety::budget::BudgetGovernor;
use munshi_types::{HolderId, IdGenerator, Timestamp};

use crate::chat_places::ChatPlaces;
use crate::runs::LeaseTerms;

/// What storing turns needs beside a transaction.
#[derive(Clone)]
pub struct IngestServices {
    pub governor: Arc<BudgetGovernor>,
    pub queue: JobQueue,
    pub ids: IdGenerator,
    /// The process that works on what is taken in here; none where nobody could tell whether it lives.
    pub holder: Option<HolderId>,
    pub places: Arc<ChatPlaces>,
}

impl IngestServices {
    /// What takes so many turns up at a time.
    pub fn new(
        governor: Arc<BudgetGovernor>,
        queue: JobQueue,
        ids: IdGenerator,
        holder: Option<HolderId>,
        most: usize,
    ) -> Self {
        Self { governor, queue, ids, holder, places: ChatPlaces::new(most) }
    }

    pub const fn terms(&self, now: Timestamp) -> LeaseTerms {
        LeaseTerms { now, holder: self.holder }
    }
}
