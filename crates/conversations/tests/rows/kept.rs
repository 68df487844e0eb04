//! Older turns become a summary; old messages go to the archive, and nothing goes before it is safely there.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_conversations::messages::Message;
use munshi_conversations::retention::{
    self, ARCHIVE, ArchiveJob, KEPT, LONGEST, Retention, SUMMARISE, Summariser, SummaryInput, SummaryJob,
};
use munshi_conversations::{Error, outbox, sessions};
use munshi_jobs::{JOBS, JobRegistry, JobRunner, JobRunnerOptions, JobState, NewJob, dead_letters};
use munshi_store::PageRequest;
use munshi_types::tier::Channel;
use munshi_types::{ReplyAddress, SeededRandom, SessionId, TenantId, Zone};

use crate::rows::support::{Shop, held, tables};

const MEERA: &str = "+919812345678";
const RAJU: &str = "+919812345679";
const DAY: Duration = Duration::from_secs(86_400);

/// Says how much it was given, and remembers it.
#[derive(Default)]
struct Model(Mutex<Vec<SummaryInput>>);

#[async_trait::async_trait]
impl Summariser for Model {
    async fn summarise(&self, _tenant: TenantId, material: &SummaryInput) -> Option<String> {
        self.0.lock().unwrap().push(material.clone());
        Some(format!("{} messages. {}", material.messages.len(), "x".repeat(3000)))
    }
}

/// Merges somebody's thread into the session the first time it is asked, and then lists what it was given.
struct Merging {
    db: munshi_store::Db,
    tenant: TenantId,
    session: SessionId,
    ids: munshi_types::IdGenerator,
    other: Mutex<Option<munshi_types::PersonId>>,
}

#[async_trait::async_trait]
impl Summariser for Merging {
    async fn summarise(&self, _tenant: TenantId, material: &SummaryInput) -> Option<String> {
        let (other, session) = (self.other.lock().unwrap().take(), self.session);
        if let Some(from) = other {
            let ids = self.ids.clone();
            let unit = move |tx: &mut munshi_store::Tx<'_>| -> munshi_conversations::Result<()> {
                let into = sessions::find(tx, session)?.unwrap();
                munshi_identity::persons::merge(tx, from, into.person)?;
                munshi_conversations::linking::merge_threads(tx, &ids, (from, into.person), into.last_at)
            };
            self.db.write(self.tenant, unit).await.unwrap();
        }
        Some(material.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join(" / "))
    }
}

fn runner(shop: &Shop, install: impl FnOnce(&mut JobRegistry)) -> JobRunner {
    let mut registry = JobRegistry::default();
    install(&mut registry);
    let random = Arc::new(SeededRandom::new(7));
    JobRunner::new(shop.test.db.clone(), &shop.desk.queue, random, registry, JobRunnerOptions::default())
}

fn archivist(shop: &Shop, folder: &std::path::Path, retention: Retention) -> ArchiveJob {
    ArchiveJob {
        db: shop.test.db.clone(),
        clock: shop.test.clock.clone(),
        folder: folder.to_owned(),
        usual: retention,
    }
}

async fn turns(shop: &Shop, from: u32, count: u32) -> SessionId {
    let mut session = None;
    for number in from..from + count {
        let ingested = shop.say(MEERA, &format!("w{number}"), &format!("question number {number}?")).await;
        shop.answer(held(&ingested), &format!("this is answer {number}.")).await;
        session = Some(ingested.session);
    }
    session.unwrap()
}

async fn session(shop: &Shop, id: SessionId) -> sessions::Session {
    shop.read(move |tx| sessions::find(tx, id)).await.unwrap()
}

/// Every message in the files of the archive, and the names of the files.
async fn archived(shop: &Shop, folder: &std::path::Path) -> (Vec<Message>, Vec<String>) {
    let (mut lines, mut names) = (Vec::new(), Vec::new());
    for tenant in std::fs::read_dir(folder).unwrap() {
        let mut files: Vec<_> =
            std::fs::read_dir(tenant.unwrap().path()).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files {
            names.push(file.file_name().unwrap().to_string_lossy().into_owned());
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(
                !text.contains("question") && !text.contains("answer"),
                "what was said is sealed: {text}"
            );
            lines.extend(text.lines().map(str::to_owned));
        }
    }
    let open = move |tx: &mut munshi_store::Tx<'_>| {
        lines.iter().map(|line| retention::read_archived(tx, line)).collect::<munshi_store::Result<_>>()
    };
    (shop.read(open).await, names)
}

tables! {
    async fn older_turns_become_a_summary_without_a_model(test: TestDb) {
        let shop = Shop::open(test).await;
        let summarising = SummaryJob { db: shop.test.db.clone(), model: None };
        let runner = runner(&shop, |registry| summarising.install(registry));
        let id = turns(&shop, 1, 10).await;
        assert_eq!(runner.drain().await.unwrap(), 0, "twenty are not too many");
        turns(&shop, 11, 1).await;
        assert_eq!(runner.drain().await.unwrap(), 1);
        let first = session(&shop, id).await;
        assert_eq!((first.messages, first.summarised), (22, 22 - KEPT));
        let summary = first.summary.unwrap();
        assert!(summary.starts_with("Asked: question number 1?\nAnswered: this is answer 1.\n"), "{summary}");
        assert!(summary.ends_with("Answered: this is answer 6."), "{summary}");
        turns(&shop, 12, 120).await;
        runner.drain().await.unwrap();
        let later = session(&shop, id).await;
        assert!(later.messages - later.summarised <= 20, "{} of {}", later.summarised, later.messages);
        let summary = later.summary.unwrap();
        assert!(summary.chars().count() <= LONGEST && summary.starts_with('…'), "{summary}");
    }

    async fn a_model_writes_the_summary_from_what_is_new(test: TestDb) {
        let shop = Shop::open(test).await;
        let model = Arc::new(Model::default());
        let summarising =
            SummaryJob { db: shop.test.db.clone(), model: Some(model.clone()) };
        let runner = runner(&shop, |registry| summarising.install(registry));
        let id = turns(&shop, 1, 11).await;
        runner.drain().await.unwrap();
        let first = session(&shop, id).await.summary.unwrap();
        assert!(first.starts_with("12 messages.") && first.chars().count() == LONGEST, "bounded");
        turns(&shop, 12, 6).await;
        runner.drain().await.unwrap();
        let asked = model.0.lock().unwrap().clone();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[1].before.as_deref(), Some(first.as_str()));
        assert_eq!(asked[1].messages.first().unwrap().number, 13, "only what is new");
    }

    async fn a_merge_under_a_summary_is_noticed(test: TestDb) {
        let shop = Shop::open(test).await;
        let id = turns(&shop, 1, 11).await;
        let db = shop.test.db.clone();
        // Another thread comes in between while the model writes: its messages are older than all of these.
        let mut earlier = shop.incoming("+919812345679", "other", "said long ago");
        earlier.now = shop.now().minus(DAY);
        let other = shop.receive(earlier).await.unwrap();
        let merging = Arc::new(Merging { db: db.clone(), tenant: shop.tenant, session: id, ids: shop.test.ids.clone(), other: Mutex::new(Some(other.person)) });
        let summarising = SummaryJob { db, model: Some(merging) };
        runner(&shop, |registry| summarising.install(registry)).drain().await.unwrap();
        let after = session(&shop, id).await;
        assert_eq!((after.messages, after.summarised), (23, 13));
        let summary = after.summary.unwrap();
        assert!(summary.contains("said long ago"), "{summary}");
    }

    async fn old_messages_go_to_files_and_then_from_the_table(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        let id = turns(&shop, 1, 3).await;
        let old = shop.messages(id).await;
        let to = ReplyAddress::new(Channel::Whatsapp, MEERA.to_owned());
        let unsent = shop.say_from(MEERA, "unsent", &to).await;
        shop.answer(held(&unsent), "not sent yet").await;
        let open = shop.say(MEERA, "open", "still under way").await;
        shop.test.clock.advance(DAY * 91);
        turns_behind(&shop, open.run).await;
        let archivist = archivist(&shop, folder.path(), Retention::DEFAULT);
        assert_eq!(archivist.archive_batch(shop.tenant).await.unwrap(), 7, "three turns, and what the unsent one answers");
        assert_eq!(archivist.archive_batch(shop.tenant).await.unwrap(), 0);
        let (kept, names) = archived(&shop, folder.path()).await;
        assert_eq!(kept[..6], old[..], "as they were");
        assert!(names.len() == 1 && names[0].ends_with(".jsonl"), "{names:?}");
        let left: Vec<String> = shop.messages(id).await.into_iter().map(|one| one.text).collect();
        assert_eq!(left, ["not sent yet", "still under way", "fresh"]);
        assert_eq!(session(&shop, id).await.messages, 10, "numbers are never used again");
        assert_eq!(shop.say(MEERA, "w1", "again").await.run, old[0].run, "and what was taken stays taken");
    }

    async fn with_old_messages_go_the_steps_of_their_runs_and_what_a_resting_session_knew(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        let resting = turns(&shop, 1, 2).await;
        let know = |id: SessionId| move |tx: &mut munshi_store::Tx<'_>| {
            tx.execute(
                "UPDATE sessions SET summary = 'owes 500', entities = '{\"known\":[]}', masked = '{\"a\":1}'
                 WHERE tenant_id = $1 AND id = $2",
                munshi_store::params![id],
            ).map(drop)
        };
        let step = |run: munshi_types::RunId, at| move |tx: &mut munshi_store::Tx<'_>| {
            tx.execute(
                "INSERT INTO run_steps (tenant_id, run_id, number, epoch, state, body, micros, at)
                 VALUES ($1, $2, 1, 1, 'acting', '{}', 0, $3)",
                munshi_store::params![run, at],
            ).map(drop)
        };
        shop.write(know(resting)).await;
        shop.write(step(shop.messages(resting).await[0].run, shop.now())).await;
        shop.test.clock.advance(DAY * 91);
        let fresh = shop.say(RAJU, "fresh", "hello").await;
        shop.answer(held(&fresh), "hello!").await;
        shop.write(know(fresh.session)).await;
        shop.write(step(fresh.run, shop.now())).await;
        assert_eq!(shop.count("run_steps").await, 2);
        let archivist = archivist(&shop, folder.path(), Retention::DEFAULT);
        let runner = runner(&shop, |registry| archivist.install(registry));
        let now = shop.now();
        shop.test.db.write(shop.tenant, move |tx| retention::schedule(tx, &Zone::default(), now)).await.unwrap();
        shop.test.clock.advance(DAY);
        runner.drain().await.unwrap();
        assert_eq!(shop.count("run_steps").await, 1, "that of the fresh one stays");
        let (old, young) = (session(&shop, resting).await, session(&shop, fresh.session).await);
        assert_eq!((old.summary, old.entities, old.masked), (None, serde_json::json!({}), None));
        assert_eq!((young.summary.as_deref(), young.masked.is_some()), (Some("owes 500"), true));
    }

    async fn what_a_tenant_keeps_no_longer_is_deleted_from_the_archive_too(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        turns(&shop, 1, 3).await;
        let archivist = archivist(&shop, folder.path(), Retention::Kept);
        let runner = runner(&shop, |registry| archivist.install(registry));
        let now = shop.now();
        shop.test.db.write(shop.tenant, move |tx| retention::schedule(tx, &Zone::default(), now)).await.unwrap();
        let keep = |text: &'static str| move |tx: &mut munshi_store::Tx<'_>| {
            let policy = munshi_safety::policy::parse(text).unwrap();
            munshi_safety::policy::apply(tx, &policy, "a test", "", now).map(drop)
        };
        // The tenant's own word counts for the archive, and later for the end.
        let set = keep("[retention]\narchive_after_days = 10\nmessages_days = 100\n");
        shop.test.db.write(shop.tenant, set).await.unwrap();
        shop.test.clock.advance(DAY * 50);
        let young = shop.say(RAJU, "young", "fifty days later").await;
        shop.answer(held(&young), "indeed").await;
        runner.drain().await.unwrap();
        // Never at once so far that the clock is not believed.
        let pass = async |days: u32| {
            for _ in 0..days / 10 {
                shop.test.clock.advance(DAY * 10);
                runner.drain().await.unwrap();
            }
        };
        assert_eq!((shop.count("messages").await, archived(&shop, folder.path()).await.0.len()), (2, 6));
        pass(20).await;
        assert_eq!((shop.count("messages").await, archived(&shop, folder.path()).await.0.len()), (0, 8));
        pass(40).await;
        let left: Vec<String> = archived(&shop, folder.path()).await.0.into_iter().map(|one| one.text).collect();
        assert_eq!(left, ["fifty days later", "indeed"]);
        pass(60).await;
        assert_eq!(archived(&shop, folder.path()).await, (Vec::new(), Vec::new()));
    }

    async fn a_clock_that_is_suddenly_ahead_deletes_nothing_for_days(test: TestDb) {
        let shop = Shop::open(test).await;
        turns(&shop, 1, 2).await;
        let start = shop.now();
        let periods = munshi_safety::policy::parse("[retention]\nmessages_days = 100\n").unwrap().retention;
        let night = async |days: u32| {
            shop.test.clock.set(start.plus(DAY * days));
            let ended = retention::check_clock(&shop.test.db, shop.tenant, periods, shop.now()).await.unwrap();
            retention::expire(&shop.test.db, shop.tenant, &ended, shop.now()).await.unwrap();
            shop.count("messages").await
        };
        assert_eq!((night(1).await, night(400).await, night(401).await), (4, 4, 4));
        assert_eq!(night(2).await, 4, "it was set right");
        for day in (10..100).step_by(10) {
            assert_eq!(night(day).await, 4);
        }
        assert_eq!(night(101).await, 0);
        turns(&shop, 3, 1).await;
        // A server that was off for long.
        assert_eq!((night(500).await, night(502).await, night(504).await), (2, 2, 0));
    }

    async fn the_first_night_is_compared_with_what_was_done_last(test: TestDb) {
        let shop = Shop::open(test).await;
        turns(&shop, 1, 1).await;
        let periods = munshi_safety::policy::parse("[retention]\nacts_days = 100\n").unwrap().retention;
        shop.test.clock.advance(DAY * 300);
        let ended = retention::check_clock(&shop.test.db, shop.tenant, periods, shop.now()).await.unwrap();
        assert_eq!(ended.acts_days, None);
        shop.test.clock.advance(DAY * 4);
        let ended = retention::check_clock(&shop.test.db, shop.tenant, periods, shop.now()).await.unwrap();
        assert_eq!(ended.acts_days, Some(100));
    }

    async fn a_damaged_line_of_the_archive_stays_and_keeps_no_other(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        turns(&shop, 1, 2).await;
        shop.test.clock.advance(DAY * 50);
        let young = shop.say(RAJU, "young", "fifty days later").await;
        shop.answer(held(&young), "indeed").await;
        shop.test.clock.advance(DAY * 20);
        let ten_days = Retention::Hot(DAY * 10);
        archivist(&shop, folder.path(), ten_days).archive_batch(shop.tenant).await.unwrap();
        let of_tenant = folder.path().join(shop.tenant.to_string());
        let mut files = std::fs::read_dir(&of_tenant).unwrap();
        let path = files.next().unwrap().unwrap().path();
        let mut bytes = b"{\"id\": half of a line\n\xff\xfe\n".to_vec();
        bytes.extend(std::fs::read(&path).unwrap());
        std::fs::write(&path, bytes).unwrap();
        // And a folder where a file should be.
        std::fs::create_dir(of_tenant.join("2020-01-01-none.jsonl")).unwrap();
        assert_eq!(retention::seal_files_of_before(&shop.test.db, folder.path(), shop.tenant).await.unwrap(), 0);
        assert!(!of_tenant.join(".sealed").exists(), "they are looked at again");

        let expired = retention::expire_files(folder.path(), shop.tenant, Some(40), shop.now()).await.unwrap();
        assert_eq!(expired, 4);
        let left = std::fs::read(&path).unwrap();
        assert!(left.starts_with(b"{\"id\": half of a line\n\xff\xfe\n"), "{left:?}");
        assert_eq!(left.iter().filter(|byte| **byte == b'\n').count(), 4);
    }

    async fn messages_that_are_kept_no_longer_go_with_what_runs_and_conversations_knew(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        let id = turns(&shop, 1, 2).await;
        let (run, at) = (shop.messages(id).await[0].run, shop.now());
        let know = move |tx: &mut munshi_store::Tx<'_>| {
            tx.execute("UPDATE sessions SET summary = 'owes 500' WHERE tenant_id = $1", munshi_store::params![])?;
            tx.execute(
                "INSERT INTO run_steps (tenant_id, run_id, number, epoch, state, body, micros, at)
                 VALUES ($1, $2, 1, 1, 'acting', '{}', 0, $3)",
                munshi_store::params![run, at],
            ).map(drop)
        };
        shop.write(know).await;
        let periods = munshi_safety::policy::parse("[retention]\nmessages_days = 30\n").unwrap().retention;
        let expire = |now| retention::expire(&shop.test.db, shop.tenant, &periods, now);
        shop.test.clock.advance(DAY * 29);
        assert_eq!(expire(shop.now()).await.unwrap(), retention::ExpiryReport::default());
        shop.test.clock.advance(DAY * 2);
        let open = shop.say(MEERA, "open", "still under way").await;
        assert_eq!(expire(shop.now()).await.unwrap().messages, 4);
        assert_eq!(expire(shop.now()).await.unwrap(), retention::ExpiryReport::default());
        assert_eq!((shop.count("messages").await, shop.count("run_steps").await), (1, 0));
        assert_eq!(session(&shop, id).await.summary.as_deref(), Some("owes 500"), "somebody wrote in it since");
        shop.answer(held(&open), "done").await;
        shop.test.clock.advance(DAY * 31);
        assert_eq!(expire(shop.now()).await.unwrap().messages, 2);
        assert_eq!(session(&shop, id).await.summary, None);
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing was archived on the way");
    }

    async fn an_owner_may_keep_everything(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        turns(&shop, 1, 2).await;
        shop.test.clock.advance(DAY * 900);
        let archivist = archivist(&shop, folder.path(), Retention::Kept);
        assert_eq!(archivist.archive_batch(shop.tenant).await.unwrap(), 0);
        assert_eq!(shop.count("messages").await, 4);
    }

    async fn nothing_goes_while_the_archive_cannot_be_written(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        turns(&shop, 1, 2).await;
        shop.test.clock.advance(DAY * 91);
        let in_the_way = folder.path().join("file");
        std::fs::write(&in_the_way, "").unwrap();
        let outcome = archivist(&shop, &in_the_way, Retention::DEFAULT).archive_batch(shop.tenant).await;
        assert!(matches!(outcome, Err(Error::Archive(_))), "{outcome:?}");
        assert_eq!(shop.count("messages").await, 4);
    }

    async fn a_crash_between_file_and_table_is_made_good(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        let id = turns(&shop, 1, 3).await;
        let before = shop.messages(id).await;
        shop.test.clock.advance(DAY * 91);
        let archivist = archivist(&shop, folder.path(), Retention::DEFAULT);
        archivist.archive_batch(shop.tenant).await.unwrap();
        let (_, names) = archived(&shop, folder.path()).await;
        // As a process leaves it that dies after the file was written: whole or in part, with the rows still there.
        let rows = before.clone();
        shop.write(move |tx| rows.iter().try_for_each(|row| put_back(tx, row))).await;
        let tenant = folder.path().join(shop.tenant.to_string());
        std::fs::write(tenant.join("half.jsonl.part"), "{\"id\":").unwrap();
        assert_eq!(archivist.archive_batch(shop.tenant).await.unwrap(), 6);
        std::fs::remove_file(tenant.join("half.jsonl.part")).unwrap();
        let (kept, again) = archived(&shop, folder.path()).await;
        assert_eq!((kept, again), (before, names), "the same file, each message once");
        assert_eq!(shop.count("messages").await, 0);
    }

    async fn it_is_done_every_night(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        let archivist = archivist(&shop, folder.path(), Retention::DEFAULT);
        let runner = runner(&shop, |registry| archivist.install(registry));
        let now = shop.now();
        shop.test.db.write(shop.tenant, move |tx| retention::schedule(tx, &Zone::default(), now)).await.unwrap();
        turns(&shop, 1, 2).await;
        runner.drain().await.unwrap();
        assert_eq!(shop.count("messages").await, 4);
        shop.test.clock.advance(DAY * 91);
        runner.drain().await.unwrap();
        assert_eq!(shop.count("messages").await, 0);
        let request = PageRequest::new(None, 10);
        let done = shop.test.db.platform(JOBS).read(move |tx| dead_letters::list(tx, JobState::Done, None, &request)).await.unwrap();
        assert!(done.items.iter().any(|job| job.kind == ARCHIVE));
        assert!(NewJob::new(SUMMARISE, &()).is_ok());
        let unsent = shop.read(|tx| outbox::list_unsent(tx, &PageRequest::new(None, 10))).await;
        assert_eq!(unsent.items, []);
    }
}

/// A message of today behind a run that is still under way.
async fn turns_behind(shop: &Shop, run: munshi_types::RunId) {
    let fresh = shop.say(MEERA, "fresh", "fresh").await;
    assert_eq!(fresh.status, munshi_conversations::ingest::IngestStatus::Queued { behind: Some(run) });
}

fn put_back(tx: &mut munshi_store::Tx<'_>, message: &Message) -> munshi_store::Result<()> {
    let sql = "INSERT INTO messages (tenant_id, id, session_id, number, run_id, binding_id, speaker, channel, outside_id,
                 text, attached, tokens, standing, generation, marks, suggestions, said_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'whole', $13, $14, $15, $16)";
    tx.execute(
        sql,
        munshi_store::params![
            message.id,
            message.session,
            message.number,
            message.run,
            message.binding,
            message.speaker.as_str(),
            message.channel.as_str(),
            message.outside_id,
            message.text,
            munshi_store::JsonText::of(&message.attached)?,
            message.tokens,
            message.generation,
            munshi_store::JsonText::of(&message.marks)?,
            munshi_store::JsonText::of(&message.suggestions)?,
            message.said_at
        ],
    )?;
    Ok(())
}
