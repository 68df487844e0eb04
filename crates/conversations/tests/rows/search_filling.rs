//! The search index is filled behind the turns, in parts, and nothing that goes is left in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use munshi_conversations::retention::{ArchiveJob, Retention, expire};
use munshi_conversations::search::{FillScope, FillTask, MessageSearch, SearchFiller, job, search_messages};
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions, NewJob};
use munshi_safety::policy::RetentionPeriods;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PlatformTx, StoreOptions, Tx, params};
use munshi_test_support::administer_platform;
use munshi_test_support::memory_keys::older_keyring;
use munshi_types::{Clock, Id as _, SeededRandom, TenantId, TenantStatus};

use crate::rows::search_support::{
    DAY, MEERA, RAJU, compare_all, count_indexed, fill, filler, scan, search_all, talk, wanted,
};
use crate::rows::support::{Shop, held, tables};

async fn set_status(shop: &Shop, status: TenantStatus) {
    let tenant = shop.tenant;
    let change =
        move |tx: &mut PlatformTx<'_>| administer_platform(tx, |tx| tenants::set_status(tx, tenant, status));
    shop.test.db.platform(TENANTS).write(change).await.unwrap();
}

/// As it is done each night.
async fn check_all(shop: &Shop) {
    let (queue, mut registry) = (shop.desk.queue.clone(), JobRegistry::default());
    let clock: Arc<dyn Clock> = shop.test.clock.clone();
    job::install(&mut registry, &shop.test.db, &clock, &queue);
    let random = Arc::new(SeededRandom::new(7));
    let runner = JobRunner::new(shop.test.db.clone(), &queue, random, registry, JobRunnerOptions::default());
    let check = NewJob::new(job::CHECK, &serde_json::json!({})).unwrap();
    let enqueue = move |tx: &mut Tx<'_>| queue.enqueue(tx, &check);
    shop.test.db.write(TenantId::PLATFORM, enqueue).await.unwrap();
    runner.drain().await.unwrap();
}

tables! {
    async fn what_is_filled_while_it_goes_is_not_left_behind(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(50);
        let folder = tempfile::tempdir().unwrap();
        let archivist = ArchiveJob {
            db: shop.test.open_again().await,
            clock: shop.test.clock.clone(),
            folder: folder.path().to_owned(),
            usual: Retention::DEFAULT,
        };
        for round in 0..4 {
            talk(&shop, &random, 40, round * 1_000).await;
            shop.test.clock.advance(100 * DAY);
            talk(&shop, &random, 5, round * 1_000 + 500).await;
            let (_, archived) = tokio::join!(fill(&shop, FillScope::Everything), archivist.archive_batch(shop.tenant));
            assert!(archived.unwrap() >= 80);
            fill(&shop, FillScope::Everything).await;
            let messages = "SELECT COUNT(*) FROM messages WHERE tenant_id = $1";
            let left: i64 = shop.read(move |tx| tx.one(messages, &[], |row| row.get(0))).await;
            assert_eq!((left, count_indexed(&shop).await.0), (10, 10), "round {round}");
            compare_all(&shop, &random).await;
        }
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

    async fn a_key_that_expired_goes_though_its_tenant_has_no_jobs_done(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(51);
        for (status, from) in [(TenantStatus::Paused, 0), (TenantStatus::Archived, 100)] {
            set_status(&shop, TenantStatus::Active).await;
            talk(&shop, &random, 10, from).await;
            fill(&shop, FillScope::Everything).await;
            let before = shop.read(munshi_index::find_state).await.unwrap().key;
            set_status(&shop, status).await;
            for is_forgotten in [false, true] {
                if is_forgotten {
                    shop.write(munshi_index::expire_key).await;
                }
                check_all(&shop).await;
                let key = shop.read(munshi_index::find_state).await.unwrap().key;
                assert_eq!((key != before, count_indexed(&shop).await.0 == 0), (is_forgotten, is_forgotten), "{status:?}");
            }
            assert!(shop.test.db.read(shop.tenant, move |tx| tx.hash_by_key(before, "search word", b"kal")).await.is_err());
            compare_all(&shop, &random).await;
        }
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

    async fn an_older_store_of_keys_stops_no_search(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(45);
        talk(&shop, &random, 20, 0).await;
        fill(&shop, FillScope::New).await;
        let key = shop.read(munshi_index::find_state).await.unwrap().key;
        let keyring = older_keyring(shop.test.ids.clone(), shop.tenant, (shop.test.ids.next(), key));
        let options = StoreOptions { keyring: Some(keyring), ..shop.test.options.clone() };
        let db = Db::open(&shop.test.address, &options, &shop.test.migrations).await.unwrap();
        let filler = SearchFiller { db: db.clone(), clock: shop.test.clock.clone() };
        let search = |tx: &mut Tx<'_>| search_messages(tx, &wanted("ramesh", 100));
        let find = async || {
            let hits = db.read(shop.tenant, search).await.unwrap().hits;
            hits.iter().map(|hit| hit.message).collect::<Vec<_>>()
        };
        let expected = scan(&shop, wanted("ramesh", 100)).await;
        assert!(!expected.is_empty());
        assert_eq!(find().await, expected);
        assert_eq!(filler.fill(shop.tenant, FillScope::New, || false).await.unwrap(), 40, "by another key");
        assert_eq!(find().await, expected);
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
}
