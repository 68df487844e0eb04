//! What comes from outside: stored before anybody works on it, taken once by the sender's id, handled once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use munshi_identity::{Principal, Role};
use munshi_jobs::{
    JOBS, JobFailure, JobKind, JobRegistry, JobRunner, JobRunnerOptions, JobState, dead_letters,
};
use munshi_pack::delivery::{
    self, DELIVERIES, DeliveryOrigin, DeliveryOutcome, DeliveryQueue, LARGEST_DELIVERY, NewDelivery,
};
use munshi_pack::operation::PackServices;
use munshi_pack::{
    FinishedTurn, Foreign, FromPack, InvalidPack, NewPackRun, Pack, PackDeliveryCall, PackInstaller, PackJob,
    PackJobCall, PackJobParts, PackJobQueue, PackPoll, PackPollCall, PackRegistry, PackRunCause,
    PackScheduleTime, PackWebhook, PolledItem, PolledPage, RunStarter, TurnHook, WebhookRejection,
    WebhookRequest, WebhookVerdict,
};
use munshi_store::{Db, JsonText, Migration, PageRequest, PlatformTx, SealedColumn, Tx, params};
use munshi_test_support::{TestDb, on_both_engines, wait_until};
use munshi_types::{ActId, Clock, DeliveryId, IdGenerator, RunId, SystemRandom, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::build_scene;
use crate::clockwork::queue;

pub(crate) const INBOX: &[Migration] = &[Migration {
    name: "9103_inbox",
    text: "CREATE TENANT TABLE inbox (tenant_id UUID NOT NULL, id UUID NOT NULL, sender_id TEXT NOT NULL,
             text TEXT NOT NULL, PRIMARY KEY (tenant_id, id));",
}];

/// What the sender has for a poll, and what a test sees of it.
#[derive(Default)]
pub(crate) struct Feed {
    pub(crate) pages: Mutex<VecDeque<Result<PolledPage, String>>>,
    pub(crate) asked: Mutex<Vec<Option<String>>>,
    /// Set: the first try of a delivery stops before its end until it is told to go on.
    hold: Option<Arc<Notify>>,
}

/// Writes a line for each delivery, so that one handled twice is seen.
struct Inbox(Arc<Feed>);

impl Pack for Inbox {
    fn name(&self) -> &'static str {
        "inbox"
    }

    fn migrations(&self) -> &'static [Migration] {
        INBOX
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        room.add_job(SortLetter)?;
        room.add_turn_hook(SortAnswer);
        room.add_webhook(Hook(self.0.clone()))?;
        room.add_poll(Ask(self.0.clone()))
    }
}

struct Hook(Arc<Feed>);

#[async_trait]
impl PackWebhook for Hook {
    fn name(&self) -> &'static str {
        "letters"
    }

    async fn verify(&self, _: &WebhookRequest) -> Result<WebhookVerdict, WebhookRejection> {
        Ok(WebhookVerdict::Ignore)
    }

    async fn handle(&self, call: &PackDeliveryCall) -> Result<(), JobFailure> {
        take_in(&self.0, call).await
    }
}

struct Ask(Arc<Feed>);

#[async_trait]
impl PackPoll for Ask {
    fn name(&self) -> &'static str {
        "fetch"
    }

    fn source(&self) -> &'static str {
        "letters"
    }

    fn schedule(&self) -> PackScheduleTime {
        PackScheduleTime::every_minutes(10)
    }

    async fn poll(&self, call: &PackPollCall) -> Result<PolledPage, JobFailure> {
        self.0.asked.lock().unwrap().push(call.payload.0.clone());
        match self.0.pages.lock().unwrap().pop_front() {
            Some(page) => page.map_err(JobFailure::Passing),
            None => Ok(PolledPage::default()),
        }
    }

    async fn handle(&self, call: &PackDeliveryCall) -> Result<(), JobFailure> {
        take_in(&self.0, call).await
    }
}

async fn take_in(feed: &Feed, call: &PackDeliveryCall) -> Result<(), JobFailure> {
    if let (Some(hold), 1) = (&feed.hold, call.attempt) {
        hold.notified().await;
    }
    let text = call.payload.body.read_text().into_inner();
    if text == "nothing" {
        return Ok(());
    }
    if text == "never" {
        return Err(JobFailure::Passing("the letter can't be read".to_owned()));
    }
    if let Some(later) = text.strip_prefix("later ") {
        let (queue, letter) = (call.queue.clone(), LetterText { text: later.to_owned() });
        return call.finish(move |tx| Ok(queue.enqueue::<SortLetter>(tx, &letter, None)?)).await;
    }
    let (id, sender_id) = (call.ids.next::<ActId>(), call.payload.sender_id.clone());
    let run = call.payload.build_run("inbox.answer", Foreign::new(json!({ "text": text })));
    // What is foreign stays so, though a pack forgets to say it.
    let careless = NewPackRun { kind: "inbox.file".to_owned(), cause: PackRunCause::Clock, ..run.clone() };
    let services = call.services.clone();
    call.finish(move |tx| {
        let sql = "INSERT INTO inbox (tenant_id, id, sender_id, text) VALUES ($1, $2, $3, $4)";
        tx.execute(sql, params![id, sender_id, text])?;
        services.begin_run(tx, &run)?;
        services.begin_run(tx, &careless)?;
        Ok(())
    })
    .await
}

/// Begins a run by the clock, as far as it knows; `again` has another job do the same.
struct SortLetter;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct LetterText {
    text: String,
}

impl PackJob for SortLetter {
    const KIND: JobKind = JobKind::new("inbox.sort");
    type Payload = LetterText;

    async fn run(&self, call: PackJobCall<LetterText>) -> Result<(), JobFailure> {
        let text = call.payload.text.clone();
        let next = text.strip_prefix("again ").map(|rest| LetterText { text: rest.to_owned() });
        let input = json!({ "text": text });
        let run =
            NewPackRun { kind: "inbox.sort".to_owned(), cause: PackRunCause::Clock, cause_key: None, input };
        let (services, queue) = (call.services.clone(), call.queue.clone());
        call.finish(move |tx| {
            services.begin_run(tx, &run)?;
            Ok(next.map_or(Ok(()), |next| queue.enqueue::<SortLetter>(tx, &next, None))?)
        })
        .await
    }
}

/// Has what was answered sorted.
struct SortAnswer;

impl TurnHook for SortAnswer {
    fn after_turn(
        &self,
        tx: &mut Tx<'_>,
        turn: &FinishedTurn,
        jobs: &PackJobQueue,
    ) -> munshi_store::Result<()> {
        jobs.enqueue::<SortLetter>(tx, &LetterText { text: turn.reply.clone() }, None)?;
        assert!(turn.reply != "broken", "a defect of the pack");
        Ok(())
    }
}

struct SortAlways;

impl TurnHook for SortAlways {
    fn after_turn(&self, tx: &mut Tx<'_>, _: &FinishedTurn, jobs: &PackJobQueue) -> munshi_store::Result<()> {
        jobs.enqueue::<SortLetter>(tx, &LetterText { text: "always".to_owned() }, None)
    }
}

/// Remembers what was begun.
pub(crate) struct Starter {
    pub(crate) ids: IdGenerator,
    pub(crate) begun: Mutex<Vec<NewPackRun>>,
    /// The acts that began some of them.
    pub(crate) acts: Mutex<Vec<ActId>>,
}

impl RunStarter for Starter {
    fn begin(&self, _: &mut Tx<'_>, new: &NewPackRun) -> munshi_store::Result<RunId> {
        self.begun.lock().unwrap().push(new.clone());
        Ok(self.ids.next())
    }

    fn begin_delegated(
        &self,
        tx: &mut Tx<'_>,
        new: &NewPackRun,
        _: &munshi_pack::RunDelegator,
    ) -> munshi_store::Result<RunId> {
        self.begin(tx, new)
    }

    fn begin_from_act(&self, tx: &mut Tx<'_>, new: &NewPackRun, act: ActId) -> munshi_store::Result<RunId> {
        self.acts.lock().unwrap().push(act);
        self.begin(tx, new)
    }
}

pub(crate) struct Office {
    pub(crate) feed: Arc<Feed>,
    starter: Arc<Starter>,
    packs: Arc<PackRegistry>,
    pub(crate) tenant: TenantId,
}

impl Office {
    pub(crate) async fn open(test: &TestDb, feed: Feed) -> Self {
        let feed = Arc::new(feed);
        let packs = Arc::new(PackRegistry::install_all(&[Arc::new(Inbox(feed.clone()))]).unwrap());
        let starter =
            Arc::new(Starter { ids: test.ids.clone(), begun: Mutex::default(), acts: Mutex::default() });
        Self { feed, starter, packs, tenant: test.add_tenant("shop").await }
    }

    pub(crate) fn node(&self, test: &TestDb, db: &Db) -> JobRunner {
        let (db, queue) = (db.clone(), queue(test));
        let parts = PackJobParts {
            db: db.clone(),
            clock: test.clock.clone(),
            ids: test.ids.clone(),
            queue: queue.clone(),
            services: PackServices::new(self.starter.clone()),
        };
        let mut registry = JobRegistry::default();
        self.packs.register_jobs(&mut registry, &parts).unwrap();
        JobRunner::new(db, &queue, Arc::new(SystemRandom), registry, JobRunnerOptions::default())
    }

    pub(crate) async fn lines(&self, test: &TestDb) -> Vec<(String, String)> {
        let sql = "SELECT sender_id, text FROM inbox WHERE tenant_id = $1 ORDER BY sender_id, text";
        let read = move |tx: &mut Tx<'_>| tx.all(sql, params![], |row| Ok((row.get(0)?, row.get(1)?)));
        test.db.read(self.tenant, read).await.unwrap_or_else(|error: munshi_store::Error| panic!("{error}"))
    }

    /// Ends a turn with this answer, and says how many jobs of the pack there are then.
    async fn end_turn(&self, test: &TestDb, reply: &str) -> i64 {
        let who = Principal::member(self.tenant, test.ids.next(), Role::Owner);
        let turn = FinishedTurn {
            run: test.ids.next(),
            context: build_scene(test, who, "sort it"),
            reply: reply.to_owned(),
            calls: Vec::new(),
        };
        let (packs, queue) = (self.packs.clone(), queue(test));
        test.db.write(self.tenant, move |tx| packs.run_turn_hooks(tx, &turn, &queue)).await.unwrap();
        let jobs = "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND kind = 'inbox.sort'";
        count(test, self.tenant, jobs).await
    }

    async fn ids(&self, test: &TestDb) -> Vec<String> {
        self.lines(test).await.into_iter().map(|(id, _)| id).collect()
    }
}

/// What a webhook's route does once the pack has verified a request.
pub(crate) async fn deliver(
    test: &TestDb,
    db: &Db,
    tenant: TenantId,
    id: Option<&'static str>,
    body: &'static str,
) -> DeliveryOutcome {
    let (deliveries, now) = (DeliveryQueue { queue: queue(test), ids: test.ids.clone() }, test.clock.now());
    let unit = move |tx: &mut Tx<'_>| {
        let new = NewDelivery {
            pack: "inbox",
            source: "letters",
            origin: DeliveryOrigin::Webhook,
            name: "letters",
            sender_id: id,
            headers: &[("x-kind".to_owned(), "letter".to_owned())],
            body: body.as_bytes(),
        };
        deliveries.store(tx, &new, now)
    };
    db.write(tenant, unit).await.unwrap()
}

fn item(id: &str) -> PolledItem {
    PolledItem { sender_id: id.to_owned(), body: Foreign::new(format!("text of {id}").into_bytes()) }
}

pub(crate) fn page(ids: &[&str], next: &str, has_more: bool) -> PolledPage {
    PolledPage { items: ids.iter().map(|id| item(id)).collect(), next: Some(next.to_owned()), has_more }
}

pub(crate) async fn count(test: &TestDb, tenant: TenantId, sql: &'static str) -> i64 {
    let read = move |tx: &mut Tx<'_>| tx.one(sql, params![], |row| row.get(0));
    test.db.read(tenant, read).await.unwrap_or_else(|error: munshi_store::Error| panic!("{error}"))
}

async fn list_dead(test: &TestDb) -> Vec<String> {
    let request = PageRequest::new(None, 100);
    let list = move |tx: &mut PlatformTx<'_>| dead_letters::list(tx, JobState::Dead, None, &request);
    let dead = test.db.platform(JOBS).read(list).await.unwrap().items;
    dead.into_iter().map(|job| format!("{} {}", job.kind, job.last_error.unwrap_or_default())).collect()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_safety::MIGRATIONS,
          munshi_pack::MIGRATIONS, INBOX];

    async fn the_same_delivery_from_many_connections_is_taken_once(test: TestDb) {
        let office = Arc::new(Office::open(&test, Feed::default()).await);
        let (test, mut senders) = (Arc::new(test), JoinSet::new());
        for number in 0..8 {
            let (test, office) = (test.clone(), office.clone());
            let db = if number % 2 == 0 { test.db.clone() } else { test.open_again().await };
            senders.spawn(async move { deliver(&test, &db, office.tenant, Some("a"), "first").await });
        }
        let told = senders.join_all().await;
        assert_eq!(told.iter().filter(|told| **told != DeliveryOutcome::Known).count(), 1, "{told:?}");
        let nodes = [office.node(&test, &test.db), office.node(&test, &test.open_again().await)];
        let (one, two) = tokio::join!(nodes[0].drain(), nodes[1].drain());
        assert!(one.is_ok() && two.is_ok());
        assert_eq!(office.lines(&test).await, [("a".to_owned(), "first".to_owned())]);
        assert_eq!(deliver(&test, &test.db, office.tenant, Some("a"), "changed").await, DeliveryOutcome::Known);
        // Without an id, the body is what it is known by.
        for known in [false, true] {
            let told = deliver(&test, &test.db, office.tenant, None, "second").await;
            assert_eq!(told == DeliveryOutcome::Known, known);
        }
        nodes[0].drain().await.unwrap();
        assert_eq!(office.lines(&test).await.len(), 2);
        let other = test.add_tenant("neighbour").await;
        assert!(deliver(&test, &test.db, other, Some("a"), "theirs").await != DeliveryOutcome::Known);
    }

    async fn what_a_delivery_begins_is_begun_by_an_event(test: TestDb) {
        let office = Office::open(&test, Feed::default()).await;
        let DeliveryOutcome::Stored(id) = deliver(&test, &test.db, office.tenant, Some("a"), "first").await else { panic!() };
        office.node(&test, &test.db).drain().await.unwrap();
        let begun = office.starter.begun.lock().unwrap().clone();
        assert_eq!(begun.len(), 2);
        assert!(begun.iter().all(|run| run.cause == PackRunCause::Event), "{begun:?}");
        assert_eq!(begun[0].cause_key, Some(format!("delivery/{id}")));
    }

    async fn what_foreign_words_lead_to_is_foreign_through_jobs_too(test: TestDb) {
        let office = Office::open(&test, Feed::default()).await;
        let (own, jobs) = (SortLetter::request(&LetterText { text: "again own".to_owned() }).unwrap(), queue(&test));
        test.db.write(office.tenant, move |tx| jobs.enqueue(tx, &own)).await.unwrap();
        deliver(&test, &test.db, office.tenant, Some("a"), "later again sent").await;
        assert_eq!(office.end_turn(&test, "said").await, 2);
        office.node(&test, &test.db).drain().await.unwrap();
        let begun = office.starter.begun.lock().unwrap().clone();
        let mut begun: Vec<_> = begun.iter().map(|run| (run.input["text"].as_str().unwrap(), run.cause)).collect();
        begun.sort_by_key(|(text, _)| *text);
        let (clock, event) = (PackRunCause::Clock, PackRunCause::Event);
        assert_eq!(begun, [("again own", clock), ("again sent", event), ("own", clock), ("said", event), ("sent", event)]);
    }

    async fn a_turn_hook_that_panics_undoes_its_own_work_alone(test: TestDb) {
        let feed = Arc::new(Feed::default());
        let other = Office::open(&test, Feed::default()).await;
        let mut packs = PackRegistry::install_all(&[Arc::new(Inbox(feed))]).unwrap();
        // Another hook follows the one that panics.
        packs.turn_hooks.push(FromPack { pack: "inbox", what: Arc::new(SortAlways) });
        let office = Office { packs: Arc::new(packs), ..other };
        assert_eq!(office.end_turn(&test, "broken").await, 1, "only the job of the second hook");
        assert_eq!(office.end_turn(&test, "fine").await, 3);
    }

    async fn what_was_stored_is_handled_though_the_process_dies(test: TestDb) {
        let hold = Arc::new(Notify::new());
        let office = Arc::new(Office::open(&test, Feed { hold: Some(hold.clone()), ..Feed::default() }).await);
        deliver(&test, &test.db, office.tenant, Some("a"), "first").await;
        let (first, second) = (office.node(&test, &test.db), office.node(&test, &test.open_again().await));
        let mut stuck = JoinSet::new();
        stuck.spawn(async move { first.drain().await });
        wait_until(async || count(&test, office.tenant, "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND state = 'running'").await == 1).await;
        // The first one hangs between storing and the end for longer than its lease.
        test.clock.advance(Duration::from_secs(120));
        assert_eq!(second.drain().await.unwrap(), 1);
        hold.notify_one();
        stuck.join_next().await.unwrap().unwrap().unwrap();
        assert_eq!(office.lines(&test).await.len(), 1, "the one that hung has written nothing");
        let handled = "SELECT COUNT(*) FROM pack_deliveries WHERE tenant_id = $1 AND state = 'handled'";
        assert_eq!(count(&test, office.tenant, handled).await, 1);
    }

    async fn failures_end_among_the_dead_and_bodies_go_after_a_week(test: TestDb) {
        let office = Office::open(&test, Feed::default()).await;
        let node = office.node(&test, &test.db);
        for (id, body) in [("a", "first"), ("b", "never"), ("c", "nothing")] {
            deliver(&test, &test.db, office.tenant, Some(id), body).await;
        }
        for _ in 0..9 {
            node.drain().await.unwrap();
            test.clock.advance(Duration::from_secs(3700));
        }
        assert_eq!(office.ids(&test).await, ["a"]);
        assert_eq!(list_dead(&test).await, ["pack.delivery inbox.letters b: the letter can't be read"]);
        let handled = "SELECT COUNT(*) FROM pack_deliveries WHERE tenant_id = $1 AND state = 'handled'";
        assert_eq!(count(&test, office.tenant, handled).await, 2);
        for (days, bodies) in [(5, 3), (3, 1)] {
            test.clock.advance(Duration::from_secs(days * 86_400));
            let now = test.clock.now();
            test.db.platform(DELIVERIES).write(move |tx: &mut PlatformTx<'_>| delivery::sweep(tx, now)).await.unwrap();
            let left = "SELECT COUNT(*) FROM pack_deliveries WHERE tenant_id = $1 AND body IS NOT NULL";
            assert_eq!(count(&test, office.tenant, left).await, bodies);
        }
        assert_eq!(deliver(&test, &test.db, office.tenant, Some("a"), "first").await, DeliveryOutcome::Known);
    }

    async fn a_delivery_whose_job_died_is_tried_again_when_it_is_sent_again(test: TestDb) {
        let office = Office::open(&test, Feed::default()).await;
        let node = office.node(&test, &test.db);
        let waiting = "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND kind = 'pack.delivery' AND state <> 'dead'";
        let bodies = "SELECT COUNT(*) FROM pack_deliveries WHERE tenant_id = $1 AND body IS NOT NULL";
        for _ in 0..2 {
            deliver(&test, &test.db, office.tenant, Some("a"), "never").await;
            assert_eq!(count(&test, office.tenant, waiting).await, 1, "one job at a time");
        }
        for deaths in 1..=2 {
            for _ in 0..9 {
                node.drain().await.unwrap();
                test.clock.advance(Duration::from_secs(3700));
            }
            assert_eq!(list_dead(&test).await.len(), deaths);
            assert_eq!(count(&test, office.tenant, waiting).await, 0);
            // The body of the first is kept, so this fails as it did.
            let told = deliver(&test, &test.db, office.tenant, Some("a"), "better").await;
            assert_eq!((told, count(&test, office.tenant, waiting).await), (DeliveryOutcome::Known, 1));
        }
        for (days, left) in [(28, 1), (3, 0)] {
            test.clock.advance(Duration::from_secs(days * 86_400));
            let now = test.clock.now();
            test.db.platform(DELIVERIES).write(move |tx: &mut PlatformTx<'_>| delivery::sweep(tx, now)).await.unwrap();
            assert_eq!(count(&test, office.tenant, bodies).await, left);
        }
        node.drain().await.unwrap();
        let dead = list_dead(&test).await;
        assert!(dead.iter().any(|why| why.ends_with("inbox.letters a: its body was removed, unhandled for too long")), "{dead:?}");
        // Now it is what is sent that is handled.
        deliver(&test, &test.db, office.tenant, Some("a"), "better").await;
        node.drain().await.unwrap();
        assert_eq!(office.lines(&test).await, [("a".to_owned(), "better".to_owned())]);
        deliver(&test, &test.db, office.tenant, Some("a"), "better").await;
        assert_eq!(node.drain().await.unwrap(), 0, "what was handled is not handled again");
    }

    async fn a_poll_that_fails_half_way_goes_on_from_its_cursor(test: TestDb) {
        let office = Office::open(&test, Feed::default()).await;
        let nodes = [office.node(&test, &test.db), office.node(&test, &test.open_again().await)];
        nodes[0].drain().await.unwrap();
        deliver(&test, &test.db, office.tenant, Some("b"), "by the webhook").await;
        *office.feed.pages.lock().unwrap() = [
            Ok(page(&["a", "b"], "1", true)),
            Err("the line broke".to_owned()),
            // What is asked for overlaps, so that nothing is missed.
            Ok(page(&["b", "c"], "2", true)),
            Ok(page(&["d"], "3", false)),
        ].into();
        for _ in 0..3 {
            test.clock.advance(Duration::from_secs(601));
            let (one, two) = tokio::join!(nodes[0].drain(), nodes[1].drain());
            assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
        }
        let asked = office.feed.asked.lock().unwrap().clone();
        let asked: Vec<&str> = asked.iter().map(|at| at.as_deref().unwrap_or("-")).collect();
        assert_eq!(asked[..4], ["-", "1", "1", "2"], "{asked:?}");
        assert!(asked[4..].iter().all(|at| *at == "3"), "{asked:?}");
        assert_eq!(office.ids(&test).await, ["a", "b", "c", "d"]);
        let (_, text) = &office.lines(&test).await[1];
        assert_eq!(text, "by the webhook");
    }

    async fn an_item_that_is_too_large_is_noted_and_left_out(test: TestDb) {
        let office = Office::open(&test, Feed::default()).await;
        let node = office.node(&test, &test.db);
        node.drain().await.unwrap();
        let large = PolledItem { sender_id: "b".to_owned(), body: Foreign::new(vec![b'a'; LARGEST_DELIVERY + 1]) };
        for next in ["1", "2"] {
            let items = vec![item("a"), large.clone(), item("c")];
            office.feed.pages.lock().unwrap().push_back(Ok(PolledPage { items, ..page(&[], next, false) }));
            test.clock.advance(Duration::from_secs(601));
            node.drain().await.unwrap();
        }
        assert_eq!(office.ids(&test).await, ["a", "c"]);
        assert!(list_dead(&test).await.is_empty());
        let noted = move |tx: &mut Tx<'_>| {
            let sql = "SELECT id, headers FROM pack_deliveries WHERE tenant_id = $1 AND state = 'handled' AND body IS NULL";
            tx.all(sql, params![], |row| {
                let id: DeliveryId = row.get(0)?;
                row.get_sealed::<JsonText>(1, SealedColumn::new("pack_deliveries", "headers").cell(id))?.read()
            })
        };
        let noted: Vec<Vec<(String, String)>> = test.db.read(office.tenant, noted).await.unwrap();
        assert_eq!(noted, [[("munshi-too-large".to_owned(), "1048577".to_owned())]], "once");
        test.clock.advance(Duration::from_secs(601));
        node.drain().await.unwrap();
        assert_eq!(office.feed.asked.lock().unwrap().last().unwrap().as_deref(), Some("2"), "the cursor has moved");
    }

    async fn a_page_that_can_not_be_stored_is_refused_whole(test: TestDb) {
        let office = Office::open(&test, Feed::default()).await;
        let node = office.node(&test, &test.db);
        node.drain().await.unwrap();
        let nameless = PolledItem { sender_id: String::new(), body: Foreign::new(Vec::new()) };
        let bad = [
            PolledPage { items: vec![nameless], ..page(&[], "1", false) },
            PolledPage { has_more: true, next: None, ..page(&["a"], "1", true) },
            page(&["a"], "a\0b", false),
            PolledPage { items: vec![item("a"); 1001], ..page(&[], "1", false) },
        ];
        let all = bad.len();
        for page in bad {
            office.feed.pages.lock().unwrap().push_back(Ok(page));
            test.clock.advance(Duration::from_secs(601));
            node.drain().await.unwrap();
        }
        assert_eq!(list_dead(&test).await.len(), all);
        assert!(office.lines(&test).await.is_empty());
        assert!(office.feed.asked.lock().unwrap().iter().all(Option::is_none), "no cursor has moved");
    }
}
