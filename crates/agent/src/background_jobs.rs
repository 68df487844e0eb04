//! The jobs that turns make.

use std::sync::Arc;

use munshi_conversations::outbox::OutboxDeliverer;
use munshi_conversations::retention::{Summariser, SummaryJob};
use munshi_conversations::sessions::Session;
use munshi_conversations::unanswered_requests::{NobodyCameNotice, UnansweredRequestJob};
use munshi_jobs::JobRegistry;
use munshi_store::Tx;
use munshi_types::RunId;

use crate::engine::{TurnEngine, TurnEngineInner};
use crate::notify::{self, ConversationNotice};
use crate::phrases::log_unrendered;

impl TurnEngine {
    /// Teaches a runner the jobs that turns make: sending what leaves, and keeping conversations short.
    pub fn install(&self, registry: &mut JobRegistry, model: Option<Arc<dyn Summariser>>) {
        let inner = &self.inner;
        let db = inner.db.clone();
        let deliverer = OutboxDeliverer {
            db: db.clone(),
            queue: inner.ingest_services.queue.clone(),
            clock: inner.clock.clone(),
            ids: inner.ids.clone(),
            senders: inner.senders.clone(),
        };
        deliverer.install(registry);
        let (clock, ids) = (inner.clock.clone(), inner.ids.clone());
        let notice = build_notice(inner.clone());
        UnansweredRequestJob { db: db.clone(), clock, ids, notice }.install(registry);
        self.install_held_conversations(registry);
        SummaryJob { db, model }.install(registry);
    }
}

/// Whoever was told that they wait for a person hears that none came.
fn build_notice(inner: Arc<TurnEngineInner>) -> NobodyCameNotice {
    Arc::new(move |tx: &mut Tx<'_>, session: &Session, run: RunId| {
        let voice = notify::find_voice(tx, session)?;
        let phrase = inner.phrasebook.render("nobody-came", voice, &[]);
        let text = log_unrendered(phrase, "nobody-came").unwrap_or_default();
        notify::post_notice(
            tx,
            &inner,
            session,
            run,
            ConversationNotice { text, ..ConversationNotice::default() },
        )
    })
}
