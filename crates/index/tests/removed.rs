//! Of what is removed nothing stays, also where it is added at the same time.

use munshi_index::{AddOutcome, IndexBatch, IndexDocument, add, count_removable, needs_clearing, remove};
use munshi_store::{Cursor, Result, Tx, params};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{SeededRandom, TenantId};
use uuid::Uuid;

use crate::support::{Text, add_texts, begin, by_id, count, find_key, make_texts, scan, search, write};

async fn remove_texts(test: &TestDb, tenant: TenantId, texts: &[Text]) {
    let ids: Vec<Uuid> = texts.iter().map(|text| text.id).collect();
    write(test, tenant, move |tx| remove(tx, &ids)).await;
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_index::MIGRATIONS];

    async fn what_is_removed_is_found_no_more_and_the_rest_is(test: TestDb) {
        let (random, tenant) = (SeededRandom::new(21), test.add_tenant("sharma").await);
        let persons = [Uuid::from_u128(1), Uuid::from_u128(2)];
        let texts = make_texts(&test, &random, 6_000, &persons);
        begin(&test, tenant).await;
        add_texts(&test, tenant, &texts).await;
        let (gone, stays): (Vec<_>, Vec<_>) = texts.iter().cloned().partition(|text| text.person == persons[0]);
        for part in gone.chunks(500) {
            remove_texts(&test, tenant, part).await;
        }
        let (all, left) = (by_id(&texts), by_id(&stays));
        for query in ["ramesh", "1500 kal", "\"udhar bill\"", "李"] {
            assert_eq!(search(&test, tenant, &all, (query, None), 40).await, scan(&left, (query, None)), "{query}");
        }
        assert_eq!(search(&test, tenant, &all, ("ramesh", Some(persons[0])), 40).await, Vec::<Uuid>::new());
        // Removed twice it is gone once; removed to the last, no row is left.
        remove_texts(&test, tenant, &gone).await;
        for part in stays.chunks(500) {
            remove_texts(&test, tenant, part).await;
        }
        assert_eq!(count(&test, tenant).await, (0, 0, 0));
        // Its numbers are not given again.
        add_texts(&test, tenant, &texts[..1]).await;
        let number = "SELECT MIN(number) FROM search_documents WHERE tenant_id = $1";
        assert_eq!(write(&test, tenant, move |tx| tx.one(number, &[], |row| row.get::<i64>(0))).await, 6_000);
    }

    async fn a_block_tells_the_times_of_what_is_in_it(test: TestDb) {
        let (random, tenant) = (SeededRandom::new(22), test.add_tenant("sharma").await);
        let texts = make_texts(&test, &random, 100, &[Uuid::max()]);
        begin(&test, tenant).await;
        add_texts(&test, tenant, &texts).await;
        remove_texts(&test, tenant, &texts[..40]).await;
        remove_texts(&test, tenant, &texts[70..]).await;
        let times = |tx: &mut Tx<'_>| tx.one("SELECT oldest, newest FROM search_blocks WHERE tenant_id = $1", &[], |row| Ok((row.get(0)?, row.get(1)?)));
        assert_eq!(write(&test, tenant, times).await, (texts[40].at, texts[69].at));
    }

    async fn what_is_gone_meanwhile_is_not_added(test: TestDb) {
        let (random, tenant) = (SeededRandom::new(23), test.add_tenant("sharma").await);
        let texts = make_texts(&test, &random, 3, &[Uuid::max()]);
        begin(&test, tenant).await;
        let (kept, documents) = (texts[1].id, texts.iter().map(|text| IndexDocument { id: text.id, at: text.at, tokens: vec![7] }).collect());
        let unit = move |tx: &mut Tx<'_>| {
            let batch = IndexBatch { key: find_key(tx)?, from: Cursor::OLDEST, to: Cursor::OLDEST, documents };
            add(tx, batch, |_, _| Ok(vec![kept]))
        };
        assert_eq!(write(&test, tenant, unit).await, AddOutcome::Added(1));
        let left: Vec<Uuid> = write(&test, tenant, |tx| tx.all("SELECT document_id FROM search_documents WHERE tenant_id = $1", &[], |row| row.get(0))).await;
        assert_eq!(left, [kept]);
    }

    async fn few_texts_of_many_words_leave_together(test: TestDb) {
        let (random, tenant) = (SeededRandom::new(26), test.add_tenant("sharma").await);
        let mut texts = make_texts(&test, &random, 150, &[Uuid::max()]);
        for text in &mut texts[..10] {
            text.text = (0..1_000).map(|number| format!("{number} ")).collect();
        }
        begin(&test, tenant).await;
        add_texts(&test, tenant, &texts).await;
        let mut units = Vec::new();
        let mut left: Vec<Uuid> = texts.iter().map(|text| text.id).collect();
        while !left.is_empty() {
            let ids = left.clone();
            let count = write(&test, tenant, move |tx| {
                let count = count_removable(tx, &ids)?;
                remove(tx, &ids[..count])?;
                Ok(count)
            })
            .await;
            units.push(count);
            left.drain(..count);
        }
        assert_eq!(units, [5, 5, 100, 40]);
        assert_eq!(count(&test, tenant).await, (0, 0, 0));
        assert_eq!(write(&test, tenant, |tx| count_removable(tx, &[])).await, 0);
    }

    async fn a_damaged_index_holds_up_nobody_who_forgets(test: TestDb) {
        let random = SeededRandom::new(25);
        for (name, damage) in [
            ("one", "UPDATE search_postings SET numbers = $2 WHERE tenant_id = $1"),
            ("two", "UPDATE search_documents SET tokens = $2 WHERE tenant_id = $1"),
        ] {
            let tenant = test.add_tenant(name).await;
            let texts = make_texts(&test, &random, 50, &[Uuid::max()]);
            begin(&test, tenant).await;
            add_texts(&test, tenant, &texts).await;
            write(&test, tenant, move |tx| tx.execute(damage, params![vec![1_u8]])).await;
            remove_texts(&test, tenant, &texts[..20]).await;
            assert_eq!(count(&test, tenant).await.0, 30);
            assert!(write(&test, tenant, needs_clearing).await, "what is left of them goes with all the rest");
            begin(&test, tenant).await;
            assert_eq!(count(&test, tenant).await, (0, 0, 0));
        }
    }

    async fn a_text_added_while_it_is_removed_is_not_left(test: TestDb) {
        let (random, tenant) = (SeededRandom::new(24), test.add_tenant("sharma").await);
        let person = Uuid::max();
        // A table of another crate, in which the texts stand.
        begin(&test, tenant).await;
        for round in 0..20_u128 {
            let texts = make_texts(&test, &random, 40, &[person]);
            let other = test.open_again().await;
            let (present, ids) = (texts.clone(), texts.iter().map(|text| text.id).collect::<Vec<_>>());
            let mark = Uuid::from_u128(round + 1);
            // A row of the probe stands for the texts: while it is there they are.
            write(&test, tenant, move |tx| tx.execute("INSERT INTO search_blocks (tenant_id, block, oldest, newest) VALUES ($1, $2, $3, $3)", params![1_000_000 + i64::try_from(round).unwrap(), present[0].at])).await;
            let erase = move |tx: &mut Tx<'_>| -> Result<()> {
                remove(tx, &ids)?;
                tx.execute("DELETE FROM search_blocks WHERE tenant_id = $1 AND block = $2", params![1_000_000 + i64::try_from(round).unwrap()])?;
                Ok(())
            };
            let documents: Vec<IndexDocument> = texts.iter().map(|text| IndexDocument { id: text.id, at: text.at, tokens: vec![1, 2, 3] }).collect();
            let fill = move |tx: &mut Tx<'_>| {
                let to = Cursor { time: texts[0].at, id: mark };
                let batch = IndexBatch { key: find_key(tx)?, from: Cursor::OLDEST, to, documents };
                add(tx, batch, |tx, ids| {
                    let is_there = tx.optional("SELECT 1 FROM search_blocks WHERE tenant_id = $1 AND block = $2", params![1_000_000 + i64::try_from(round).unwrap()], |_| Ok(()))?;
                    Ok(if is_there.is_some() { ids.to_vec() } else { Vec::new() })
                })
            };
            let (added, erased) = tokio::join!(other.write(tenant, fill), test.db.write(tenant, erase));
            added.unwrap();
            erased.unwrap();
            assert_eq!(count(&test, tenant).await, (0, 0, 0), "round {round}");
        }
    }
}
