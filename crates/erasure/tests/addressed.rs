//! What is known by addresses alone is forgotten while they are known.

use std::sync::{Arc, Mutex};

use munshi_erasure::{AddressedRecords, Erasure, ErasureRequest, ErasureService, Result, begin, rows};
use munshi_identity::ContactAddress;
use munshi_identity::persons::{self, AddressHash};
use munshi_store::{Tx, params};
use munshi_test_support::{administer, on_both_engines};
use munshi_types::{PersonId, Timestamp};

use crate::support::{PHONE, Shop, migrations};

/// Remembers what it was asked to forget.
#[derive(Default)]
struct AddressBook(Mutex<Vec<AddressHash>>);

impl AddressedRecords for AddressBook {
    fn name(&self) -> &'static str {
        "visiting cards"
    }

    fn forget(&self, _: &mut Tx<'_>, addresses: &[AddressHash], _: Timestamp) -> Result<u64> {
        self.0.lock().unwrap().extend_from_slice(addresses);
        Ok(addresses.len() as u64)
    }
}

on_both_engines! {
    with all migrations();

    async fn what_is_known_by_addresses_is_forgotten_with_them(test: TestDb) {
        let shop = Shop::open(&test).await;
        let book = Arc::new(AddressBook::default());
        let service = ErasureService { addressed: vec![book.clone()], ..shop.service() };
        let erasure = begin_with(&shop, &service).await;
        let forgotten = book.0.lock().unwrap().clone();
        let phone = hash_phone(&shop).await;
        assert!(forgotten.contains(&phone), "hers, and of whoever turned out to be her: {}", forgotten.len());
        assert_eq!(erasure.counts.get("visiting cards"), Some(&(forgotten.len() as u64)));
        let person = shop.person;
        let left = test.db.read(shop.tenant, move |tx: &mut Tx<'_>| persons::list_addresses(tx, person));
        assert!(left.await.unwrap().is_empty());
    }

    async fn an_older_copy_forgets_it_though_no_address_opens(test: TestDb) {
        let shop = Shop::open(&test).await;
        let copied = copy_addresses(&shop).await;
        assert!(copied.len() >= 2, "hers, and of whoever turned out to be her: {}", copied.len());
        let id = shop.begin().await;
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        put_back(&shop, copied.clone()).await;

        let book = Arc::new(AddressBook::default());
        let service = ErasureService { addressed: vec![book.clone()], ..shop.service() };
        assert_eq!(service.replay().await.unwrap(), 1);
        let forgotten = book.0.lock().unwrap().clone();
        assert!(forgotten.contains(&hash_phone(&shop).await), "by what it is found by, unopened");
        assert_eq!(forgotten.len(), copied.len());
        let again = test.db.read(shop.tenant, move |tx| rows::find(tx, id)).await.unwrap().unwrap();
        assert_eq!(again.counts.get("visiting cards"), Some(&(forgotten.len() as u64)), "{:?}", again.counts);
    }
}

async fn begin_with(shop: &Shop, service: &ErasureService) -> Erasure {
    let (id, now, service) = (shop.app.ids.next(), shop.app.clock.now(), service.clone());
    let records = std::collections::BTreeMap::new();
    let request = ErasureRequest { id, person: Some(shop.person), records, asked_by: "a test".to_owned() };
    let ask = move |tx: &mut Tx<'_>| administer(tx, |tx| begin(tx, &service, request, now));
    shop.app.db.write(shop.tenant, ask).await.unwrap()
}

async fn hash_phone(shop: &Shop) -> AddressHash {
    let phone = ContactAddress::phone(PHONE).unwrap();
    let hash = move |tx: &mut Tx<'_>| persons::hash_address(tx, &phone);
    shop.app.db.read(shop.tenant, hash).await.unwrap()
}

/// A row as a copy has it: whose, its kind, what it is found by, and its sealed form.
type CopiedAddress = (PersonId, String, String, String);

async fn copy_addresses(shop: &Shop) -> Vec<CopiedAddress> {
    let (person, merged) = (shop.person, shop.merged);
    let read = move |tx: &mut Tx<'_>| {
        let text = "SELECT person_id, kind, address, shown FROM person_addresses
                    WHERE tenant_id = $1 AND person_id IN ($2, $3) ORDER BY address";
        tx.all(text, params![person, merged], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
    };
    shop.app.db.read(shop.tenant, read).await.unwrap()
}

/// As a copy from before has it: nothing of the erasure, and how she was reached.
async fn put_back(shop: &Shop, copied: Vec<CopiedAddress>) {
    let write = move |tx: &mut Tx<'_>| {
        tx.execute("DELETE FROM erasures WHERE tenant_id = $1", params![])?;
        tx.execute("UPDATE persons SET forgotten_at = NULL WHERE tenant_id = $1", params![])?;
        for (person, kind, address, shown) in copied {
            tx.execute(
                "INSERT INTO person_addresses (tenant_id, person_id, kind, address, shown) VALUES ($1, $2, $3, $4, $5)",
                params![person, kind, address, shown],
            )?;
        }
        Ok::<_, munshi_store::Error>(())
    };
    shop.app.db.write(shop.tenant, write).await.unwrap();
}
