//! A provider that answers nobody holds up what leaves by it, and no other work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use munshi_conversations::outbox::{
    self, ChannelSender, FixedSenders, NewNotice, OutboxDeliverer, OutboxState, SendFault, SendIdempotency,
    SendReceipt,
};
use munshi_jobs::{JobFailure, JobKind, JobRegistry, JobRunner, JobRunnerOptions, NewJob};
use munshi_store::Tx;
use munshi_test_support::wait_until;
use munshi_types::tier::Channel;
use munshi_types::{MessageId, OutboundMessage, OutboundPurpose, ReplyAddress, SeededRandom, TenantId};
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

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        if outbound.to.address.starts_with("quick") {
            return Ok(SendReceipt::default());
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        Ok(SendReceipt::default())
    }
}

/// Writes down a notice to an address of its own.
async fn send(shop: &Shop, number: usize) {
    send_to(shop, shop.tenant, format!("meera{number}@example.org")).await;
}

async fn send_to(shop: &Shop, tenant: TenantId, address: String) -> MessageId {
    let to = ReplyAddress::new(Channel::Email, address);
    let outbound = OutboundMessage {
        purpose: OutboundPurpose::Notice,
        ..OutboundMessage::new(shop.test.ids.next(), to, "We have moved".to_owned())
    };
    let notice =
        NewNotice { outbound, person: None, subject: None, binding: None, about: None, not_before: None };
    let (queue, now, message) = (shop.desk.queue.clone(), shop.now(), notice.outbound.id);
    let unit = move |tx: &mut Tx<'_>| outbox::enqueue_notice(tx, &queue, &notice, now);
    shop.test.db.write(tenant, unit).await.unwrap();
    message
}

fn build_deliverer(shop: &Shop, channel: &Arc<SilentChannel>) -> OutboxDeliverer {
    OutboxDeliverer {
        db: shop.test.db.clone(),
        queue: shop.desk.queue.clone(),
        clock: shop.test.clock.clone(),
        ids: shop.test.ids.clone(),
        senders: Arc::new(FixedSenders::new([channel.clone() as Arc<dyn ChannelSender>])),
    }
}

tables! {
    async fn a_silent_provider_takes_no_worker_from_the_rest(test: TestDb) {
        let shop = Shop::open(test).await;
        let channel = Arc::new(SilentChannel { asked: AtomicUsize::new(0), gate: Semaphore::new(0) });
        let options = JobRunnerOptions::default();
        // More than are sent of one tenant at once, of which there are more than workers.
        let (at_once, all) = (12, 20);
        assert!(options.workers < at_once);
        let deliverer = build_deliverer(&shop, &channel);
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

    async fn six_tenants_whose_servers_are_slow_hold_up_no_seventh(test: TestDb) {
        let shop = Shop::open(test).await;
        let channel = Arc::new(SilentChannel { asked: AtomicUsize::new(0), gate: Semaphore::new(0) });
        let mut registry = JobRegistry::default();
        build_deliverer(&shop, &channel).install(&mut registry);
        for name in ["one", "two", "three", "four", "five", "six"] {
            let tenant = shop.test.add_tenant(name).await;
            for number in 0..13 {
                send_to(&shop, tenant, format!("slow{number}@example.org")).await;
            }
        }
        let (random, options) = (Arc::new(SeededRandom::new(7)), JobRunnerOptions::default());
        let runner = JobRunner::new(shop.test.db.clone(), &shop.desk.queue, random, registry, options);
        let mut running = JoinSet::new();
        running.spawn(async move { runner.run(Default::default()).await });
        wait_until(async || channel.asked.load(Ordering::SeqCst) == 6 * 12).await;
        let message = send_to(&shop, shop.tenant, "quick@example.org".to_owned()).await;
        let state = async || shop.read(move |tx| outbox::find(tx, message)).await.unwrap().state;
        wait_until(async || state().await == OutboxState::Sent).await;
        assert_eq!(channel.asked.load(Ordering::SeqCst), 6 * 12, "and nobody has more than their share");
        channel.gate.add_permits(6 * 13);
        wait_until(async || channel.asked.load(Ordering::SeqCst) == 6 * 13).await;
        running.shutdown().await;
    }
}
