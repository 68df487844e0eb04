//! Messages are found by their words though they are sealed: at once, behind the index and by it, and no longer once they are
//! gone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use munshi_conversations::messages;
use munshi_conversations::retention::{ArchiveJob, Retention, expire};
use munshi_conversations::search::{
    FillScope, FillTask, MessageHits, MessageSearch, SearchFiller, SearchLimits, SearchQuery, search_messages,
};
use munshi_safety::policy::RetentionPeriods;
use munshi_store::{Cursor, Tx, params};
use munshi_types::{Id, MessageId, PersonId, Random, SeededRandom, SessionId, Timestamp};

use crate::rows::support::{Shop, held, tables};

const MEERA: &str = "+919812345678";
const RAJU: &str = "+919812345679";
const DAY: Duration = Duration::from_secs(86_400);
const WORDS: [&str; 12] =
    ["ramesh", "रमेश", "paise", "पैसे", "kal", "udhar", "1,500", "१५००", "அரிசி", "atta", "bill", "పాలు"];

fn make_text(random: &SeededRandom) -> String {
    let words = (0..=random.next_below(5)).map(|_| WORDS[usize::try_from(random.next_below(12)).unwrap()]);
    words.collect::<Vec<_>>().join(" ")
}

/// Some turns, of both, a second after the other.
async fn talk(shop: &Shop, random: &SeededRandom, turns: usize, from: usize) -> SessionId {
    let mut session = None;
    for number in from..from + turns {
        shop.test.clock.advance(Duration::from_secs(random.next_below(3)));
        let phone = if random.next_below(3) == 0 { RAJU } else { MEERA };
        let said = shop.say(phone, &format!("w{number}"), &make_text(random)).await;
        shop.answer(held(&said), &make_text(random)).await;
        session = Some(said.session);
    }
    session.unwrap()
}

fn filler(shop: &Shop) -> SearchFiller {
    SearchFiller { db: shop.test.db.clone(), clock: shop.test.clock.clone() }
}

async fn fill(shop: &Shop, scope: FillScope) -> usize {
    filler(shop).fill(shop.tenant, scope, || false).await.unwrap()
}

fn wanted(query: &str, limit: usize) -> MessageSearch {
    MessageSearch::new(SearchQuery::parse(query).unwrap(), limit, Timestamp::MAX)
}

async fn search(shop: &Shop, wanted: MessageSearch) -> MessageHits {
    shop.read(move |tx| search_messages(tx, &wanted)).await
}

/// All pages of it.
async fn search_all(shop: &Shop, mut wanted: MessageSearch) -> Vec<MessageId> {
    let mut found = Vec::new();
    loop {
        let page = search(shop, wanted.clone()).await;
        assert!(page.hits.len() <= wanted.limit);
        found.extend(page.hits.iter().map(|hit| hit.message));
        match page.next {
            Some(next) => wanted.before = next,
            None => return found,
        }
    }
}

/// The same by reading every message.
async fn scan(shop: &Shop, wanted: MessageSearch) -> Vec<MessageId> {
    let read = move |tx: &mut Tx<'_>| {
        let ids: Vec<(MessageId, PersonId)> = tx.all(
            "SELECT m.id, s.person_id FROM messages m JOIN sessions s ON s.tenant_id = $1 AND s.id = m.session_id
             WHERE m.tenant_id = $1 ORDER BY m.said_at DESC, m.id DESC",
            &[],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let mut found = Vec::new();
        for (id, person) in ids {
            let message = messages::find(tx, id)?.unwrap();
            let position = Cursor { time: message.said_at, id: id.as_uuid() };
            let is_theirs = wanted.persons.as_ref().is_none_or(|persons| persons.contains(&person));
            let is_in_time = message.said_at >= wanted.since && position < wanted.before;
            if is_theirs && is_in_time && wanted.query.find_in(&message.text).is_some() {
                found.push(id);
            }
        }
        Ok(found)
    };
    shop.read(read).await
}

async fn person_of(shop: &Shop, session: SessionId) -> PersonId {
    shop.read(move |tx| munshi_conversations::sessions::find(tx, session)).await.unwrap().person
}

/// Of texts in the index, and of rows that lead to them.
async fn count_indexed(shop: &Shop) -> (i64, i64) {
    let count = |tx: &mut Tx<'_>| {
        Ok((
            tx.one("SELECT COUNT(*) FROM search_documents WHERE tenant_id = $1", &[], |row| row.get(0))?,
            tx.one("SELECT COUNT(*) FROM search_postings WHERE tenant_id = $1", &[], |row| row.get(0))?,
        ))
    };
    shop.read(count).await
}

async fn compare_all(shop: &Shop, random: &SeededRandom) {
    for round in 0..12 {
        let query = match round % 3 {
            0 => make_text(random),
            1 => WORDS[usize::try_from(random.next_below(12)).unwrap()].to_owned(),
            _ => format!("\"{}\"", make_text(random)),
        };
        let limit = 1 + usize::try_from(random.next_below(9)).unwrap();
        let found = search_all(shop, wanted(&query, limit)).await;
        assert_eq!(found, scan(shop, wanted(&query, limit)).await, "{query}");
    }
}

tables! {
    async fn what_is_found_is_what_a_look_through_all_messages_finds(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(41);
        talk(&shop, &random, 12, 0).await;
        compare_all(&shop, &random).await;
        assert_eq!(fill(&shop, FillScope::New).await, 24);
        compare_all(&shop, &random).await;
        // Some stand in the index and some behind it, also some that are as old as those in it.
        talk(&shop, &random, 8, 100).await;
        compare_all(&shop, &random).await;
        assert_eq!(fill(&shop, FillScope::New).await, 16);
        assert_eq!(fill(&shop, FillScope::Everything).await, 0);
        compare_all(&shop, &random).await;
    }

    async fn it_says_where_and_keeps_to_whom_and_when(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = shop.say(MEERA, "w1", "Ramesh ko 1,500 rupaye dene hain").await;
        shop.answer(held(&said), "theek hai").await;
        shop.test.clock.advance(Duration::from_secs(60));
        let noon = shop.now();
        let other = shop.say(RAJU, "w2", "रमेश ने १५०० मांगे").await;
        for is_filled in [false, true] {
            if is_filled {
                fill(&shop, FillScope::New).await;
            }
            let found = search(&shop, wanted("ramesh 1500", 10)).await;
            assert_eq!(found.next, None);
            let [newer, older] = &found.hits[..] else { panic!("{found:?}") };
            assert_eq!((newer.message, older.message), (other.message, said.message));
            assert_eq!(older.excerpt, "Ramesh ko 1,500 rupaye dene hain");
            assert_eq!((older.session, older.number, older.speaker.as_str()), (said.session, 1, "person"));
            let meera = person_of(&shop, said.session).await;
            let hers = MessageSearch { persons: Some(vec![meera]), ..wanted("ramesh", 10) };
            assert_eq!(search_all(&shop, hers).await, [said.message]);
            let elsewhere = MessageSearch { bindings: Some(vec![shop.test.ids.next()]), ..wanted("ramesh", 10) };
            assert_eq!(search_all(&shop, elsewhere).await, []);
            let here = MessageSearch { bindings: Some(vec![shop.binding]), ..wanted("\"१५०० मांगे\"", 10) };
            assert_eq!(search_all(&shop, here).await, [other.message]);
            let since = MessageSearch { since: noon, ..wanted("ramesh", 10) };
            assert_eq!(search_all(&shop, since).await, [other.message]);
            let until = MessageSearch { before: Cursor { time: noon, id: uuid::Uuid::nil() }, ..wanted("ramesh", 10) };
            assert_eq!(search_all(&shop, until).await, [said.message]);
            let page = search(&shop, wanted("ramesh", 1)).await;
            assert_eq!(page.next, Some(Cursor { time: noon, id: other.message.as_uuid() }));
            assert_eq!(search(&shop, MessageSearch { before: page.next.unwrap(), ..wanted("ramesh", 1) }).await.next, None);
        }
    }

    async fn a_page_ends_where_enough_was_looked_at_and_the_next_goes_on(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(45);
        talk(&shop, &random, 30, 0).await;
        let none = SearchLimits { opened: usize::MAX, bytes: usize::MAX, indexed: usize::MAX, unindexed: 500 };
        let tight = [
            SearchLimits { opened: 7, ..none },
            SearchLimits { bytes: 300, ..none },
            SearchLimits { indexed: 2, unindexed: 3, ..none },
            SearchLimits { opened: 5, bytes: 200, indexed: 1, unindexed: 1 },
        ];
        let raju = shop.read(|tx| munshi_identity::persons::find_by_address(tx, &munshi_identity::ContactAddress::phone(RAJU).unwrap())).await;
        let persons = [None, Some(vec![raju.unwrap().id])];
        for part in 0..3 {
            for (limits, persons) in tight.iter().flat_map(|limits| persons.iter().map(move |persons| (*limits, persons))) {
                for query in ["ramesh", "kal udhar", "\"paise kal\"", "atta"] {
                    let wanted = MessageSearch { limits, persons: persons.clone(), ..wanted(query, 4) };
                    let found = search_all(&shop, wanted.clone()).await;
                    assert_eq!(found, scan(&shop, wanted).await, "{query} {limits:?} {persons:?}");
                }
            }
            // Beside what is in the index some that is not, in the second round.
            match part {
                0 => {
                    fill(&shop, FillScope::New).await;
                    talk(&shop, &random, 10, 200).await;
                }
                _ => assert_eq!(fill(&shop, FillScope::New).await, if part == 1 { 20 } else { 0 }),
            }
        }
    }

    async fn where_a_page_ends_says_nothing_of_others(test: TestDb) {
        let shop = Shop::open(test).await;
        talk(&shop, &SeededRandom::new(46), 20, 0).await;
        let elsewhere = vec![shop.test.ids.next()];
        for is_filled in [false, true] {
            if is_filled {
                fill(&shop, FillScope::New).await;
            }
            let limits = SearchLimits { opened: 2, bytes: 2, indexed: 2, unindexed: 2 };
            let theirs = MessageSearch { bindings: Some(elsewhere.clone()), limits, ..wanted("kal", 1) };
            assert_eq!(search(&shop, theirs).await, MessageHits { hits: Vec::new(), next: None });
        }
    }

    async fn who_turned_out_to_be_somebody_is_found_as_them(test: TestDb) {
        let shop = Shop::open(test).await;
        let (first, second) = (shop.say(MEERA, "w1", "atta bhej do").await, shop.say(RAJU, "w2", "atta mila").await);
        fill(&shop, FillScope::New).await;
        let (into, from) = (person_of(&shop, first.session).await, person_of(&shop, second.session).await);
        let now = shop.now();
        let merge = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<Vec<PersonId>> {
            munshi_identity::persons::merge(tx, from, into)?;
            munshi_conversations::linking::merge_threads(tx, from, into, now)?;
            Ok(munshi_identity::persons::list_group(tx, into)?)
        };
        let group = shop.test.db.write(shop.tenant, merge).await.unwrap();
        let theirs = MessageSearch { persons: Some(group), ..wanted("atta", 10) };
        assert_eq!(search_all(&shop, theirs.clone()).await, scan(&shop, theirs).await);
        let found = search(&shop, wanted("atta", 10)).await;
        assert!(found.hits.iter().all(|hit| hit.session == first.session && hit.person == into), "{found:?}");
        assert_eq!(found.hits.len(), 2);
    }

    async fn filling_that_is_broken_off_goes_on_where_it_was(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(42);
        talk(&shop, &random, 100, 0).await;
        let looks = AtomicUsize::new(0);
        let stop_soon = || looks.fetch_add(1, Ordering::SeqCst) >= 1;
        let first = filler(&shop).fill(shop.tenant, FillScope::New, stop_soon).await.unwrap();
        assert_eq!((first, count_indexed(&shop).await.0), (128, 128), "it stopped after one transaction");
        compare_all(&shop, &random).await;
        // Two nodes at once, of which each adds what the other has not.
        let other = SearchFiller { db: shop.test.open_again().await, clock: shop.test.clock.clone() };
        let (one, two) = tokio::join!(fill(&shop, FillScope::New), other.fill(shop.tenant, FillScope::New, || false));
        assert_eq!(first + one + two.unwrap(), 200);
        let rows = count_indexed(&shop).await;
        assert_eq!(fill(&shop, FillScope::Everything).await, 0);
        assert_eq!((count_indexed(&shop).await, rows.0), (rows, 200));
        compare_all(&shop, &random).await;
    }

    async fn a_job_that_fills_lets_other_tenants_in_between(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(47);
        talk(&shop, &random, 150, 0).await;
        for scope in [FillScope::New, FillScope::Everything] {
            let (mut task, mut added, mut slices) = (FillTask::new(scope), 0, 0);
            loop {
                let looks = AtomicUsize::new(0);
                let is_over = || looks.fetch_add(1, Ordering::SeqCst) >= 1;
                // As it is stored with the job.
                let stored = serde_json::to_string(&task).unwrap();
                let outcome = filler(&shop).fill_slice(shop.tenant, serde_json::from_str(&stored).unwrap(), is_over).await.unwrap();
                (added, slices) = (added + outcome.added, slices + 1);
                match outcome.rest {
                    Some(rest) => task = rest,
                    None => break,
                }
                assert!(slices < 20, "{task:?}");
            }
            assert_eq!((added, slices > 2), (if scope == FillScope::New { 300 } else { 0 }, true), "{scope:?}");
        }
        compare_all(&shop, &random).await;
    }

    async fn messages_of_many_words_are_added_a_few_at_a_time(test: TestDb) {
        let shop = Shop::open(test).await;
        for turn in 0..6 {
            shop.test.clock.advance(Duration::from_secs(1));
            let text: String = (0..1_000).map(|number| format!("{} ", turn * 1_000 + number)).collect();
            let said = shop.say(MEERA, &format!("w{turn}"), &text).await;
            shop.test.clock.advance(Duration::from_secs(1));
            shop.answer(held(&said), "ok").await;
        }
        let looks = AtomicUsize::new(0);
        let stop_soon = || looks.fetch_add(1, Ordering::SeqCst) >= 1;
        let first = filler(&shop).fill(shop.tenant, FillScope::New, stop_soon).await.unwrap();
        assert_eq!(first, 5, "three of a thousand words and two of one");
        assert_eq!(fill(&shop, FillScope::New).await, 7);
        assert_eq!(fill(&shop, FillScope::Everything).await, 0);
        for query in ["5999", "\"1017 1018\"", "17", "ok"] {
            assert_eq!(search_all(&shop, wanted(query, 3)).await, scan(&shop, wanted(query, 3)).await, "{query}");
        }
    }

    async fn what_came_late_is_found_and_added(test: TestDb) {
        let shop = Shop::open(test).await;
        let late = shop.say(MEERA, "w1", "atta khatam").await.message;
        for (age, scope) in [(Duration::from_secs(300), FillScope::New), (2 * DAY, FillScope::Everything)] {
            shop.test.clock.advance(3 * DAY);
            let said = shop.say(RAJU, &format!("w{}", age.as_secs()), "kuch aur").await;
            fill(&shop, FillScope::New).await;
            // As if its transaction had come to its end only now.
            let at = shop.now().minus(age);
            shop.write(move |tx| {
                munshi_index::remove(tx, &[late.as_uuid()])?;
                tx.execute("UPDATE messages SET said_at = $3 WHERE tenant_id = $1 AND id = $2", params![late, at])
            }).await;
            if scope == FillScope::New {
                assert_eq!(search_all(&shop, wanted("atta", 5)).await, [late], "not in the index yet");
            }
            assert_eq!(fill(&shop, scope).await, 1);
            assert_eq!(search_all(&shop, wanted("atta", 5)).await, [late]);
            shop.answer(held(&said), "ok").await;
        }
    }

    async fn what_bears_a_time_still_to_come_hides_nothing(test: TestDb) {
        let shop = Shop::open(test).await;
        let now = shop.now();
        shop.test.clock.advance(30 * DAY);
        let early = shop.say(MEERA, "w1", "atta kal").await.message;
        shop.test.clock.set(now);
        assert_eq!(fill(&shop, FillScope::New).await, 1);
        let mut said = vec![early];
        for day in 1..4 {
            shop.test.clock.advance(DAY);
            said.insert(1, shop.say(RAJU, &format!("r{day}"), "atta aaj").await.message);
            let wanted = MessageSearch { now: shop.now(), ..wanted("atta", 9) };
            assert_eq!(search_all(&shop, wanted).await, said);
            assert_eq!(fill(&shop, FillScope::New).await, 1);
        }
        assert_eq!(fill(&shop, FillScope::Everything).await, 0);
    }

    async fn an_index_that_a_wrong_clock_filled_is_looked_through(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say(MEERA, "w1", "atta kal").await.message;
        fill(&shop, FillScope::New).await;
        let later = shop.now().plus(30 * DAY);
        let spoil = "UPDATE search_indexes SET filled_at = $2 WHERE tenant_id = $1";
        shop.write(move |tx| tx.execute(spoil, params![later])).await;
        shop.test.clock.advance(DAY);
        let second = shop.say(RAJU, "w2", "atta aaj").await.message;
        let wanted = MessageSearch { now: shop.now(), ..wanted("atta", 9) };
        assert_eq!(search_all(&shop, wanted.clone()).await, [second, first]);
        shop.test.clock.advance(DAY);
        assert_eq!(fill(&shop, FillScope::New).await, 1);
        assert_eq!(search_all(&shop, wanted).await, [second, first]);
    }

    async fn a_row_that_can_not_be_read_hides_no_other(test: TestDb) {
        let shop = Shop::open(test).await;
        let good = shop.say(MEERA, "w1", "atta kal").await.message;
        let bad = shop.say(RAJU, "w2", "atta aaj").await.message;
        let worse = shop.say(RAJU, "w3", "atta abhi").await.message;
        shop.write(move |tx| {
            tx.execute("UPDATE messages SET channel = 'nowhere' WHERE tenant_id = $1 AND id = $2", params![bad])?;
            // Sealed for another row.
            tx.execute(
                "UPDATE messages SET text = (SELECT m.text FROM messages m WHERE m.tenant_id = $1 AND m.id = $3)
                 WHERE tenant_id = $1 AND id = $2",
                params![worse, good],
            )
        })
        .await;
        for scope in [FillScope::New, FillScope::Everything] {
            assert_eq!(search_all(&shop, wanted("atta", 1)).await, [good]);
            fill(&shop, scope).await;
        }
        assert_eq!(search_all(&shop, wanted("atta", 1)).await, [good]);
    }

    async fn what_is_archived_or_expired_leaves_no_posting(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(43);
        talk(&shop, &random, 20, 0).await;
        fill(&shop, FillScope::New).await;
        shop.test.clock.advance(100 * DAY);
        talk(&shop, &random, 5, 50).await;
        fill(&shop, FillScope::New).await;
        let folder = tempfile::tempdir().unwrap();
        let archivist = ArchiveJob {
            db: shop.test.db.clone(),
            clock: shop.test.clock.clone(),
            folder: folder.path().to_owned(),
            usual: Retention::DEFAULT,
        };
        assert_eq!(archivist.archive_batch(shop.tenant).await.unwrap(), 40);
        assert_eq!(count_indexed(&shop).await.0, 10);
        compare_all(&shop, &random).await;
        shop.test.clock.advance(100 * DAY);
        let periods = RetentionPeriods { messages_days: Some(30), ..RetentionPeriods::default() };
        let report = expire(&shop.test.db, shop.tenant, &periods, shop.now()).await.unwrap();
        assert_eq!((report.messages, count_indexed(&shop).await), (10, (0, 0)));
    }

    async fn a_damaged_index_is_built_anew_and_missed_by_nobody(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(44);
        talk(&shop, &random, 20, 0).await;
        fill(&shop, FillScope::New).await;
        let rows = count_indexed(&shop).await;
        shop.write(|tx| tx.execute("UPDATE search_postings SET numbers = $2 WHERE tenant_id = $1", params![vec![7_u8]])).await;
        compare_all(&shop, &random).await;
        assert_eq!(fill(&shop, FillScope::Everything).await, 40);
        assert_eq!(count_indexed(&shop).await, rows);
        compare_all(&shop, &random).await;
        shop.write(|tx| tx.execute("UPDATE search_indexes SET version = 9 WHERE tenant_id = $1", &[])).await;
        compare_all(&shop, &random).await;
        assert_eq!(fill(&shop, FillScope::New).await, 40, "of another version");
        compare_all(&shop, &random).await;
    }

    async fn tenants_find_their_own(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = shop.say(MEERA, "w1", "atta bhej do").await;
        let elsewhere = shop.test.add_tenant("gupta").await;
        for _ in 0..2 {
            let look = |tx: &mut Tx<'_>| search_messages(tx, &wanted("atta", 5));
            assert_eq!(shop.test.db.read(elsewhere, look).await.unwrap().hits, []);
            assert_eq!(search_all(&shop, wanted("atta", 5)).await, [said.message]);
            fill(&shop, FillScope::New).await;
            filler(&shop).fill(elsewhere, FillScope::Everything, || false).await.unwrap();
        }
        let epoch = MessageSearch { since: Timestamp::EPOCH, ..wanted("atta", 1) };
        assert_eq!(search(&shop, epoch).await.hits.len(), 1);
    }
}
