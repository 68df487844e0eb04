//! What is in the outbox arrives by mail: once, or it is known that it may have.

use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use munshi_channels::{AllowedHosts, ChannelSenders};
use munshi_conversations::outbox::{
    self, ChannelSender, NewNotice, OutboxDeliverer, OutboxState, OutboxView, SendFault, SendIdempotency,
    SendReceipt, SenderDirectory, SenderRoute,
};
use munshi_jobs::{JobQueue, JobRegistry, JobRunner, JobRunnerOptions};
use munshi_store::{Db, Migrations, StoreOptions, Tx};
use munshi_test_support::{DatabaseEngine, memory_keyring, on_both_engines, process, wait_until};
use munshi_types::tier::Channel;
use munshi_types::{
    Clock, FakeClock, IdGenerator, MessageId, OutboundMessage, OutboundPurpose, SeededRandom, SystemRandom,
    Timestamp,
};
use serde::{Deserialize, Serialize};

use super::support::{QUICK, SenderWay, Shop, build_senders, migrations, open_shop};

pub(crate) fn build_runner(db: &Db, clock: Arc<dyn Clock>, senders: impl SenderDirectory) -> JobRunner {
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    let queue = JobQueue::new(clock.clone(), ids.clone());
    let mut registry = JobRegistry::default();
    let deliverer =
        OutboxDeliverer { db: db.clone(), queue: queue.clone(), clock, ids, senders: Arc::new(senders) };
    deliverer.install(&mut registry);
    JobRunner::new(db.clone(), &queue, Arc::new(SeededRandom::new(7)), registry, JobRunnerOptions::default())
}

/// Writes a reminder down to be sent.
async fn remind(shop: &Shop, to: &str) -> MessageId {
    let outbound = OutboundMessage {
        purpose: OutboundPurpose::Reminder,
        subject: Some("Your bill".to_owned()),
        ..shop.message(to, "₹500 is due since Monday.")
    };
    let id = outbound.id;
    let notice =
        NewNotice { outbound, person: None, subject: None, binding: None, about: None, not_before: None };
    let (queue, now) = (JobQueue::new(shop.test.clock.clone(), shop.test.ids.clone()), shop.test.clock.now());
    let write = move |tx: &mut Tx<'_>| outbox::enqueue_notice(tx, &queue, &notice, now);
    shop.test.db.write(shop.tenant, write).await.unwrap();
    id
}

async fn find(shop: &Shop, message: MessageId) -> OutboxView {
    shop.test.db.read(shop.tenant, move |tx| outbox::find(tx, message)).await.unwrap().unwrap()
}

/// Lets time pass: enough that a lost lease is over.
async fn drain(shop: &Shop) {
    drain_for(shop, 16).await;
}

/// So many times five minutes.
async fn drain_for(shop: &Shop, rounds: u32) {
    let runner = build_runner(&shop.test.db, shop.test.clock.clone(), shop.senders.clone());
    for _ in 0..rounds {
        runner.drain().await.unwrap();
        shop.test.clock.advance(Duration::from_secs(300));
    }
}

/// What the child is told.
#[derive(Serialize, Deserialize)]
struct Part {
    url: String,
    folder: PathBuf,
    /// In microseconds.
    now: i64,
    stop: Option<SendingStop>,
}

/// Where the child stops, having said so in a file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum SendingStop {
    /// It is written down that the message is being sent, and nothing is connected.
    Claimed,
    /// The server has taken it, and nothing is written down.
    Accepted,
}

/// With how many mails the server has by then.
const STOPS: [(SendingStop, usize); 2] = [(SendingStop::Claimed, 0), (SendingStop::Accepted, 1)];

/// In the child's folder.
const STOPPED: &str = "stopped";

/// The real senders, of which none goes on behind a step.
struct StoppingSenders {
    senders: ChannelSenders,
    stop: Option<SendingStop>,
    folder: PathBuf,
}

struct StoppingSender {
    sender: Arc<dyn ChannelSender>,
    stop: Option<SendingStop>,
    folder: PathBuf,
}

impl StoppingSender {
    async fn stop(&self) {
        std::fs::write(self.folder.join(STOPPED), b"").unwrap();
        std::future::pending::<()>().await;
    }
}

#[async_trait::async_trait]
impl SenderDirectory for StoppingSenders {
    async fn find(&self, route: &SenderRoute) -> Result<Arc<dyn ChannelSender>, SendFault> {
        let sender = self.senders.find(route).await?;
        Ok(Arc::new(StoppingSender { sender, stop: self.stop, folder: self.folder.clone() }))
    }
}

#[async_trait::async_trait]
impl ChannelSender for StoppingSender {
    fn channel(&self) -> Channel {
        self.sender.channel()
    }

    fn idempotency(&self) -> SendIdempotency {
        self.sender.idempotency()
    }

    fn account(&self) -> Option<&str> {
        self.sender.account()
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        if let Some(SendingStop::Claimed) = self.stop {
            self.stop().await;
        }
        let sent = self.sender.send(outbound).await;
        if let (Some(SendingStop::Accepted), Ok(_)) = (self.stop, &sent) {
            self.stop().await;
        }
        sent
    }
}

/// Where a server says nothing more, by the names of the sender and the recipient, and how many mails it has by then.
const SILENT_STEPS: [(&str, &str, usize); 4] =
    [("asleep", "meera", 0), ("mail", "asleep", 0), ("mail", "drowsy", 0), ("mail", "silent", 1)];

fn spawn_child(shop: &Shop, stop: Option<SendingStop>) -> Child {
    let folder = shop.test.place.folder();
    let url = match shop.test.engine() {
        DatabaseEngine::Sqlite => format!("sqlite:{}", folder.join("munshi.db").display()),
        DatabaseEngine::Postgres => shop.test.place.postgres_url("munshi_owner"),
    };
    let now = shop.test.clock.now().as_micros();
    let role = serde_json::to_string(&Part { url, folder, now, stop }).unwrap();
    process::build_child_command(concat!(module_path!(), "::the_child_sends"), &role).spawn().unwrap()
}

/// Sends what there is, until it is killed.
#[test]
fn the_child_sends() {
    let Some(role) = process::role() else { return };
    let part: Part = serde_json::from_str(&role).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let keyring = Some(memory_keyring(IdGenerator::system()));
        let options = StoreOptions { connections: 4, readers: 2, keyring, ..StoreOptions::default() };
        let tables = Migrations::new(&migrations()).unwrap();
        let db = Db::open(&part.url.parse().unwrap(), &options, &tables).await.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(FakeClock::new(Timestamp::from_micros(part.now)));
        let way =
            SenderWay { allowed: AllowedHosts::new(["127.0.0.1".to_owned()]), tls: None, timings: QUICK };
        let (_, senders) = build_senders(&db, clock.clone(), &part.folder, way).await;
        let senders = StoppingSenders { senders, stop: part.stop, folder: part.folder };
        build_runner(&db, clock, senders).drain().await.unwrap();
    });
}

on_both_engines! {
    with all migrations();

    async fn a_reminder_arrives_once(test: TestDb) {
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "")).await;
        let to = shop.address("meera");
        let message = remind(&shop, &to).await;
        drain(&shop).await;
        let row = find(&shop, message).await;
        assert_eq!((row.state, row.account.as_deref()), (OutboxState::Sent, Some("mail")));
        assert_eq!(row.outside_id, Some(format!("<{message}@example.com>")));
        let mails = shop.server.read_mailbox(&to);
        assert_eq!(mails.len(), 1, "{mails:?}");
        assert!(mails[0].contains("Subject: Your bill") && mails[0].contains("<https://munshi.example/unsubscribe/"), "{mails:?}");
    }

    async fn what_may_have_arrived_is_not_sent_again(test: TestDb) {
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "")).await;
        let to = shop.address("drop");
        let message = remind(&shop, &to).await;
        drain(&shop).await;
        assert_eq!((find(&shop, message).await.state, shop.server.read_mailbox(&to).len()), (OutboxState::Unknown, 1));
    }

    async fn what_is_refused_for_now_is_tried_again_and_then_given_up(test: TestDb) {
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "")).await;
        let (busy, unknown) = (shop.address("busy"), shop.address("unknown"));
        let (later, never) = (remind(&shop, &busy).await, remind(&shop, &unknown).await);
        drain_for(&shop, 6).await;
        let trying = find(&shop, later).await;
        assert!(trying.state == OutboxState::Waiting && trying.attempts > 3, "{trying:?}");
        drain_for(&shop, 40).await;
        let (later, never) = (find(&shop, later).await, find(&shop, never).await);
        assert_eq!((later.state, later.attempts), (OutboxState::Failed, outbox::TRIES), "{later:?}");
        assert!(later.detail.unwrap().contains("451"));
        assert_eq!((never.state, never.attempts), (OutboxState::Failed, 1));
        assert!(never.detail.unwrap().contains("refused the recipient"));
        assert_eq!(shop.server.read_mailbox(&busy).len() + shop.server.read_mailbox(&unknown).len(), 0);
    }

    async fn a_message_waits_for_its_channel(test: TestDb) {
        let shop = open_shop(test).await;
        let to = shop.address("meera");
        let message = remind(&shop, &to).await;
        build_runner(&shop.test.db, shop.test.clock.clone(), shop.senders.clone()).drain().await.unwrap();
        let row = find(&shop, message).await;
        assert_eq!(row.state, OutboxState::Waiting);
        assert!(row.detail.unwrap().contains("munshi channel add"));
        shop.declare(&shop.plain("mail", "")).await;
        drain(&shop).await;
        assert_eq!((find(&shop, message).await.state, shop.server.read_mailbox(&to).len()), (OutboxState::Sent, 1));
    }

    async fn a_process_that_is_killed_at_any_step_sends_nothing_twice(test: TestDb) {
        let shop = open_shop(test).await;
        for (from, to, arrived) in SILENT_STEPS {
            let (name, to) = (shop.name(from), shop.address(to));
            shop.declare(&shop.plain(&name, "")).await;
            let message = remind(&shop, &to).await;
            // The process dies before it knows more.
            let place = if from == "asleep" { format!("{name}@example.com") } else { to.clone() };
            let hangs = shop.server.mailboxes.join(place).join("hangs");
            let mut child = spawn_child(&shop, None);
            wait_until(async || hangs.exists()).await;
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(find(&shop, message).await.state, OutboxState::Sending, "{name} {to}");
            drain(&shop).await;
            let (row, mails) = (find(&shop, message).await, shop.server.read_mailbox(&to));
            assert_eq!((row.state, mails.len()), (OutboxState::Unknown, arrived), "{name} {to}");
        }
    }

    async fn what_a_process_took_with_it_before_and_behind_the_server_is_sent_by_nobody_again(test: TestDb) {
        let shop = open_shop(test).await;
        let stopped = shop.test.place.folder().join(STOPPED);
        for (stop, arrived) in STOPS {
            shop.declare(&shop.plain(&shop.name("mail"), "")).await;
            let to = shop.address("meera");
            let message = remind(&shop, &to).await;
            let mut child = spawn_child(&shop, Some(stop));
            wait_until(async || stopped.exists()).await;
            child.kill().unwrap();
            child.wait().unwrap();
            std::fs::remove_file(&stopped).unwrap();
            assert_eq!(find(&shop, message).await.state, OutboxState::Sending, "{stop:?}");
            assert_eq!(shop.server.read_mailbox(&to).len(), arrived, "{stop:?}");
            drain(&shop).await;
            let (row, mails) = (find(&shop, message).await, shop.server.read_mailbox(&to));
            assert_eq!((row.state, mails.len()), (OutboxState::Unknown, arrived), "{stop:?}");
        }
    }
}
