//! The jobs that turns make.

use std::sync::Arc;

use munshi_conversations::outbox::OutboxDeliverer;
use munshi_conversations::retention::{Summariser, SummaryJob};
use munshi_jobs::JobRegistry;

use crate::engine::TurnEngine;

impl TurnEngine {
    /// Teaches a runner the jobs that turns make: sending what leaves, and keeping conversations short.
    pub fn install(&self, registry: &mut JobRegistry, model: Option<Arc<dyn Summariser>>) {
        let inner = &self.inner;
        let (db, clock) = (inner.db.clone(), inner.clock.clone());
        let (queue, senders) = (inner.ingest_services.queue.clone(), inner.senders.iter().cloned());
        OutboxDeliverer::new(db.clone(), queue, clock, senders).install(registry);
        SummaryJob { db, model }.install(registry);
    }
}
