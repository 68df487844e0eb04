//! What takes in what came, with an engine that answers nobody.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use munshi_blobs::storage::DiskStore;
use munshi_blobs::{BlobLimits, BlobService, BlobServiceParts, NoTenantQuota};
use munshi_channels::ChannelSenders;
use munshi_channels::incoming::{ArrivalTaker, MessageReceiver, ReceiveFault, TakenMessage};
use munshi_conversations::meet_sender;
use munshi_jobs::{JobQueue, JobRegistry, JobRunner, JobRunnerOptions};
use munshi_store::{Db, Tx};
use munshi_test_support::TestDb;
use munshi_types::tier::RoutingKey;
use munshi_types::{
    Clock, IdGenerator, InboundMessage, InboundTarget, SeededRandom, SystemRandom, TenantId, Timestamp,
};
use tokio_util::task::TaskTracker;

/// Whoever takes in a message with it breaks off.
pub(crate) const BREAKING: &str = "666";

/// The engine as far as messages reach it: it knows people, and answers nobody.
pub(crate) struct SilentEngine {
    db: Db,
    ids: IdGenerator,
    now: Timestamp,
    pub(crate) taken: Mutex<Vec<InboundMessage>>,
    /// Why the next messages are not taken.
    pub(crate) faults: Mutex<VecDeque<ReceiveFault>>,
}

impl SilentEngine {
    pub(crate) fn texts(&self) -> Vec<String> {
        self.taken.lock().unwrap().iter().map(|inbound| inbound.text.clone()).collect()
    }
}

#[async_trait]
impl MessageReceiver for SilentEngine {
    async fn find_binding(
        &self,
        _tenant: TenantId,
        _address: &RoutingKey,
    ) -> Result<Option<InboundTarget>, ReceiveFault> {
        Ok(None)
    }

    async fn receive(&self, tenant: TenantId, inbound: InboundMessage) -> Result<TakenMessage, ReceiveFault> {
        let fault = self.faults.lock().unwrap().pop_front();
        if let Some(fault) = fault {
            return Err(fault);
        }
        assert!(!inbound.text.contains(BREAKING), "a message that no engine survives");
        let (ids, met, now) = (self.ids.clone(), inbound.clone(), self.now);
        let meet = move |tx: &mut Tx<'_>| meet_sender(tx, &ids, &met, now);
        let person = self.db.write(tenant, meet).await.unwrap();
        let mut taken = self.taken.lock().unwrap();
        let is_known = taken.iter().any(|known| known.outside_id == inbound.outside_id);
        if !is_known {
            taken.push(inbound);
        }
        Ok(TakenMessage { tenant, run: self.ids.next(), session: self.ids.next(), person, is_known })
    }

    async fn wait_until_worked(&self, _taken: &TakenMessage) {}
}

pub(crate) fn build_engine(test: &TestDb, accounts: &ChannelSenders) -> (Arc<SilentEngine>, JobRunner) {
    let (db, ids, clock) = (test.db.clone(), test.ids.clone(), test.clock.clone());
    let engine = Arc::new(SilentEngine {
        db: db.clone(),
        ids: ids.clone(),
        now: clock.now(),
        taken: Mutex::default(),
        faults: Mutex::default(),
    });
    let folder = test.place.folder().join("blobs");
    let blobs = BlobService::new(BlobServiceParts {
        db: db.clone(),
        store: Arc::new(DiskStore::new(&folder)),
        spool: folder.join("partial"),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
        ids: ids.clone(),
        limits: BlobLimits::default(),
        quota: Arc::new(NoTenantQuota),
    });
    let queue = JobQueue::new(clock.clone(), ids.clone());
    let taker = ArrivalTaker {
        db: db.clone(),
        queue: queue.clone(),
        clock,
        ids,
        accounts: accounts.clone(),
        receiver: engine.clone(),
        blobs,
        signs: TaskTracker::new(),
    };
    let mut registry = JobRegistry::default();
    taker.install(&mut registry);
    let random = Arc::new(SeededRandom::new(7));
    (engine, JobRunner::new(db, &queue, random, registry, JobRunnerOptions::default()))
}
