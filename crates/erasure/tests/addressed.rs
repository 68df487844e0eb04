//! What is known by addresses alone is forgotten while they are known.

use std::sync::{Arc, Mutex};

use munshi_erasure::{AddressedRecords, ErasureRequest, ErasureService, Result, begin};
use munshi_identity::{ContactAddress, persons};
use munshi_store::Tx;
use munshi_test_support::{administer, on_both_engines};
use munshi_types::Timestamp;

use crate::support::{PHONE, Shop, migrations};

/// Remembers what it was asked to forget.
#[derive(Default)]
struct AddressBook(Mutex<Vec<ContactAddress>>);

impl AddressedRecords for AddressBook {
    fn name(&self) -> &'static str {
        "visiting cards"
    }

    fn forget(&self, _: &mut Tx<'_>, addresses: &[ContactAddress], _: Timestamp) -> Result<u64> {
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
        let (id, now) = (shop.app.ids.next(), shop.app.clock.now());
        let request = ErasureRequest {
            id,
            person: Some(shop.person),
            records: std::collections::BTreeMap::new(),
            asked_by: "a test".to_owned(),
        };
        let ask = move |tx: &mut Tx<'_>| administer(tx, |tx| begin(tx, &service, request, now));
        let erasure = test.db.write(shop.tenant, ask).await.unwrap();
        let forgotten = book.0.lock().unwrap().clone();
        let phone = ContactAddress::phone(PHONE).unwrap();
        assert!(forgotten.contains(&phone), "hers, and of whoever turned out to be her: {}", forgotten.len());
        assert_eq!(erasure.counts.get("visiting cards"), Some(&(forgotten.len() as u64)));
        let person = shop.person;
        let left = test.db.read(shop.tenant, move |tx: &mut Tx<'_>| persons::list_addresses(tx, person));
        assert!(left.await.unwrap().is_empty());
    }
}
