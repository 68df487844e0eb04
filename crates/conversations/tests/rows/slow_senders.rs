//! A provider that answers nobody holds up what leaves by it, and no other work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use munshi_conversations::outbox::{
    self, ChannelSender, FixedSenders, NewNotice, OutboxDeliverer, SendFault, SendIdempotency, SendReceipt,
};
use munshi_jobs::{JobFailure, JobKind, JobRegistry, JobRunner, JobRunnerOptions, NewJob};
use munshi_store::Tx;
use munshi_test_support::wait_until;
use munshi_types::tier::Channel;
use munshi_types::{OutboundMessage, OutboundPurpose, ReplyAddress, SeededRandom};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::rows::support::{Shop, tables};

/// A channel that says nothing until it is let.
struct SilentChannel {
    asked: AtomicUsize,
    gate: Semaphore,
}

#[async_trait::async_trait]
impl ChannelSender for SilentChannel {
    fn channel(&self) -> Channel {
        Channel::Email
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    async fn send(&self, _: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        Ok(SendReceipt::default())
    }
}

/// Writes down a notice to an address of its own.
async fn send(shop: &Shop, number: usize) {
    let to = ReplyAddress::new(Channel::Email, format!("meera{number}@example.org"));
    let outbound = OutboundMessage {
        purpose: OutboundPurpose::Notice,
        ..OutboundMessage::new(shop.test.ids.next(), to, "We have moved".to_owned())
    };
    let notice =
        NewNotice { outbound, person: None, subject: None, binding: None, about: None, not_before: None };
    let (queue, now) = (shop.desk.queue.clone(), shop.now());
    let unit = move |tx: &mut Tx<'_>| outbox::enqueue_notice(tx, &queue, &notice, now);
    shop.test.db.write(shop.tenant, unit).await.unwrap();
}

tables! {
    async fn a_silent_provider_takes_no_worker_from_the_rest(test: TestDb) {
        let shop = Shop::open(test).await;
        let channel = Arc::new(SilentChannel { asked: AtomicUsize::new(0), gate: Semaphore::new(0) });
        let options = JobRunnerOptions::default();
        // More than are sent at once, of which there are more than workers.
        let (at_once, all) = (16, 20);
        assert!(options.workers < at_once);
        let deliverer = OutboxDeliverer {
            db: shop.test.db.clone(),
            queue: shop.desk.queue.clone(),
            clock: shop.test.clock.clone(),
            ids: shop.test.ids.clone(),
            senders: Arc::new(FixedSenders::new([channel.clone() as Arc<dyn ChannelSender>])),
        };
        let (mut registry, noted) = (JobRegistry::default(), Arc::new(AtomicUsize::new(0)));
        deliverer.install(&mut registry);
        let counter = noted.clone();
        registry.add(JobKind::new("note"), move |_| {
            let counter = counter.clone();
            async move {
                counter.fetch_add(1, Ordering::SeqCst);
                Ok::<(), JobFailure>(())
            }
        });
        for number in 0..all {
            send(&shop, number).await;
        }
        let (queue, note) = (shop.desk.queue.clone(), NewJob::new("note", &json!({})).unwrap());
        let enqueue = move |tx: &mut Tx<'_>| queue.enqueue(tx, &note).map(drop);
        shop.test.db.write(shop.tenant, enqueue).await.unwrap();
        let random = Arc::new(SeededRandom::new(7));
        let runner = JobRunner::new(shop.test.db.clone(), &shop.desk.queue, random, registry, options);
        let mut running = JoinSet::new();
        running.spawn(async move { runner.drain().await.unwrap() });
        wait_until(async || noted.load(Ordering::SeqCst) == 1).await;
        wait_until(async || channel.asked.load(Ordering::SeqCst) == at_once).await;
        channel.gate.add_permits(all);
        running.join_next().await.unwrap().unwrap();
        assert_eq!(channel.asked.load(Ordering::SeqCst), all, "each is sent once it can be");
    }
}
