//! A database whose outbox is that of an older version, brought up to now.

use std::sync::{Arc, Mutex};

use munshi_conversations::outbox::{
    self, ChannelSender, FixedSenders, OutboxDeliverer, OutboxState, SendFault, SendIdempotency, SendReceipt,
};
use munshi_identity::persons;
use munshi_jobs::{JobQueue, JobRegistry, JobRunner, JobRunnerOptions, NewJob};
use munshi_store::migrate::{self, MigrationRequest};
use munshi_store::{Db, Error, Migration, Migrations, SealedColumn, StoreOptions, Tx, params};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::tier::Channel;
use munshi_types::{
    BindingId, Clock, MessageId, OutboundMessage, PersonId, RunId, SeededRandom, SessionId, TenantId,
};
use serde_json::json;

const OURS: &str = "0100_outbox";

/// Every list of tables, with those of conversations as they were.
fn list_before() -> Vec<&'static [Migration]> {
    let until = |list: &'static [Migration]| {
        let end = list.iter().position(|migration| migration.name >= OURS).unwrap_or(list.len());
        &list[..end]
    };
    munshi_test_app::list_migrations(&[]).into_iter().map(until).collect()
}

async fn brought_up(test: &TestDb) -> Db {
    let migrations = Migrations::new(&munshi_test_app::list_migrations(&[])).unwrap();
    let request = MigrationRequest {
        address: test.address.clone(),
        owner: None,
        options: StoreOptions::default(),
        migrations: migrations.clone(),
        now: test.clock.now(),
        backups: None,
    };
    migrate::run(request).await.unwrap();
    Db::open(&test.address, &test.options, &migrations).await.unwrap()
}

/// How replies stood, in the order of their thread.
const STATES: [&str; 5] = ["sent", "unknown", "sending", "waiting", "waiting"];

/// One conversation with a reply in each state, sealed as they are, and a job for the one that was being sent when the program stopped.
struct Left {
    tenant: TenantId,
    session: SessionId,
    /// In the order of the thread.
    messages: Vec<MessageId>,
}

async fn leave_behind(test: &TestDb, queue: &JobQueue) -> Left {
    let tenant = test.add_tenant("sharma").await;
    let (person, session): (PersonId, SessionId) = (test.ids.next(), test.ids.next());
    // Backwards, so that the order of the ids is not that of the thread.
    let mut messages: Vec<MessageId> = STATES.iter().map(|_| test.ids.next()).collect();
    messages.reverse();
    let (now, queue, thread) = (test.clock.now(), queue.clone(), messages.clone());
    let (binding, run): (BindingId, RunId) = (test.ids.next(), test.ids.next());
    let unit = move |tx: &mut Tx<'_>| {
        let sql = "INSERT INTO persons (tenant_id, id, name, opened, closed, tags, made_at) VALUES ($1, $2, 'Meera', '[]', '[]', '[]', $3)";
        tx.execute(sql, params![person, now])?;
        tx.execute(
            "INSERT INTO sessions (tenant_id, id, binding_id, person_id, channel, messages, summarised, entities, tainted, began_at, last_at)
             VALUES ($1, $2, $3, $4, 'whatsapp', 6, 0, '{}', 0, $5, $5)",
            params![session, binding, person, now],
        )?;
        let heard: MessageId = MessageId::from_uuid(uuid::Uuid::nil());
        let said = [(heard, "person")].into_iter().chain(thread.iter().map(|id| (*id, "persona")));
        for (number, (id, speaker)) in said.enumerate() {
            tx.execute(
                "INSERT INTO messages (tenant_id, id, session_id, number, run_id, binding_id, speaker, channel, text, attached, tokens,
                   standing, generation, marks, suggestions, said_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, 'whatsapp', 'x', '[]', 1, 'whole', 1, '[]', '[]', $8)",
                params![id, session, i64::try_from(number).unwrap_or_default() + 1, run, binding, speaker, now],
            )?;
        }
        let by = persons::seal_by_person(tx, person)?;
        for (place, (id, state)) in thread.into_iter().zip(STATES).enumerate() {
            let job = NewJob::new(outbox::KIND, &json!({ "message": id }))?;
            let job = match state {
                "sending" => {
                    Some(queue.enqueue(tx, &job).map_err(|error| Error::Refused(error.to_string()))?.id())
                }
                _ => None,
            };
            let body = json!({
                "id": id, "to": { "channel": "whatsapp", "address": "+919812345678" }, "text": format!("reply {place}"),
                "suggestions": [], "language": null,
            });
            let body = tx.seal_json(by, SealedColumn::new("outbox", "body").cell(id), &body)?;
            let detail =
                tx.seal(by, SealedColumn::new("outbox", "detail").cell(id), &format!("why {place}"))?;
            let outside_id =
                tx.seal(by, SealedColumn::new("outbox", "outside_id").cell(id), &format!("wamid.{place}"))?;
            tx.execute(
                "INSERT INTO outbox (tenant_id, message_id, session_id, channel, address, body, state, attempts, job, detail, outside_id, made_at)
                 VALUES ($1, $2, $3, 'whatsapp', '', $4, $5, 1, $6, $7, $8, $9)",
                params![id, session, body, state, job, detail, outside_id, now],
            )?;
        }
        Ok::<_, Error>(())
    };
    test.db.write(tenant, unit).await.unwrap();
    Left { tenant, session, messages }
}

#[derive(Default)]
struct Line(Mutex<Vec<String>>);

#[async_trait::async_trait]
impl ChannelSender for Line {
    fn channel(&self) -> Channel {
        Channel::Whatsapp
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.0.lock().unwrap().push(outbound.text.clone());
        Ok(SendReceipt::default())
    }
}

on_both_engines! {
    with all list_before();

    async fn what_was_left_unsent_leaves_in_order(test: TestDb) {
        let queue = JobQueue::new(test.clock.clone(), test.ids.clone());
        let left = leave_behind(&test, &queue).await;
        let db = brought_up(&test).await;
        let line = Arc::new(Line::default());
        let deliverer = OutboxDeliverer {
            db: db.clone(),
            queue: queue.clone(),
            clock: test.clock.clone(),
            ids: test.ids.clone(),
            senders: Arc::new(FixedSenders::new([line.clone() as Arc<dyn ChannelSender>])),
        };
        let mut registry = JobRegistry::default();
        deliverer.install(&mut registry);
        let random = Arc::new(SeededRandom::new(7));
        let runner = JobRunner::new(db.clone(), &queue, random, registry, JobRunnerOptions::default());
        runner.drain().await.unwrap();
        assert_eq!(*line.0.lock().unwrap(), ["reply 3", "reply 4"], "in order, and nothing that may have arrived");
        let mut states = Vec::new();
        for (place, message) in left.messages.into_iter().enumerate() {
            let find = move |tx: &mut Tx<'_>| Ok::<_, Error>((outbox::find(tx, message)?.unwrap(), outbox::find_body(tx, message)?.unwrap()));
            let (row, body) = db.read(left.tenant, find).await.unwrap();
            assert_eq!((row.session, body.text), (Some(left.session), format!("reply {place}")), "sealed under the same names");
            assert!(row.binding.is_some(), "a sender is found by it");
            if row.state != OutboxState::Sent || place == 0 {
                assert_eq!(row.outside_id, Some(format!("wamid.{place}")));
            }
            if place < 2 {
                assert_eq!(row.detail, Some(format!("why {place}")));
            }
            states.push(row.state);
        }
        let (sent, unknown) = (OutboxState::Sent, OutboxState::Unknown);
        assert_eq!(states, [sent, unknown, unknown, sent, sent]);
    }
}
