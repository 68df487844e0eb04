//! What Slack tells on its way to the engine: once, in order, and only where it is for us.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use munshi_blobs::storage::DiskStore;
use munshi_blobs::{BlobLimits, BlobService, BlobServiceParts, NoTenantQuota};
use munshi_channels::incoming::{ArrivalTaker, IntakeOutcome, MessageReceiver, ReceiveFault, TakenMessage};
use munshi_conversations::meet_sender;
use munshi_jobs::{JobQueue, JobRegistry, JobRunner, JobRunnerOptions};
use munshi_store::{Db, Tx};
use munshi_test_support::on_both_engines;
use munshi_types::tier::RoutingKey;
use munshi_types::{
    Clock, IdGenerator, InboundMessage, InboundTarget, MessageId, SeededRandom, SystemRandom, TenantId,
    Timestamp,
};
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::link_shop::{LinkShop, open_link_shop};
use super::slack::{open_slack, sign};
use super::support::migrations;

/// The engine as far as messages reach it: it knows people, and answers nobody.
struct SilentEngine {
    db: Db,
    ids: IdGenerator,
    now: Timestamp,
    taken: Mutex<Vec<InboundMessage>>,
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

fn build_engine(shop: &LinkShop) -> (Arc<SilentEngine>, JobRunner) {
    let test = &shop.test;
    let (db, ids, clock) = (test.db.clone(), test.ids.clone(), test.clock.clone());
    let now = clock.now();
    let engine = Arc::new(SilentEngine { db: db.clone(), ids: ids.clone(), now, taken: Mutex::default() });
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
        accounts: shop.senders.clone(),
        receiver: engine.clone(),
        blobs,
        signs: TaskTracker::new(),
    };
    let mut registry = JobRegistry::default();
    taker.install(&mut registry);
    let random = Arc::new(SeededRandom::new(7));
    (engine, JobRunner::new(db, &queue, random, registry, JobRunnerOptions::default()))
}

async fn tell(shop: &LinkShop, kind: &str, text: &str, at: &str, thread: Option<&str>) {
    let body = json!({
        "type": "event_callback", "team_id": "T1", "event_id": format!("Ev{at}"),
        "authorizations": [{ "team_id": "T1", "user_id": "U0BOT", "is_bot": true }],
        "event": { "type": kind, "channel": "C9", "user": "U5", "text": text, "ts": at, "thread_ts": thread },
    });
    let outcome = shop.take("slack", &sign(shop, "application/json", &body.to_string())).await;
    assert!(matches!(outcome, IntakeOutcome::Stored(_)), "{outcome:?}");
}

async fn press(shop: &LinkShop, of: MessageId) {
    let value = json!({ "say": "Yes", "of": of, "for": "U5" }).to_string();
    let payload: Value = json!({
        "type": "block_actions", "user": { "id": "U5" }, "team": { "id": "T1" }, "channel": { "id": "C9" },
        "container": { "type": "message", "message_ts": "1794713405.000100", "thread_ts": "1794713402.000100" },
        "actions": [{ "type": "button", "action_id": "munshi-0", "action_ts": "1794713406.000100", "value": value }],
    });
    let body = serde_urlencoded::to_string([("payload", payload.to_string())]).unwrap();
    let request = sign(shop, "application/x-www-form-urlencoded", &body);
    assert!(matches!(shop.take("slack", &request).await, IntakeOutcome::Stored(_)));
}

on_both_engines! {
    with all migrations();

    async fn a_thread_is_followed_once_it_was_ours(test: TestDb) {
        let shop = open_link_shop(test).await;
        open_slack(&shop, "http://127.0.0.1:9").await;
        let (engine, runner) = build_engine(&shop);
        let thread = Some("1794713402.000100");
        tell(&shop, "message", "lunch at two?", "1794713401.000100", thread).await;
        runner.drain().await.unwrap();
        assert!(engine.taken.lock().unwrap().is_empty(), "nobody spoke to us in that thread");
        // Told twice, by the message and by its mention.
        tell(&shop, "message", "<@U0BOT> what is due?", "1794713403.000100", thread).await;
        tell(&shop, "app_mention", "<@U0BOT> what is due?", "1794713403.000100", thread).await;
        tell(&shop, "message", "and tomorrow?", "1794713404.000100", thread).await;
        let question: MessageId = shop.test.ids.next();
        press(&shop, question).await;
        runner.drain().await.unwrap();
        let taken = engine.taken.lock().unwrap().clone();
        let texts: Vec<&str> = taken.iter().map(|inbound| inbound.text.as_str()).collect();
        assert_eq!(texts, ["what is due?", "and tomorrow?", "Yes"]);
        for inbound in &taken {
            assert_eq!(inbound.from.channel_id.as_deref(), Some("group:T1:C9/1794713402.000100"));
            let reply_to = inbound.reply_to.as_ref().unwrap();
            assert_eq!(reply_to.address, "C9/1794713402.000100/U5");
            assert_eq!(reply_to.account.as_deref(), Some("slack"));
        }
        assert_eq!(taken[2].screen.seen, Some(question), "it answers that question and no newer one");
    }
}
