//! Messages are found by their words though they are sealed: at once, behind the index and by it, and no longer once they are
//! gone.

use std::time::Duration;

use munshi_conversations::search::{FillScope, MessageHits, MessageSearch, SearchLimits, search_messages};
use munshi_store::{Cursor, Tx, params};
use munshi_types::{Id as _, MessageId, PersonId, SeededRandom, Timestamp};

use crate::rows::search_support::{
    MEERA, RAJU, WORDS, compare_all, fill, filler, person_of, scan, scan_at, search, search_all, talk, wanted,
};
use crate::rows::support::{Shop, held, tables};

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
        // Fewer than fit a page, though more are there: the page ended for what was looked at.
        for limits in &tight[..2] {
            let wanted = MessageSearch { limits: *limits, ..wanted("ramesh", 15) };
            let page = search(&shop, wanted.clone()).await;
            let count = page.hits.len();
            assert!(count < wanted.limit && count < scan(&shop, wanted).await.len(), "{limits:?}: {count}");
            assert!(page.next.is_some(), "{limits:?}");
        }
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

    async fn what_lies_in_two_blocks_is_found_beside_what_lies_in_none(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(48);
        fill(&shop, FillScope::Everything).await;
        // As if more had been there: the next are the last of one block and the first of another.
        let near = "UPDATE search_indexes SET next_number = 4090 WHERE tenant_id = $1";
        shop.write(move |tx| tx.execute(near, &[])).await;
        talk(&shop, &random, 12, 0).await;
        assert_eq!(fill(&shop, FillScope::New).await, 24);
        let blocks = "SELECT COUNT(*) FROM search_blocks WHERE tenant_id = $1";
        assert_eq!(shop.read(move |tx| tx.one(blocks, &[], |row| row.get::<i64>(0))).await, 2);
        talk(&shop, &random, 6, 100).await;
        compare_all(&shop, &random).await;
        assert_eq!(fill(&shop, FillScope::Everything).await, 12);
        compare_all(&shop, &random).await;
    }

    async fn a_search_is_complete_while_the_index_is_filled(test: TestDb) {
        let shop = Shop::open(test).await;
        let random = SeededRandom::new(49);
        talk(&shop, &random, 150, 0).await;
        let searching = async {
            for round in 0..20 {
                let wanted = wanted(WORDS[round % WORDS.len()], 500);
                // Both as they are at one moment.
                let both = move |tx: &mut Tx<'_>| Ok((search_messages(tx, &wanted)?, scan_at(tx, &wanted)?));
                let (found, scanned) = shop.read(both).await;
                let found: Vec<MessageId> = found.hits.into_iter().map(|hit| hit.message).collect();
                assert_eq!(found, scanned, "round {round}");
            }
        };
        let (added, ()) = tokio::join!(fill(&shop, FillScope::New), searching);
        assert_eq!(added, 300);
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
        let (ids, now) = (shop.test.ids.clone(), shop.now());
        let merge = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<Vec<PersonId>> {
            munshi_identity::persons::merge(tx, from, into)?;
            munshi_conversations::linking::merge_threads(tx, &ids, (from, into), now)?;
            Ok(munshi_identity::persons::list_group(tx, into)?)
        };
        let group = shop.test.db.write(shop.tenant, merge).await.unwrap();
        let theirs = MessageSearch { persons: Some(group), ..wanted("atta", 10) };
        assert_eq!(search_all(&shop, theirs.clone()).await, scan(&shop, theirs).await);
        let found = search(&shop, wanted("atta", 10)).await;
        assert!(found.hits.iter().all(|hit| hit.session == first.session && hit.person == into), "{found:?}");
        assert_eq!(found.hits.len(), 2);
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
