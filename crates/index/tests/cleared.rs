//! An index that does not hold together, or is of another version, is cleared bit by bit and begins anew.

use std::collections::BTreeSet;

use munshi_index::{
    AddOutcome, CheckStep, IndexBatch, IndexSearch, TokenHasher, add, check_next, clear_next, expire_key,
    find_state, is_key_expired, is_key_lost, list_hits, mark_for_rebuild,
};
use munshi_store::{Cursor, Db, Error, Result, StoreOptions, Tx, params};
use munshi_test_support::memory_keys::older_keyring;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{DataKeyId, SeededRandom, TenantId, Timestamp};
use uuid::Uuid;

use crate::support::{Text, add_texts, begin, by_id, count, find_key, make_texts, scan, search, write};

async fn fill(test: &TestDb, tenant: TenantId) -> Vec<Text> {
    let texts = make_texts(test, &SeededRandom::new(31), 5_000, &[Uuid::max()]);
    begin(test, tenant).await;
    add_texts(test, tenant, &texts).await;
    texts
}

async fn check_all(test: &TestDb, tenant: TenantId) -> CheckStep {
    let mut after = None;
    loop {
        match write(test, tenant, move |tx| check_next(tx, after)).await {
            CheckStep::Sound(block) => after = Some(block),
            end => return end,
        }
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_index::MIGRATIONS];

    async fn one_of_another_version_is_cleared_and_filled_anew(test: TestDb) {
        let (tenant, other) = (test.add_tenant("sharma").await, test.add_tenant("gupta").await);
        let texts = fill(&test, tenant).await;
        fill(&test, other).await;
        let theirs = count(&test, other).await;
        write(&test, tenant, |tx| tx.execute("UPDATE search_indexes SET version = 99 WHERE tenant_id = $1", &[])).await;
        assert_eq!(write(&test, tenant, find_state).await, None, "nobody searches in it");
        assert_eq!(add_texts(&test, tenant, &texts).await, AddOutcome::Outdated);
        let mut units = 1;
        while write(&test, tenant, clear_next).await {
            units += 1;
        }
        assert!(units > 2, "not all in one unit");
        assert_eq!((count(&test, tenant).await, count(&test, other).await), ((0, 0, 0), theirs));
        assert_eq!(write(&test, tenant, find_state).await.unwrap().filled, Cursor::OLDEST);
        add_texts(&test, tenant, &texts).await;
        let all = by_id(&texts);
        assert_eq!(search(&test, tenant, &all, ("ramesh", None), 9).await, scan(&all, ("ramesh", None)));
    }

    async fn whoever_looked_before_it_was_cleared_adds_nothing(test: TestDb) {
        let tenant = test.add_tenant("sharma").await;
        let texts = fill(&test, tenant).await;
        let last = texts[4_999].position();
        write(&test, tenant, mark_for_rebuild).await;
        begin(&test, tenant).await;
        let late = move |tx: &mut Tx<'_>| {
            let batch = IndexBatch { key: find_key(tx)?, from: last, to: last, documents: Vec::new() };
            add(tx, batch, |_, ids| Ok(ids.to_vec()))
        };
        assert_eq!(write(&test, tenant, late).await, AddOutcome::Outdated);
        assert_eq!(write(&test, tenant, find_state).await.unwrap().filled, Cursor::OLDEST, "what it lost is still to be looked at");
    }

    async fn its_key_is_destroyed_once_it_is_built_anew(test: TestDb) {
        let tenant = test.add_tenant("sharma").await;
        let texts = fill(&test, tenant).await;
        let before = write(&test, tenant, find_key).await;
        let tokens = |tx: &mut Tx<'_>| tx.all("SELECT token FROM search_postings WHERE tenant_id = $1", &[], |row| row.get::<i64>(0));
        let old: BTreeSet<i64> = write(&test, tenant, tokens).await.into_iter().collect();
        assert!(!write(&test, tenant, is_key_expired).await);
        write(&test, tenant, expire_key).await;
        assert!(write(&test, tenant, is_key_expired).await);
        assert_eq!(write(&test, tenant, find_key).await, before, "it is searched by until then");
        write(&test, tenant, mark_for_rebuild).await;
        begin(&test, tenant).await;
        assert!(!write(&test, tenant, is_key_expired).await && !write(&test, tenant, is_key_lost).await);
        add_texts(&test, tenant, &texts).await;
        let new: BTreeSet<i64> = write(&test, tenant, tokens).await.into_iter().collect();
        assert!(old.is_disjoint(&new) && old.len() == new.len());
        let all = by_id(&texts);
        assert_eq!(search(&test, tenant, &all, ("ramesh", None), 9).await, scan(&all, ("ramesh", None)));
        let guess = move |tx: &mut Tx<'_>| TokenHasher::new(before).hash_scope(tx, Uuid::max());
        assert!(matches!(test.db.read(tenant, guess).await, Err(Error::Forgotten(_))), "in no copy a word is confirmed");
        // As in a copy from before.
        write(&test, tenant, move |tx| tx.execute("UPDATE search_indexes SET key_id = $2 WHERE tenant_id = $1", params![before])).await;
        assert!(write(&test, tenant, is_key_lost).await);
        let late = move |tx: &mut Tx<'_>| {
            let batch = IndexBatch { key: find_key(tx)?, from: Cursor::OLDEST, to: Cursor::OLDEST, documents: Vec::new() };
            add(tx, IndexBatch { key: DataKeyId::from_uuid(Uuid::max()), ..batch }, |_, ids| Ok(ids.to_vec()))
        };
        assert_eq!(write(&test, tenant, late).await, AddOutcome::Outdated, "hashed by another");
    }

    async fn one_whose_key_an_older_store_lacks_gets_another(test: TestDb) {
        let tenant = test.add_tenant("sharma").await;
        fill(&test, tenant).await;
        let before = write(&test, tenant, find_key).await;
        write(&test, tenant, mark_for_rebuild).await;
        begin(&test, tenant).await;
        let key = write(&test, tenant, find_key).await;
        // Its store of keys is put back from between.
        let keyring = Some(older_keyring(test.ids.clone(), tenant, (before, key)));
        let options = StoreOptions { keyring, ..test.options.clone() };
        let db = Db::open(&test.address, &options, &test.migrations).await.unwrap();
        let guess = move |tx: &mut Tx<'_>| TokenHasher::new(before).hash_scope(tx, Uuid::max());
        assert!(db.read(tenant, guess).await.is_ok(), "it came back");
        assert!(db.read(tenant, is_key_lost).await.unwrap());
        db.write(tenant, mark_for_rebuild).await.unwrap();
        while db.write(tenant, clear_next).await.unwrap() {}
        assert!(!db.read(tenant, is_key_lost).await.unwrap());
        assert!(matches!(db.read(tenant, guess).await, Err(Error::Forgotten(_))));
    }

    async fn a_missing_or_damaged_row_is_found(test: TestDb) {
        for damage in [
            "DELETE FROM search_postings WHERE tenant_id = $1 AND block = 1 AND token = (SELECT MIN(p.token) FROM search_postings p WHERE p.tenant_id = $1 AND p.block = 1)",
            "DELETE FROM search_blocks WHERE tenant_id = $1 AND block = 0",
            "UPDATE search_blocks SET newest = oldest WHERE tenant_id = $1 AND block = 1",
            // More than there should be.
            "INSERT INTO search_postings (tenant_id, token, block, numbers) SELECT p.tenant_id, 1, p.block, p.numbers FROM search_postings p WHERE p.tenant_id = $1 AND p.block = 1 AND p.token = (SELECT MAX(q.token) FROM search_postings q WHERE q.tenant_id = $1 AND q.block = 1)",
            "INSERT INTO search_postings (tenant_id, token, block, numbers) SELECT p.tenant_id, p.token, 77, p.numbers FROM search_postings p WHERE p.tenant_id = $1 AND p.block = 1",
            "INSERT INTO search_blocks (tenant_id, block, oldest, newest) SELECT b.tenant_id, 77, b.oldest, b.newest FROM search_blocks b WHERE b.tenant_id = $1 AND b.block = 1",
            "DELETE FROM search_documents WHERE tenant_id = $1 AND number = 4100",
        ] {
            let tenant = test.add_tenant(&format!("t{}", damage.len())).await;
            fill(&test, tenant).await;
            assert_eq!(check_all(&test, tenant).await, CheckStep::Done);
            assert!(write(&test, tenant, move |tx| tx.execute(damage, &[])).await > 0);
            assert_eq!(check_all(&test, tenant).await, CheckStep::Broken, "{damage}");
            write(&test, tenant, mark_for_rebuild).await;
            assert_eq!(write(&test, tenant, find_state).await, None);
        }
    }

    async fn a_damaged_posting_is_an_error_and_not_an_answer(test: TestDb) {
        let tenant = test.add_tenant("sharma").await;
        fill(&test, tenant).await;
        write(&test, tenant, |tx| tx.execute("UPDATE search_postings SET numbers = $2 WHERE tenant_id = $1", params![vec![1_u8]])).await;
        assert_eq!(check_all(&test, tenant).await, CheckStep::Broken);
        let look = |tx: &mut Tx<'_>| -> Result<()> {
            let token = TokenHasher::new(find_key(tx)?).hash_scope(tx, Uuid::max())?;
            list_hits(tx, &IndexSearch { groups: &[vec![token]], since: Timestamp::EPOCH, before: Cursor::START }, 1)?;
            Ok(())
        };
        assert!(matches!(test.db.read(tenant, look).await, Err(Error::Decode(_))));
    }
}
