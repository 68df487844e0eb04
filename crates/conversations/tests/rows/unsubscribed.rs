//! Who ended by the link of a mail what they had not asked for is sent answers alone, whoever they are.

use std::sync::{Arc, Mutex};

use munshi_conversations::outbox::opt_outs::{self, SubscriptionChange, SubscriptionWord, UnsubscribeToken};
use munshi_conversations::outbox::{
    self, ChannelSender, FixedSenders, NewNotice, OutboxDeliverer, OutboxState, SendFault, SendIdempotency,
    SendReceipt,
};
use munshi_identity::codes::CodeKey;
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{MessageId, OutboundMessage, OutboundPurpose, ReplyAddress, SeededRandom};

use crate::rows::support::{Shop, tables};

/// An account for mails that keeps what it sends.
#[derive(Default)]
struct Account(Mutex<Vec<String>>);

#[async_trait::async_trait]
impl ChannelSender for Account {
    fn channel(&self) -> Channel {
        Channel::Email
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.0.lock().unwrap().push(outbound.text.clone());
        Ok(SendReceipt::default())
    }
}

fn address() -> ReplyAddress {
    ReplyAddress::new(Channel::Email, "stranger@example.org".to_owned())
}

fn build_runner(shop: &Shop, account: Arc<Account>) -> JobRunner {
    let mut registry = JobRegistry::default();
    let deliverer = OutboxDeliverer {
        db: shop.test.db.clone(),
        queue: shop.desk.queue.clone(),
        clock: shop.test.clock.clone(),
        ids: shop.test.ids.clone(),
        senders: Arc::new(FixedSenders::new([account as Arc<dyn ChannelSender>])),
    };
    deliverer.install(&mut registry);
    let random = Arc::new(SeededRandom::new(7));
    JobRunner::new(shop.test.db.clone(), &shop.desk.queue, random, registry, JobRunnerOptions::default())
}

/// Sends something; says what became of it.
async fn send(shop: &Shop, runner: &JobRunner, purpose: OutboundPurpose, text: &str) -> OutboxState {
    let outbound =
        OutboundMessage { purpose, ..OutboundMessage::new(shop.test.ids.next(), address(), text.to_owned()) };
    let (message, queue, now) = (outbound.id, shop.desk.queue.clone(), shop.now());
    let notice =
        NewNotice { outbound, person: None, subject: None, binding: None, about: None, not_before: None };
    let unit = move |tx: &mut Tx<'_>| outbox::enqueue_notice(tx, &queue, &notice, now);
    shop.test.db.write(shop.tenant, unit).await.unwrap();
    runner.drain().await.unwrap();
    shop.read(move |tx| outbox::find(tx, message)).await.unwrap().state
}

/// Presses the link of a mail; false where it was pressed before.
async fn press(shop: &Shop) -> bool {
    let (key, ids, now) = (CodeKey::new(&[7; 32]), shop.test.ids.clone(), shop.now());
    let unit = move |tx: &mut Tx<'_>| {
        let wish = UnsubscribeToken::build(tx, &address(), &key)?.verify(&key).unwrap();
        opt_outs::unsubscribe(tx, &wish, &ids, now)
    };
    shop.test.db.write(shop.tenant, unit).await.unwrap()
}

tables! {
    async fn an_address_that_is_nobodys_is_left_alone_until_start(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Arc::new(Account::default());
        let runner = build_runner(&shop, account.clone());
        assert_eq!(send(&shop, &runner, OutboundPurpose::Notice, "We have moved").await, OutboxState::Sent);
        assert!(press(&shop).await && !press(&shop).await, "once is enough");
        for purpose in [OutboundPurpose::Notice, OutboundPurpose::Reminder] {
            assert_eq!(send(&shop, &runner, purpose, "unasked").await, OutboxState::Failed, "{purpose:?}");
        }
        assert_eq!(send(&shop, &runner, OutboundPurpose::Reply, "an answer").await, OutboxState::Sent);
        let (person, message, now) = (shop.test.ids.next(), shop.test.ids.next::<MessageId>(), shop.now());
        let start = move |tx: &mut Tx<'_>| {
            let at = address();
            let word = SubscriptionWord::Start;
            opt_outs::record(tx, &SubscriptionChange { word, person, at: &at, message, now })
        };
        assert!(shop.test.db.write(shop.tenant, start).await.unwrap(), "they were closed, and are open");
        assert_eq!(send(&shop, &runner, OutboundPurpose::Notice, "Welcome back").await, OutboxState::Sent);
        assert_eq!(*account.0.lock().unwrap(), ["We have moved", "an answer", "Welcome back"]);
    }
}
