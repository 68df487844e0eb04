//! What is left when somebody was forgotten.

use munshi_conversations::messages;
use munshi_conversations::runs::{self, RunFilter};
use munshi_conversations::search::{FillScope, MessageSearch, SearchFiller, SearchQuery, search_messages};
use munshi_conversations::sessions::{self, SessionFilter};
use munshi_erasure::{ErasureReceipt, ErasureState, rows};
use munshi_identity::{ContactAddress, persons};
use munshi_ledger::books::{NameMatch, balances, contacts, verify};
use munshi_safety::acts;
use munshi_store::{KeyErasure, PageRequest, Tx, params};
use munshi_test_app::{build_message, parse_target};
use munshi_test_support::on_both_engines;
use munshi_types::Clock as _;
use serde_json::json;

use crate::support::{PHONE, Shop, find_planted, migrations};

on_both_engines! {
    with all migrations();

    async fn nothing_of_them_can_be_read_and_everybody_elses_can(test: TestDb) {
        let shop = Shop::open(&test).await;
        let plain = find_planted(&test, shop.tenant).await;
        assert!(plain.iter().all(|place| place.starts_with("ledger_")), "sealed but in the books: {plain:?}");
        assert!(!plain.is_empty());
        let texts = |tx: &mut Tx<'_>| {
            tx.all("SELECT id FROM messages WHERE tenant_id = $1", &[], |row| row.get::<munshi_types::MessageId>(0))
        };
        let before = test.db.read(shop.tenant, texts).await.unwrap().len();
        assert_eq!(before, 6);
        let prompts = "SELECT count(*) FROM stored_prompts WHERE tenant_id = $1";
        assert_eq!(shop.app.read_number(shop.tenant, prompts).await, 4, "one of a turn waits for a yes");

        let id = shop.begin().await;
        let done = shop.service().carry_out(shop.tenant, id).await.unwrap().unwrap();

        assert_eq!((done.state(), done.persons.len(), done.keys.len()), (ErasureState::Done, 2, 2));
        assert_eq!(find_planted(&test, shop.tenant).await, Vec::<String>::new());
        for (kind, rows) in [("messages", 4), ("acts", 2), ("consents", 1), ("conversations", 1), ("persons", 2)] {
            assert_eq!(done.counts[kind], rows, "{kind} of {:?}", done.counts);
        }
        assert!(done.counts["runs"] >= 1 && done.counts["contacts"] >= 3, "{:?}", done.counts);
        assert_eq!(shop.app.read_number(shop.tenant, prompts).await, 1, "what a model was told for Sunita");
        let receipt = ErasureReceipt::of(done, &shop.app.packs);
        assert!(receipt.kept.iter().any(|kept| kept.what.contains("bills")), "{:?}", receipt.kept);

        // Somebody else's thread is whole, and goes on.
        let other = shop.other;
        let theirs = move |tx: &mut Tx<'_>| {
            let page = sessions::list(tx, SessionFilter::All, &PageRequest::new(None, 10))?;
            let session = page.items.into_iter().find(|session| session.person == other).unwrap();
            messages::list(tx, session.id, &PageRequest::new(None, 10))
        };
        let said = test.db.read(shop.tenant, theirs).await.unwrap().items;
        assert!(said.iter().any(|message| message.text == "Noted for Sunita."));
    }

    async fn no_posting_of_theirs_is_left_and_everybody_elses_lead_on(test: TestDb) {
        let shop = Shop::open(&test).await;
        let filler = SearchFiller { db: test.db.clone(), clock: test.clock.clone() };
        assert_eq!(filler.fill(shop.tenant, FillScope::New, || false).await.unwrap(), 6);
        let search = |words: &'static str| {
            let wanted = MessageSearch::new(SearchQuery::parse(words).unwrap(), 10, test.clock.now());
            test.db.read(shop.tenant, move |tx: &mut Tx<'_>| search_messages(tx, &wanted))
        };
        assert_eq!(search("marigold zanzibar").await.unwrap().hits.len(), 1);
        let id = shop.begin().await;
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        assert_eq!(search("marigold").await.unwrap().hits, []);
        assert_eq!(search("sunita").await.unwrap().hits.len(), 2);
        let left = "SELECT COUNT(*) FROM search_documents WHERE tenant_id = $1";
        assert_eq!(shop.app.read_number(shop.tenant, left).await, 2);
        // Each number in a row of a word is one of those two: as many as they have words.
        let numbers = "SELECT CAST(SUM(LENGTH(numbers)) / 2 AS BIGINT) FROM search_postings WHERE tenant_id = $1";
        let words = "SELECT CAST(SUM(LENGTH(tokens)) / 8 AS BIGINT) FROM search_documents WHERE tenant_id = $1";
        assert_eq!(shop.app.read_number(shop.tenant, numbers).await, shop.app.read_number(shop.tenant, words).await);
        // At night it gets another key: by the one before nobody can tell any more which words were in an older copy.
        let key = |tx: &mut Tx<'_>| munshi_index::find_state(tx).map(|state| state.unwrap().key);
        let before = test.db.read(shop.tenant, key).await.unwrap();
        assert_eq!(filler.fill(shop.tenant, FillScope::Everything, || false).await.unwrap(), 2);
        assert_ne!(test.db.read(shop.tenant, key).await.unwrap(), before);
        let guess = move |tx: &mut Tx<'_>| tx.hash_by_key(before, "search word", b"marigold");
        assert!(matches!(test.db.read(shop.tenant, guess).await, Err(munshi_store::Error::Forgotten(_))));
        assert_eq!(search("sunita").await.unwrap().hits.len(), 2);
        assert_eq!(filler.fill(shop.tenant, FillScope::Everything, || false).await.unwrap(), 0);
    }

    async fn that_their_messages_were_taken_is_kept_while_a_channel_may_retry(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        let known = "SELECT count(*) FROM runs WHERE tenant_id = $1 AND outside_id IS NOT NULL";
        assert_eq!(shop.app.read_number(shop.tenant, known).await, 3);
        let jobs = "SELECT count(*) FROM jobs WHERE tenant_id = $1 AND kind = 'erasure.remove_message_ids'";
        assert_eq!(shop.app.read_number(shop.tenant, jobs).await, 1);
        shop.service().remove_message_ids(shop.tenant, id).await.unwrap();
        assert_eq!(shop.app.read_number(shop.tenant, known).await, 1, "that of somebody else stays");
    }

    async fn the_books_still_balance_under_a_pseudonym(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        let contact = shop.contact.id;
        let look = move |tx: &mut Tx<'_>| {
            let left = contacts::get(tx, contact)?;
            assert!(left.name.starts_with("Forgotten ") && left.phone.is_none(), "{left:?}");
            assert_eq!(left.balance, shop.contact.balance);
            assert_eq!(verify(tx)?, None);
            assert_eq!(balances::load_totals(tx)?.entries, 1);
            contacts::find(tx, "Rameshwari")
        };
        let found = test.db.read(shop.tenant, look).await.unwrap();
        assert!(found.into_one().is_none(), "nobody is found by that name");
        // Otherwise the books are what they were: nothing else in them can be changed or removed.
        for change in [
            "UPDATE ledger_entries SET amount = 1 WHERE tenant_id = $1",
            "UPDATE ledger_entries SET words = 'x' WHERE tenant_id = $1",
            "DELETE FROM ledger_entries WHERE tenant_id = $1",
        ] {
            let refused = test.db.write(shop.tenant, move |tx: &mut Tx<'_>| tx.execute(change, params![])).await;
            assert!(refused.is_err(), "{change}");
        }
    }

    async fn whoever_writes_from_there_is_somebody_new(test: TestDb) {
        let shop = Shop::open(&test).await;
        let phone = ContactAddress::phone(PHONE).unwrap();
        let id = shop.begin().await;
        // At once, before anything else is done.
        let known = {
            let phone = phone.clone();
            test.db.read(shop.tenant, move |tx| persons::find_by_address(tx, &phone)).await.unwrap()
        };
        assert_eq!(known, None);
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        let (ids, now) = (shop.app.ids.clone(), shop.app.clock.now());
        let meet = move |tx: &mut Tx<'_>| persons::find_or_add(tx, &ids, &[phone], "", now);
        let met = test.db.write(shop.tenant, meet).await.unwrap();
        assert_ne!(met.person.id, shop.person);
    }

    async fn nobody_comes_upon_a_contact_from_the_moment_it_was_asked_for(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.begin().await;
        let contact = shop.contact.clone();
        let look = move |tx: &mut Tx<'_>| {
            assert_eq!(contacts::find(tx, "Rameshwari Devi")?, NameMatch::Nobody);
            assert_eq!(contacts::list_by_phone(tx, PHONE)?, []);
            let left = contacts::get(tx, contact.id)?;
            assert!(left.name.starts_with("Forgotten ") && left.phone.is_none(), "{left:?}");
            assert_eq!(left.balance, contact.balance);
            Ok::<_, munshi_ledger::Error>(())
        };
        test.db.read(shop.tenant, look).await.unwrap();
    }

    async fn a_tool_under_way_writes_nothing_more(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        let open = "SELECT count(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL";
        assert_eq!(shop.app.read_number(shop.tenant, open).await, 0);
        let pending = "SELECT count(*) FROM approvals WHERE tenant_id = $1 AND state = 'pending'";
        assert_eq!(shop.app.read_number(shop.tenant, pending).await, 0);
    }

    async fn what_was_let_in_before_the_keys_went_ends_behind_them(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (tenant, id) = (shop.tenant, shop.begin().await);
        // Whoever destroyed the keys died there, and nobody had ended what came in the moment before.
        let keys = test.db.read(tenant, move |tx| rows::find(tx, id)).await.unwrap().unwrap().keys;
        let (keyring, now) = (test.db.keyring().unwrap(), shop.app.clock.now());
        let entry = KeyErasure { tenant, id: shop.app.ids.next(), keys, body: json!({}) };
        tokio::task::spawn_blocking(move || keyring.destroy_keys(&entry)).await.unwrap().unwrap();
        let mark = "UPDATE erasures SET destroyed_at = $3 WHERE tenant_id = $1 AND id = $2";
        test.db.write(tenant, move |tx: &mut Tx<'_>| tx.execute(mark, params![id, now])).await.unwrap();
        let open = "SELECT count(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL";
        assert_eq!(shop.app.read_number(tenant, open).await, 1);
        shop.service().carry_out(tenant, id).await.unwrap();
        assert_eq!(shop.app.read_number(tenant, open).await, 0);
    }

    async fn nothing_begins_for_somebody_who_is_being_forgotten(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.begin().await;
        let message = build_message(parse_target("handle:shop"), shop.person, "9", "one thing more");
        assert!(shop.app.engine.receive(message).await.is_err());
        let runs = "SELECT count(*) FROM runs WHERE tenant_id = $1";
        assert_eq!(shop.app.read_number(shop.tenant, runs).await, 3);
    }

    async fn vectors_go_where_only_the_books_knew_them_too(test: TestDb) {
        let shop = Shop::open(&test).await;
        let now = shop.app.clock.now();
        let keep = move |tx: &mut Tx<'_>| {
            tx.execute(
                "INSERT INTO embedding_cache (tenant_id, model, text_hash, dimension, vector, made_at)
                 VALUES ($1, 'a model', $2, 1, $2, $3)",
                params![&[7_u8; 4][..], now],
            )
        };
        test.db.write(shop.tenant, keep).await.unwrap();
        let id = shop.begin_for(None).await;
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        let vectors = "SELECT count(*) FROM embedding_cache WHERE tenant_id = $1";
        assert_eq!(shop.app.read_number(shop.tenant, vectors).await, 0);
    }

    async fn alerts_and_answers_that_name_them_by_an_id_go(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (person, contact, ids, now) = (shop.person, shop.contact.id, shop.app.ids.clone(), shop.app.clock.now());
        let keep = move |tx: &mut Tx<'_>| {
            let key: munshi_types::KeyId = ids.next();
            tx.execute(
                "INSERT INTO api_keys (tenant_id, id, name, person_id, made_by, made_at, speaks_as)
                 VALUES ($1, $2, 'a key', $3, 'a test', $4, 'person')",
                params![key, person, now],
            )?;
            for caller in [format!("key {key}"), "machine a test".to_owned()] {
                tx.execute(
                    "INSERT INTO answered_requests (tenant_id, caller, key, operation, digest, asked_at)
                     VALUES ($1, $2, 'once', 'an_operation', $3, $4)",
                    params![caller, &[7_u8; 32][..], now],
                )?;
            }
            for about in [format!("overdue/{contact}"), format!("quiet/{person}"), "stock/rice".to_owned()] {
                let alert: munshi_types::AlertId = ids.next();
                tx.execute(
                    "INSERT INTO pack_alerts (tenant_id, id, pack, heartbeat, key, severity, text, phrase, slots,
                                              first_seen, last_seen)
                     VALUES ($1, $2, 'ledger', 'a heartbeat', $3, 'notice', '', '', '[]', $4, $4)",
                    params![alert, about, now],
                )?;
            }
            Ok::<_, munshi_store::Error>(())
        };
        test.db.write(shop.tenant, keep).await.unwrap();
        let id = shop.begin().await;
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        for left in [
            "SELECT count(*) FROM pack_alerts WHERE tenant_id = $1",
            "SELECT count(*) FROM answered_requests WHERE tenant_id = $1",
        ] {
            assert_eq!(shop.app.read_number(shop.tenant, left).await, 1, "{left}");
        }
    }

    async fn lists_go_on_between_the_key_and_the_rows(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (tenant, person) = (shop.tenant, shop.person);
        let keys = test.db.read(tenant, move |tx| persons::list_keys(tx, person)).await.unwrap();
        assert_eq!(keys.len(), 2);
        let keyring = test.db.keyring().unwrap();
        let entry = KeyErasure { tenant, id: shop.app.ids.next(), keys, body: json!({}) };
        tokio::task::spawn_blocking(move || keyring.destroy_keys(&entry)).await.unwrap().unwrap();
        let look = move |tx: &mut Tx<'_>| {
            let page = PageRequest::new(None, 20);
            let all = sessions::list(tx, SessionFilter::All, &page)?.items;
            assert_eq!(all.len(), 2);
            for session in &all {
                let said = messages::list(tx, session.id, &page)?.items;
                let is_forgotten = session.person == person;
                assert!(said.iter().all(|message| message.text.is_empty() == is_forgotten), "{said:?}");
            }
            assert_eq!(runs::list(tx, RunFilter::All, &page)?.items.len(), 3);
            let acts = acts::list(tx, &page).unwrap().items;
            assert_eq!(acts.len(), 2);
            assert!(acts.iter().all(|act| act.arguments == json!({}) && act.result.is_none()));
            assert_eq!(persons::list(tx, persons::PersonFilter::Everybody, &page)?.items.len(), 2);
            persons::list_contacts(tx).map(|contacts| contacts.len())
        };
        assert_eq!(test.db.read(tenant, look).await.unwrap(), 2);
    }
}
