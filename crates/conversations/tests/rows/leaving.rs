//! What leaves, leaves once and in order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_conversations::outbox::{
    self, ChannelSender, DeliveryCertainty, FixedSenders, OutboxDeliverer, OutboxState, SendFault,
    SendIdempotency, SendReceipt, SendRetryability,
};
use munshi_jobs::{JOBS, JobRegistry, JobRunner, JobRunnerOptions, JobState, JobView, NewJob, dead_letters};
use munshi_store::{JsonText, PageRequest, SealedColumn, params};
use munshi_types::tier::Channel;
use munshi_types::{JobId, MessageId, OutboundMessage, ReplyAddress, SeededRandom};

use crate::rows::support::{Shop, held, tables};

const MEERA: &str = "+919812345678";

/// A channel that does as it is told: each send takes the next answer, and then they pass.
struct Line {
    sending: SendIdempotency,
    answers: Mutex<VecDeque<SendFault>>,
    sent: Mutex<Vec<(MessageId, String)>>,
}

impl Line {
    fn new(sending: SendIdempotency, answers: impl IntoIterator<Item = SendFault>) -> Arc<Self> {
        Arc::new(Self { sending, answers: Mutex::new(answers.into_iter().collect()), sent: Mutex::default() })
    }

    fn texts(&self) -> Vec<String> {
        self.sent.lock().unwrap().iter().map(|(_, text)| text.clone()).collect()
    }
}

#[async_trait::async_trait]
impl ChannelSender for Line {
    fn channel(&self) -> Channel {
        Channel::Whatsapp
    }

    fn idempotency(&self) -> SendIdempotency {
        self.sending
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        if let Some(fault) = self.answers.lock().unwrap().pop_front() {
            return Err(fault);
        }
        self.sent.lock().unwrap().push((outbound.id, outbound.text.clone()));
        Ok(SendReceipt { outside_id: Some(format!("wamid.{}", outbound.id)) })
    }
}

fn fault(retryable: SendRetryability, happened: DeliveryCertainty) -> SendFault {
    SendFault { retryable, happened, ..SendFault::passing("the line is down") }
}

fn runner(shop: &Shop, line: Option<Arc<Line>>) -> JobRunner {
    let mut registry = JobRegistry::default();
    let senders = Arc::new(FixedSenders::new(line.map(|line| line as Arc<dyn ChannelSender>)));
    let deliverer = OutboxDeliverer {
        db: shop.test.db.clone(),
        queue: shop.desk.queue.clone(),
        clock: shop.test.clock.clone(),
        ids: shop.test.ids.clone(),
        senders,
    };
    deliverer.install(&mut registry);
    let random = Arc::new(SeededRandom::new(7));
    JobRunner::new(shop.test.db.clone(), &shop.desk.queue, random, registry, JobRunnerOptions::default())
}

/// Says something and answers it; gives the reply's id.
async fn turn(shop: &Shop, number: u32) -> MessageId {
    let to = ReplyAddress::new(Channel::Whatsapp, MEERA.to_owned());
    let ingested = shop.say_from(MEERA, &format!("w{number}"), &to).await;
    shop.answer(held(&ingested), &format!("reply {number}")).await;
    shop.run(ingested.run).await.reply.unwrap()
}

async fn state(shop: &Shop, message: MessageId) -> OutboxState {
    shop.read(move |tx| outbox::find(tx, message)).await.unwrap().state
}

async fn jobs(shop: &Shop, state: JobState) -> Vec<JobView> {
    let request = PageRequest::new(None, 100);
    shop.test
        .db
        .platform(JOBS)
        .read(move |tx| dead_letters::list(tx, state, None, &request))
        .await
        .unwrap()
        .items
}

/// As a process leaves it that dies while sending.
async fn die_while_sending(shop: &Shop, message: MessageId) {
    let job = jobs(shop, JobState::Ready).await.first().unwrap().id;
    shop.write(move |tx| {
        tx.execute(
            "UPDATE outbox SET state = 'sending', job = $3, attempts = 1 WHERE tenant_id = $1 AND message_id = $2",
            params![message, job],
        )
    })
    .await;
}

/// Lets time pass until nothing is left to be tried again, and no night comes.
async fn drain(shop: &Shop, runner: &JobRunner) {
    for _ in 0..16 {
        runner.drain().await.unwrap();
        shop.test.clock.advance(Duration::from_secs(2200));
    }
}

tables! {
    async fn a_reply_is_sent_once_with_its_key(test: TestDb) {
        let shop = Shop::open(test).await;
        let line = Line::new(SendIdempotency::Keyed, []);
        let message = turn(&shop, 1).await;
        assert_eq!(state(&shop, message).await, OutboxState::Waiting);
        let runner = runner(&shop, Some(line.clone()));
        drain(&shop, &runner).await;
        let row = shop.read(move |tx| outbox::find(tx, message)).await.unwrap();
        assert_eq!((row.state, row.attempts, row.sent_at.is_some()), (OutboxState::Sent, 1, true));
        assert_eq!(row.outside_id, Some(format!("wamid.{message}")));
        assert_eq!(*line.sent.lock().unwrap(), [(message, "reply 1".to_owned())]);
        // The same job again, as a second delivery of it would come.
        let queue = shop.desk.queue.clone();
        let again = NewJob::new(outbox::KIND, &serde_json::json!({ "message": message })).unwrap();
        shop.test.db.write(shop.tenant, move |tx| queue.enqueue(tx, &again)).await.unwrap();
        drain(&shop, &runner).await;
        assert_eq!(line.texts().len(), 1);
        let ingested = shop.say(MEERA, "looks", "no push").await;
        shop.answer(held(&ingested), "seen on the page").await;
        assert_eq!(shop.count("outbox").await, 1, "only where somebody said where to");
    }

    async fn none_overtakes_another(test: TestDb) {
        let shop = Shop::open(test).await;
        let down = || fault(SendRetryability::Yes, DeliveryCertainty::No);
        let line = Line::new(SendIdempotency::Once, [down(), down(), down()]);
        let runner = runner(&shop, Some(line.clone()));
        for number in 1..=3 {
            turn(&shop, number).await;
        }
        runner.drain().await.unwrap();
        assert_eq!(line.texts(), [""; 0], "the first is not through, so nobody is");
        turn(&shop, 4).await;
        drain(&shop, &runner).await;
        assert_eq!(line.texts(), ["reply 1", "reply 2", "reply 3", "reply 4"]);
        assert_eq!(jobs(&shop, JobState::Dead).await, []);
    }

    async fn two_nodes_at_once_send_each_once_and_in_order(test: TestDb) {
        let shop = Shop::open(test).await;
        let line = Line::new(SendIdempotency::Once, []);
        let nodes = [runner(&shop, Some(line.clone())), runner(&shop, Some(line.clone()))];
        for number in 0..12 {
            turn(&shop, number).await;
            if number % 3 == 0 {
                let [one, other] = &nodes;
                let (one, other) = futures_util::future::join(one.drain(), other.drain()).await;
                one.unwrap();
                other.unwrap();
            }
        }
        let [one, other] = &nodes;
        let _both = futures_util::future::join(one.drain(), other.drain()).await;
        drain(&shop, &nodes[0]).await;
        assert_eq!(line.texts(), (0..12).map(|number| format!("reply {number}")).collect::<Vec<_>>());
    }

    async fn after_a_crash_what_bears_it_is_sent_again(test: TestDb) {
        let shop = Shop::open(test).await;
        let line = Line::new(SendIdempotency::Keyed, [fault(SendRetryability::Yes, DeliveryCertainty::Maybe)]);
        let message = turn(&shop, 1).await;
        die_while_sending(&shop, message).await;
        drain(&shop, &runner(&shop, Some(line.clone()))).await;
        assert_eq!((state(&shop, message).await, line.texts().len()), (OutboxState::Sent, 1));
    }

    async fn after_a_crash_what_would_double_is_left_and_told(test: TestDb) {
        let shop = Shop::open(test).await;
        let line = Line::new(SendIdempotency::Once, []);
        let (first, second) = (turn(&shop, 1).await, turn(&shop, 2).await);
        // Its own job: each has one, and says so in what is sealed.
        let listed = shop.read(|tx| {
            tx.all("SELECT id, payload FROM jobs WHERE tenant_id = $1 AND state = 'ready'", params![], |row| {
                let id: JobId = row.get(0)?;
                let payload: JsonText = row.get_sealed(1, SealedColumn::new("jobs", "payload").cell(id))?;
                Ok((id, payload.as_str().to_owned()))
            })
        });
        let listed = listed.await;
        assert_eq!(listed.len(), 2);
        let own = listed.iter().find(|(_, payload)| payload.contains(&first.to_string())).unwrap().0;
        shop.write(move |tx| {
            let sql = "UPDATE outbox SET state = 'sending', job = $3, attempts = 1 WHERE tenant_id = $1 AND message_id = $2";
            tx.execute(sql, params![first, own])
        })
        .await;
        drain(&shop, &runner(&shop, Some(line.clone()))).await;
        assert_eq!(state(&shop, first).await, OutboxState::Unknown);
        assert_eq!(state(&shop, second).await, OutboxState::Sent, "those behind it go on");
        assert_eq!(line.texts(), ["reply 2"]);
        let unsent = shop.read(|tx| outbox::list_unsent(tx, &PageRequest::new(None, 10))).await;
        assert_eq!(unsent.items.iter().map(|row| row.message).collect::<Vec<_>>(), [first], "and it is seen");
    }

    async fn a_line_that_broke_before_the_answer_is_not_tried_again_where_it_would_double(test: TestDb) {
        let shop = Shop::open(test).await;
        let line = Line::new(SendIdempotency::Once, [fault(SendRetryability::Yes, DeliveryCertainty::Maybe)]);
        let message = turn(&shop, 1).await;
        drain(&shop, &runner(&shop, Some(line.clone()))).await;
        assert_eq!((state(&shop, message).await, line.texts()), (OutboxState::Unknown, vec![]));
    }

    async fn what_never_passes_is_given_up_and_the_next_goes_on(test: TestDb) {
        let shop = Shop::open(test).await;
        let down = (0..outbox::TRIES).map(|_| fault(SendRetryability::Yes, DeliveryCertainty::No));
        let line = Line::new(SendIdempotency::Keyed, down.chain([fault(SendRetryability::No, DeliveryCertainty::No)]));
        let (first, second, third) = (turn(&shop, 1).await, turn(&shop, 2).await, turn(&shop, 3).await);
        drain(&shop, &runner(&shop, Some(line.clone()))).await;
        let row = shop.read(move |tx| outbox::find(tx, first)).await.unwrap();
        assert_eq!((row.state, row.attempts), (OutboxState::Failed, outbox::TRIES));
        assert_eq!(row.detail.as_deref(), Some("the line is down"));
        let row = shop.read(move |tx| outbox::find(tx, second)).await.unwrap();
        assert_eq!((row.state, row.attempts), (OutboxState::Failed, 1), "refused for good");
        assert_eq!((state(&shop, third).await, line.texts()), (OutboxState::Sent, vec!["reply 3".to_owned()]));
    }

    async fn a_channel_nobody_sends_on_is_told(test: TestDb) {
        let shop = Shop::open(test).await;
        let message = turn(&shop, 1).await;
        drain(&shop, &runner(&shop, None)).await;
        let row = shop.read(move |tx| outbox::find(tx, message)).await.unwrap();
        assert_eq!(row.state, OutboxState::Failed);
        assert_eq!(row.detail.as_deref(), Some("no sender for channel whatsapp: configure the channel"));
    }
}
