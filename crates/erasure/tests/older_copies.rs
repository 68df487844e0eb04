//! An older copy of the database, or of the store of keys, is told again whom was forgotten.

use std::time::Duration;

use munshi_erasure::{ErasureRequest, ErasureService, ErasureState, begin, rows};
use munshi_identity::persons;
use munshi_store::{Db, Error, JsonText, KeyErasure, PageRequest, SealedBy, Tx, params};
use munshi_test_support::{administer, memory_keyring, on_both_engines};
use munshi_types::{DataKeyId, ErasureId, Id};
use serde_json::json;
use uuid::Uuid;

use crate::support::{PHONE, Shop, find_planted, migrations};

on_both_engines! {
    with all migrations();

    async fn a_database_from_before_forgets_again(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        let contact = shop.contact.id;
        // As the copy from before has it: nothing of the erasure, and her name in the books.
        let put_back = move |tx: &mut Tx<'_>| {
            tx.execute("DELETE FROM erasures WHERE tenant_id = $1", params![])?;
            tx.execute("UPDATE persons SET forgotten_at = NULL WHERE tenant_id = $1", params![])?;
            tx.execute(
                "UPDATE ledger_contacts SET name = 'Rameshwari', phone = $3, forgotten_at = NULL WHERE tenant_id = $1 AND id = $2",
                params![contact, PHONE],
            )?;
            tx.execute(
                "INSERT INTO ledger_names (tenant_id, kind, bone, subject_id, name) VALUES ($1, 'contact', 'rmsvr', $2, 'Rameshwari')",
                params![contact],
            )
        };
        test.db.write(shop.tenant, put_back).await.unwrap();
        assert!(!find_planted(&test, shop.tenant).await.is_empty());

        assert_eq!(shop.service().replay().await.unwrap(), 1);
        assert_eq!(find_planted(&test, shop.tenant).await, Vec::<String>::new());
        let again = test.db.read(shop.tenant, move |tx| rows::find(tx, id)).await.unwrap().unwrap();
        assert_eq!((again.state(), again.persons.len()), (ErasureState::Done, 2));
        assert!(again.persons.contains(&shop.person) && again.persons.contains(&shop.merged));
        let (one, other) = (shop.person, shop.merged);
        let marked = move |tx: &mut Tx<'_>| {
            Ok::<_, Error>((persons::is_forgotten(tx, one)?, persons::is_forgotten(tx, other)?))
        };
        assert_eq!(test.db.read(shop.tenant, marked).await.unwrap(), (true, true));
        assert_eq!(shop.service().replay().await.unwrap(), 0, "and then it is done");
    }

    async fn what_only_an_older_copy_knows_of_them_is_forgotten_too(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        // In this copy she has another key, and somebody else turned out to be her.
        let (tenant, person, other) = (shop.tenant, shop.person, shop.other);
        let another: DataKeyId = shop.app.ids.next();
        // And somebody who was forgotten before they had a key.
        let (keyless, now) = (shop.app.add_person(tenant, "Rekha", None).await, shop.app.clock.now());
        let put_back = move |tx: &mut Tx<'_>| {
            tx.execute("DELETE FROM erasures WHERE tenant_id = $1", params![])?;
            let text = "UPDATE person_keys SET key_id = $3 WHERE tenant_id = $1 AND person_id = $2";
            assert_eq!(tx.execute(text, params![person, another])?, 1);
            let text = "UPDATE persons SET merged_into = $3, role = NULL WHERE tenant_id = $1 AND id = $2";
            assert_eq!(tx.execute(text, params![other, person])?, 1);
            tx.execute("DELETE FROM person_keys WHERE tenant_id = $1 AND person_id = $2", params![keyless])?;
            let text = "UPDATE persons SET merged_into = $3, name = '', name_hash = NULL, left_at = $4, forgotten_at = $4
                        WHERE tenant_id = $1 AND id = $2";
            assert_eq!(tx.execute(text, params![keyless, person, now])?, 1);
            persons::list_keys(tx, other)
        };
        let theirs = test.db.write(tenant, put_back).await.unwrap();
        let keys = [another, theirs[0]];
        let keyring = test.db.keyring().unwrap();
        let seal = move |key| keyring.seal(tenant, SealedBy::Person(key), b"somewhere", b"hello");
        let sealing = seal.clone();
        let sealed = tokio::task::spawn_blocking(move || keys.map(|key| sealing(key).is_ok())).await.unwrap();
        assert_eq!((theirs.len(), sealed), (1, [true, true]));

        assert_eq!(shop.service().replay().await.unwrap(), 2);
        for after in tokio::task::spawn_blocking(move || keys.map(seal)).await.unwrap() {
            assert!(matches!(after, Err(Error::Forgotten(_))), "{after:?}");
        }
        let count = "SELECT count(*) FROM persons WHERE tenant_id = $1 AND (name <> '' OR left_at IS NULL)";
        assert_eq!(shop.app.read_number(tenant, count).await, 0, "whoever turned out to be her went too");
        // Which the store of keys remembers: another copy is told, and nothing is written down twice.
        let forget = |tx: &mut Tx<'_>| tx.execute("DELETE FROM erasures WHERE tenant_id = $1", params![]);
        test.db.write(tenant, forget).await.unwrap();
        assert_eq!(shop.service().replay().await.unwrap(), 2);
        let keyring = test.db.keyring().unwrap();
        let logged = tokio::task::spawn_blocking(move || keyring.list_erasures(None, 10)).await.unwrap().unwrap();
        assert_eq!(logged.len(), 2);
        for key in keys {
            assert!(logged.iter().any(|entry| entry.body["keys"].to_string().contains(&key.to_string())));
        }
    }

    async fn a_store_of_keys_from_before_destroys_again(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        let done = shop.service().carry_out(shop.tenant, id).await.unwrap().unwrap();
        let key: DataKeyId = done.keys[0];
        // A keyring that remembers nothing of it.
        let mut options = test.options.clone();
        options.keyring = Some(memory_keyring(test.ids.clone()));
        let db = Db::open(&test.address, &options, &test.migrations).await.unwrap();
        let keyring = db.keyring().unwrap();
        let tenant = shop.tenant;
        let seal = move || keyring.seal(tenant, SealedBy::Person(key), b"somewhere", b"hello");
        let before = tokio::task::spawn_blocking(seal.clone()).await.unwrap();
        assert!(before.is_ok(), "it came back with the older store");

        let expired = "UPDATE search_indexes SET key_expired = FALSE WHERE tenant_id = $1";
        test.db.write(tenant, move |tx: &mut Tx<'_>| tx.execute(expired, params![])).await.unwrap();
        let service = ErasureService { db: db.clone(), ..shop.service() };
        service.replay().await.unwrap();
        let is_expired = test.db.read(tenant, munshi_index::is_key_expired).await.unwrap();
        assert!(is_expired, "so may one by which the index hashed her words");
        let after = tokio::task::spawn_blocking(seal).await.unwrap();
        assert!(matches!(after, Err(Error::Forgotten(_))), "{after:?}");
    }

    async fn an_erasure_of_the_tenants_own_key_is_skipped(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (keyring, tenant) = (test.db.keyring().unwrap(), shop.tenant);
        let seal = {
            let keyring = keyring.clone();
            move || keyring.seal(tenant, SealedBy::Tenant, b"somewhere", b"hello")
        };
        let sealed = tokio::task::spawn_blocking(seal).await.unwrap().unwrap();
        let own = DataKeyId::from_uuid(Uuid::from_slice(&sealed[..16]).unwrap());
        // Planted before an honest one.
        let (planted, at): (ErasureId, _) = (shop.app.ids.next(), shop.app.clock.now().minus(Duration::from_secs(60)));
        let plant = move |tx: &mut Tx<'_>| {
            let (keys, none) = (JsonText::of(&[own])?, JsonText::of(&json!([]))?);
            let nothing = JsonText::of(&json!({}))?;
            tx.execute(
                "INSERT INTO erasures (tenant_id, id, persons, keys, records, asked_by, asked_at, counts)
                 VALUES ($1, $2, $3, $4, $5, 'nobody', $6, $5)",
                params![planted, none, keys, nothing, at],
            )
        };
        test.db.write(tenant, plant).await.unwrap();
        let id = shop.begin().await;

        assert_eq!(shop.service().replay().await.unwrap(), 1);
        let states = move |tx: &mut Tx<'_>| {
            [planted, id].iter().map(|id| Ok(rows::find(tx, *id)?.map(|found| found.state()))).collect::<Result<Vec<_>, Error>>()
        };
        let states = test.db.read(tenant, states).await.unwrap();
        assert_eq!(states, [Some(ErasureState::Begun), Some(ErasureState::Done)]);
        let opened = tokio::task::spawn_blocking(move || keyring.open(tenant, b"somewhere", &sealed)).await.unwrap();
        assert_eq!(opened.unwrap(), b"hello");
    }

    async fn what_fails_is_left_to_a_job_once_the_keys_are_gone(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (tenant, other, service) = (shop.tenant, shop.other, shop.service());
        let jobs = "SELECT count(*) FROM jobs WHERE tenant_id = $1 AND kind = 'erasure.carry_out'";
        // What a later version may have written into the store of keys.
        let (keyring, strange) = (test.db.keyring().unwrap(), shop.app.ids.next());
        let unread = KeyErasure { tenant, id: strange, keys: Vec::new(), body: json!({ "persons": "everybody" }) };
        // And what no row of the database can hold.
        let body = json!({ "persons": [], "keys": [], "records": {}, "asked_by": "\0", "asked_at": shop.app.clock.now() });
        let refused = KeyErasure { tenant, id: shop.app.ids.next(), keys: Vec::new(), body };
        let log = move || [unread, refused].iter().try_for_each(|entry| keyring.destroy_keys(entry));
        tokio::task::spawn_blocking(log).await.unwrap().unwrap();
        // The books are not installed when she is to be forgotten, and a row of another erasure is damaged.
        let (damaged, at) = (shop.app.ids.next::<ErasureId>(), shop.app.clock.now().minus(Duration::from_secs(60)));
        let records = [("no such pack".to_owned(), vec![shop.contact.id.as_uuid()])];
        let request = ErasureRequest { id: shop.app.ids.next(), person: Some(other), records: records.into(), asked_by: "a test".to_owned() };
        let (begun, now) = (request.id, shop.app.clock.now());
        let plant = move |tx: &mut Tx<'_>| {
            let (none, nothing) = (JsonText::of(&json!([]))?, JsonText::of(&json!({}))?);
            tx.execute(
                "INSERT INTO erasures (tenant_id, id, persons, keys, records, asked_by, asked_at, counts)
                 VALUES ($1, $2, $3, $4, $4, 'nobody', $5, $3)",
                params![damaged, nothing, none, at],
            )?;
            administer(tx, |tx| begin(tx, &service, request, now))
        };
        let key = test.db.write(tenant, plant).await.unwrap().keys[0];
        let id = shop.begin().await;
        assert_eq!(shop.app.read_number(tenant, jobs).await, 2);
        let end = |tx: &mut Tx<'_>| tx.execute("UPDATE jobs SET state = 'dead' WHERE tenant_id = $1", params![]);
        test.db.write(tenant, end).await.unwrap();

        assert_eq!(shop.service().replay().await.unwrap(), 1);
        let states = move |tx: &mut Tx<'_>| {
            [begun, id].iter().map(|id| Ok(rows::find(tx, *id)?.map(|found| found.state()))).collect::<Result<Vec<_>, Error>>()
        };
        let states = test.db.read(tenant, states).await.unwrap();
        assert_eq!(states, [Some(ErasureState::KeysDestroyed), Some(ErasureState::Done)]);
        let keyring = test.db.keyring().unwrap();
        let seal = move || keyring.seal(tenant, SealedBy::Person(key), b"somewhere", b"hello");
        let after = tokio::task::spawn_blocking(seal).await.unwrap();
        assert!(matches!(after, Err(Error::Forgotten(_))), "{after:?}");
        let ready = "SELECT count(*) FROM jobs WHERE tenant_id = $1 AND kind = 'erasure.carry_out' AND state = 'ready'";
        assert!(shop.app.read_number(tenant, ready).await >= 1);
    }

    async fn receipts_are_listed_newest_first(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        let page = test.db.read(shop.tenant, |tx| rows::list(tx, &PageRequest::new(None, 5))).await.unwrap();
        assert_eq!(page.items.iter().map(|erasure| (erasure.id, erasure.state())).collect::<Vec<_>>(), [(id, ErasureState::Begun)]);
    }
}
