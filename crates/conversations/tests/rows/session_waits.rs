//! Since when somebody waits for an answer, for whom, and what is proposed to whoever should give it.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::holds::TakeOutcome;
use munshi_conversations::linking::merge_threads;
use munshi_conversations::session_waits::{
    self, DRAFT_KIND, HeldConversation, HeldDraft, HeldWork, SessionAttention,
};
use munshi_conversations::{presence, sessions, unanswered_holds};
use munshi_identity::persons;
use munshi_jobs::{JobFailure, JobKind, JobRegistry, JobRunner, JobRunnerOptions};
use munshi_store::Tx;
use munshi_types::{PersonId, SeededRandom, SessionId, Timestamp};

use crate::rows::held_by_colleague::{
    MEERA, add_colleague, answered, ask_for_human, give_back, queue, take, write_as,
};
use crate::rows::support::{Shop, held, tables};

async fn attention(shop: &Shop, reader: Option<PersonId>, session: SessionId) -> SessionAttention {
    let found = shop.read(move |tx| session_waits::load_attention(tx, reader, &[session])).await;
    found.get(&session).copied().unwrap()
}

async fn waiting_since(shop: &Shop, session: SessionId) -> Option<Timestamp> {
    attention(shop, None, session).await.waiting_since
}

fn held_as(session: SessionId, taken: TakeOutcome) -> HeldConversation {
    let TakeOutcome::Taken(hold) = taken else { panic!("{taken:?}") };
    HeldConversation { session, hold: hold.id }
}

async fn jobs(shop: &Shop, kind: &'static str) -> i64 {
    let sql = match kind {
        "draft" => {
            "SELECT count(*) FROM jobs WHERE tenant_id = $1 AND kind = 'holds.draft' AND state <> 'done'"
        }
        _ => {
            "SELECT count(*) FROM jobs WHERE tenant_id = $1 AND kind = 'holds.unanswered' AND state <> 'done'"
        }
    };
    shop.read(move |tx| tx.one(sql, &[], |row| row.get(0))).await
}

async fn keep(shop: &Shop, held: HeldConversation, text: &'static str, said: i64) -> bool {
    let now = shop.now();
    let keep = move |tx: &mut Tx<'_>| {
        let session = sessions::find(tx, held.session)?.unwrap();
        let draft = HeldDraft { text: text.to_owned(), after: said };
        session_waits::keep_draft(tx, (&session, held), &draft, (said, now))
    };
    shop.write(keep).await
}

async fn draft(shop: &Shop, session: SessionId) -> Option<String> {
    shop.read(move |tx| session_waits::find_draft(tx, session)).await.map(|draft| draft.text)
}

/// Looks as the agent's job does, lets somebody write where `writes` says so, and ends with nothing done.
fn run_idle_job(shop: &Arc<Shop>, work: HeldWork, writes: Option<&'static str>) -> JobRunner {
    let (mut registry, shop_of_job) = (JobRegistry::default(), shop.clone());
    let kind = match work {
        HeldWork::Draft => DRAFT_KIND,
        HeldWork::Look => unanswered_holds::KIND,
    };
    registry.add(JobKind::new(kind), move |job| {
        let shop = shop_of_job.clone();
        async move {
            let held = job.read::<HeldConversation>()?;
            let wait = shop.read(move |tx| session_waits::find(tx, held)).await;
            if let Some(outside_id) = writes {
                shop.say(MEERA, outside_id, "still there?").await;
            }
            let (queue, now, lease) = (queue(&shop), shop.now(), job.lease);
            let work = (work, wait.map(|wait| wait.messages));
            let end = move |tx: &mut Tx<'_>| session_waits::end_job(tx, &queue, (lease, held), work, now);
            Ok::<_, JobFailure>(shop.test.db.write(shop.tenant, end).await?)
        }
    });
    let (random, queue) = (Arc::new(SeededRandom::new(7)), queue(shop));
    JobRunner::new(shop.test.db.clone(), &queue, random, registry, JobRunnerOptions::default())
}

fn later(shop: &Shop) {
    shop.test.clock.advance(Duration::from_secs(60));
}

tables! {
    async fn whoever_writes_waits_until_our_side_says_something(test: TestDb) {
        let shop = Shop::open(test).await;
        let (first, began) = (shop.say(MEERA, "w1", "hello").await, shop.now());
        assert_eq!(waiting_since(&shop, first.session).await, Some(began));
        later(&shop);
        shop.say(MEERA, "w2", "anybody?").await;
        assert_eq!(waiting_since(&shop, first.session).await, Some(began), "since the first");
        shop.answer(held(&first), "namaste").await;
        assert_eq!(waiting_since(&shop, first.session).await, None);
    }

    async fn what_the_agent_still_finishes_is_no_colleagues_answer(test: TestDb) {
        let shop = Shop::open(test).await;
        let (first, kamal) = (shop.say(MEERA, "w1", "hello").await, add_colleague(&shop, "Kamal").await);
        take(&shop, first.session, kamal).await;
        assert_eq!(jobs(&shop, "look").await, 0, "the agent is about to answer");
        later(&shop);
        let asked = shop.now();
        shop.say(MEERA, "w2", "and you?").await;
        assert_eq!((jobs(&shop, "look").await, jobs(&shop, "draft").await), (1, 1));
        shop.answer(held(&first), "namaste").await;
        assert_eq!(waiting_since(&shop, first.session).await, Some(asked));
        later(&shop);
        shop.say(MEERA, "w3", "hello?").await;
        assert_eq!(waiting_since(&shop, first.session).await, Some(asked));
        assert_eq!((jobs(&shop, "look").await, jobs(&shop, "draft").await), (1, 1), "one look and one draft for all");
        write_as(&shop, first.session, kamal, "this is Kamal").await.unwrap();
        assert_eq!(waiting_since(&shop, first.session).await, None);
    }

    async fn who_waits_in_the_line_waits_for_the_one_who_comes(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        assert_eq!(waiting_since(&shop, said.session).await, None);
        let asked = shop.now();
        ask_for_human(&shop, said.session).await;
        assert_eq!(waiting_since(&shop, said.session).await, Some(asked), "for somebody to come");
        later(&shop);
        let taken = take(&shop, said.session, kamal).await;
        assert_eq!((waiting_since(&shop, said.session).await, jobs(&shop, "look").await), (Some(asked), 1));
        assert!(give_back(&shop, said.session, taken).await);
        assert_eq!(waiting_since(&shop, said.session).await, Some(asked), "nobody has said anything");
        // Whoever takes them over now has them waiting.
        let held = held_as(said.session, take(&shop, said.session, kamal).await);
        let wait = shop.read(move |tx| session_waits::find(tx, held)).await.unwrap();
        assert_eq!((wait.colleague, wait.since), (kamal, asked));
    }

    async fn what_somebody_has_not_read_is_counted_for_them_alone(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = answered(&shop).await;
        let (kamal, asha) = (add_colleague(&shop, "Kamal").await, add_colleague(&shop, "Asha").await);
        let second = shop.say(MEERA, "w2", "are you there?").await;
        for reader in [kamal, asha] {
            assert_eq!(attention(&shop, Some(reader), said.session).await.unread, Some(2));
        }
        let (session, upto, now) = (said.session, (kamal, second.message), shop.now());
        shop.write(move |tx| presence::record_read(tx, session, upto, now)).await;
        shop.say(MEERA, "w3", "hello?").await;
        assert_eq!(attention(&shop, Some(kamal), session).await.unread, Some(1));
        assert_eq!(attention(&shop, Some(asha), session).await.unread, Some(3));
        assert_eq!(attention(&shop, None, session).await.unread, None);
    }

    async fn a_draft_is_for_the_newest_message_and_for_whoever_has_the_conversation(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        let taken = take(&shop, said.session, kamal).await;
        let held = held_as(said.session, taken);
        assert!(!keep(&shop, held, "nobody waits", 2).await);
        shop.say(MEERA, "w2", "when do you open?").await;
        assert!(keep(&shop, held, "at nine", 3).await);
        assert_eq!(draft(&shop, said.session).await.as_deref(), Some("at nine"));
        shop.say(MEERA, "w3", "and on sundays?").await;
        assert_eq!(draft(&shop, said.session).await, None, "it answers less than was asked");
        assert!(!keep(&shop, held, "at nine", 3).await, "so does what was begun before");
        assert!(keep(&shop, held, "at ten", 4).await);
        write_as(&shop, said.session, kamal, "at ten").await.unwrap();
        assert_eq!(draft(&shop, said.session).await, None);
        shop.say(MEERA, "w4", "thanks").await;
        assert!(keep(&shop, held, "gladly", 6).await);
        assert!(give_back(&shop, said.session, taken).await);
        assert_eq!(draft(&shop, said.session).await, None);
        assert!(!keep(&shop, held, "gladly", 6).await, "that hand is empty");
    }

    async fn two_threads_that_become_one_wait_as_long_as_the_longer(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        let other = shop.say("+919812345679", "o1", "hello").await;
        shop.answer(held(&other), "namaste").await;
        let held = held_as(other.session, take(&shop, other.session, kamal).await);
        let asked = shop.now();
        shop.say("+919812345679", "o2", "anybody?").await;
        assert!(keep(&shop, held, "yes", 3).await);
        later(&shop);
        shop.say(MEERA, "w2", "me too").await;
        let (ids, now, from, into) = (shop.test.ids.clone(), shop.now(), other.person, said.person);
        let merge = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<()> {
            persons::merge(tx, from, into)?;
            merge_threads(tx, &ids, (from, into), now)
        };
        shop.test.db.write(shop.tenant, merge).await.unwrap();
        assert_eq!(waiting_since(&shop, said.session).await, Some(asked));
        assert_eq!(draft(&shop, said.session).await, None);
        let held = HeldConversation { session: said.session, ..held };
        let wait = shop.read(move |tx| session_waits::find(tx, held)).await.unwrap();
        assert_eq!(wait.colleague, kamal, "they wait for whoever has it");
    }

    async fn what_comes_while_a_job_finds_nothing_to_do_has_another(test: TestDb) {
        let shop = Arc::new(Shop::open(test).await);
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        take(&shop, said.session, kamal).await;
        for (work, name, first, between) in
            [(HeldWork::Look, "look", "w2", "w3"), (HeldWork::Draft, "draft", "w4", "w5")]
        {
            shop.say(MEERA, first, "anybody?").await;
            write_as(&shop, said.session, kamal, "here I am").await.unwrap();
            assert_eq!(jobs(&shop, name).await, 1);
            later(&shop);
            run_idle_job(&shop, work, Some(between)).drain().await.unwrap();
            assert_eq!(jobs(&shop, name).await, 1, "they are not left waiting for ever");
            write_as(&shop, said.session, kamal, "as I said").await.unwrap();
            later(&shop);
            run_idle_job(&shop, work, None).drain().await.unwrap();
            assert_eq!(jobs(&shop, name).await, 0, "nobody waits");
        }
    }

    async fn another_queue_enqueues_nothing_twice(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        let held = held_as(said.session, take(&shop, said.session, kamal).await);
        shop.say(MEERA, "w2", "anybody?").await;
        let (queue, now) = (queue(&shop), shop.now());
        let again = move |tx: &mut Tx<'_>| session_waits::enqueue_draft(tx, &queue, held, now);
        shop.test.db.write(shop.tenant, again).await.unwrap();
        assert_eq!(jobs(&shop, "draft").await, 1);
    }
}
