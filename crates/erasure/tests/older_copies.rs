//! An older copy of the database, or of the store of keys, is told again whom was forgotten.

use munshi_erasure::{ErasureService, ErasureState, rows};
use munshi_identity::persons;
use munshi_store::{Db, Error, PageRequest, SealedBy, Tx, params};
use munshi_test_support::{memory_keyring, on_both_engines};
use munshi_types::DataKeyId;

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

        let service = ErasureService { db: db.clone(), ..shop.service() };
        service.replay().await.unwrap();
        let after = tokio::task::spawn_blocking(seal).await.unwrap();
        assert!(matches!(after, Err(Error::Forgotten(_))), "{after:?}");
    }

    async fn receipts_are_listed_newest_first(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        let page = test.db.read(shop.tenant, |tx| rows::list(tx, &PageRequest::new(None, 5))).await.unwrap();
        assert_eq!(page.items.iter().map(|erasure| (erasure.id, erasure.state())).collect::<Vec<_>>(), [(id, ErasureState::Begun)]);
    }
}
