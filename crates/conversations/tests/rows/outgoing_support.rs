//! Accounts that do as they are told, and what tests of the outbox ask of a shop.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use munshi_conversations::outbox::{
    self, ChannelSender, DeliveryReceipt, DuplicateConsent, NewNotice, OutboxChange, OutboxDeliverer,
    OutboxView, OutboxWish, ReceiptContext, SendFault, SendIdempotency, SendReceipt, SenderDirectory,
    SenderRoute,
};
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_pack::alerts::{self, AlertFilter};
use munshi_store::{Db, PageRequest, params};
use munshi_types::tier::Channel;
use munshi_types::{MessageId, OutboundMessage, OutboundPurpose, ReplyAddress, SeededRandom, Timestamp};

use crate::rows::support::{Shop, held};

pub(crate) const MEERA: &str = "+919812345678";

/// An account that does as it is told, and remembers.
#[derive(Default)]
pub(crate) struct Account {
    pub name: Option<&'static str>,
    pub kind: Mutex<Option<SendIdempotency>>,
    pub window: Option<Duration>,
    pub answers: Mutex<VecDeque<SendFault>>,
    pub sent: Mutex<Vec<OutboundMessage>>,
    /// What it says when it is asked.
    pub knows: Mutex<Vec<MessageId>>,
    /// What happens while it sends the next one.
    pub meanwhile: Mutex<Option<BoxFuture<'static, ()>>>,
}

impl Account {
    pub(crate) fn new(kind: SendIdempotency) -> Arc<Self> {
        Arc::new(Self { kind: Mutex::new(Some(kind)), ..Self::default() })
    }

    pub(crate) fn answering(
        kind: SendIdempotency,
        answers: impl IntoIterator<Item = SendFault>,
    ) -> Arc<Self> {
        let answers = Mutex::new(answers.into_iter().collect());
        Arc::new(Self { kind: Mutex::new(Some(kind)), answers, ..Self::default() })
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.sent.lock().unwrap().iter().map(|sent| sent.text.clone()).collect()
    }
}

#[async_trait::async_trait]
impl ChannelSender for Account {
    fn channel(&self) -> Channel {
        Channel::Whatsapp
    }

    fn idempotency(&self) -> SendIdempotency {
        self.kind.lock().unwrap().unwrap()
    }

    fn account(&self) -> Option<&str> {
        self.name
    }

    fn reply_window(&self) -> Option<Duration> {
        self.window
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some(meanwhile) = meanwhile {
            meanwhile.await;
        }
        if let Some(fault) = self.answers.lock().unwrap().pop_front() {
            return Err(fault);
        }
        self.sent.lock().unwrap().push(outbound.clone());
        Ok(SendReceipt { outside_id: Some(format!("wamid.{}", outbound.id)) })
    }

    async fn was_sent(&self, outbound: &OutboundMessage) -> Result<Option<SendReceipt>, SendFault> {
        let knows = self.knows.lock().unwrap().contains(&outbound.id);
        Ok(knows.then(|| SendReceipt { outside_id: Some("found".to_owned()) }))
    }
}

/// One account, and what it was looked for with.
pub(crate) struct Directory {
    pub account: Mutex<Option<Arc<Account>>>,
    pub asked: Mutex<Vec<SenderRoute>>,
}

impl Directory {
    pub(crate) fn of(account: &Arc<Account>) -> Arc<Self> {
        Arc::new(Self { account: Mutex::new(Some(account.clone())), asked: Mutex::default() })
    }
}

#[async_trait::async_trait]
impl SenderDirectory for Directory {
    async fn find(&self, route: &SenderRoute) -> Result<Arc<dyn ChannelSender>, SendFault> {
        self.asked.lock().unwrap().push(route.clone());
        let account = self.account.lock().unwrap().clone();
        account
            .map(|account| account as Arc<dyn ChannelSender>)
            .ok_or_else(|| SendFault::passing("no account"))
    }
}

pub(crate) fn runner(shop: &Shop, directory: Arc<Directory>) -> JobRunner {
    runner_on(shop, directory, shop.test.db.clone())
}

/// With another handle on the database for what is sent.
pub(crate) fn runner_on(shop: &Shop, directory: Arc<Directory>, db: Db) -> JobRunner {
    let mut registry = JobRegistry::default();
    let deliverer = OutboxDeliverer {
        db,
        queue: shop.desk.queue.clone(),
        clock: shop.test.clock.clone(),
        ids: shop.test.ids.clone(),
        senders: directory,
    };
    deliverer.install(&mut registry);
    let random = Arc::new(SeededRandom::new(7));
    JobRunner::new(shop.test.db.clone(), &shop.desk.queue, random, registry, JobRunnerOptions::default())
}

pub(crate) fn address() -> ReplyAddress {
    ReplyAddress::new(Channel::Whatsapp, MEERA.to_owned())
}

/// Says something and answers it; gives the reply's id.
pub(crate) async fn turn(shop: &Shop, number: u32) -> MessageId {
    let ingested = shop.say_from(MEERA, &format!("w{number}"), &address()).await;
    shop.answer(held(&ingested), &format!("reply {number}")).await;
    shop.run(ingested.run).await.reply.unwrap()
}

pub(crate) fn notice(shop: &Shop, purpose: OutboundPurpose, text: &str) -> NewNotice {
    let outbound =
        OutboundMessage { purpose, ..OutboundMessage::new(shop.test.ids.next(), address(), text.to_owned()) };
    NewNotice { outbound, person: None, subject: None, binding: None, about: None, not_before: None }
}

pub(crate) async fn send(shop: &Shop, notice: NewNotice) -> MessageId {
    let (queue, now, message) = (shop.desk.queue.clone(), shop.now(), notice.outbound.id);
    let unit = move |tx: &mut munshi_store::Tx<'_>| outbox::enqueue_notice(tx, &queue, &notice, now);
    shop.test.db.write(shop.tenant, unit).await.unwrap();
    message
}

pub(crate) async fn row(shop: &Shop, message: MessageId) -> OutboxView {
    shop.read(move |tx| outbox::find(tx, message)).await.unwrap()
}

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::from_micros(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
}

pub(crate) async fn ask(shop: &Shop, message: MessageId, consent: Option<DuplicateConsent>) -> OutboxChange {
    asking(shop, message, consent).await
}

/// The same for later: sends a message again where there is a consent or none is needed, and else takes it back.
pub(crate) fn asking(
    shop: &Shop,
    message: MessageId,
    consent: Option<DuplicateConsent>,
) -> BoxFuture<'static, OutboxChange> {
    let (db, tenant, now) = (shop.test.db.clone(), shop.tenant, shop.now());
    let (queue, ids) = (shop.desk.queue.clone(), shop.test.ids.clone());
    let unit = move |tx: &mut munshi_store::Tx<'_>| {
        let wish = OutboxWish { message, queue: &queue, ids: &ids, now };
        match consent {
            Some(consent) => outbox::retry(tx, &wish, consent),
            None => outbox::cancel(tx, &wish),
        }
    };
    Box::pin(async move { db.write(tenant, unit).await.unwrap() })
}

/// What the channel says of a message, by what it calls it, for later.
pub(crate) fn telling(
    shop: &Shop,
    outside_id: String,
    receipt: DeliveryReceipt,
) -> BoxFuture<'static, Option<MessageId>> {
    let (db, tenant, now, ids) = (shop.test.db.clone(), shop.tenant, shop.now(), shop.test.ids.clone());
    let queue = shop.desk.queue.clone();
    let unit = move |tx: &mut munshi_store::Tx<'_>| {
        let context = ReceiptContext { queue: &queue, ids: &ids, now };
        outbox::record_receipt(tx, (Channel::Whatsapp, &outside_id), &receipt, context)
    };
    Box::pin(async move { db.write(tenant, unit).await.unwrap() })
}

/// The texts of open alerts.
pub(crate) async fn alerts_of(shop: &Shop) -> Vec<String> {
    let found = shop.read(|tx| alerts::list(tx, AlertFilter::Open, &PageRequest::new(None, 10))).await;
    found.items.into_iter().map(|alert| alert.text).collect()
}

/// As a process leaves it that dies while sending: the row says so, and the job that was at it comes again.
pub(crate) async fn die_while_sending(shop: &Shop, message: MessageId, account: Option<&'static str>) {
    shop.write(move |tx| {
        tx.execute(
            "UPDATE outbox SET state = 'sending', attempts = 1, account = $3,
                    job = (SELECT j.id FROM jobs j WHERE j.tenant_id = $1 AND j.state = 'ready')
             WHERE tenant_id = $1 AND message_id = $2",
            params![message, account],
        )
    })
    .await;
}
