//! Lists of many people after a restart: how often the store of keys is asked for theirs.

use munshi_identity::persons::{self, PersonFilter};
use munshi_identity::{ContactAddress, Person};
use munshi_store::{Db, PageRequest, Result, StoreOptions};
use munshi_test_support::memory_keys::bounded_keyring;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, PersonId, TenantId};

const PEOPLE: usize = 1000;

/// Each with a name and a phone.
async fn add_people(test: &TestDb, shop: TenantId) -> Vec<PersonId> {
    let (ids, now) = (test.ids.clone(), test.clock.now());
    let add = move |tx: &mut munshi_store::Tx<'_>| -> Result<Vec<PersonId>> {
        (0..PEOPLE)
            .map(|number| {
                let person = Person::new(&ids, format!("Customer {number}"), now);
                persons::upsert(tx, &person)?;
                let phone = ContactAddress::phone(&format!("98{number:08}")).unwrap();
                persons::add_address(tx, person.id, &phone)?;
                Ok(person.id)
            })
            .collect()
    };
    test.db.write(shop, add).await.unwrap()
}

/// A process that starts now and keeps so many keys in memory, and how often it has asked for some.
async fn restart(test: &TestDb, most: usize) -> (Db, impl Fn() -> u64) {
    let keyring = bounded_keyring(test.ids.clone(), most);
    let options = StoreOptions { keyring: Some(keyring.clone()), ..test.options.clone() };
    (Db::open(&test.address, &options, &test.migrations).await.unwrap(), move || keyring.misses())
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn a_list_of_many_asks_for_all_their_keys_at_once(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let people = add_people(&test, shop).await;
        // What either wrote stays under the key that it names.
        let (gone, stays) = (people[0], people[1]);
        test.db.write(shop, move |tx| persons::merge(tx, gone, stays)).await.unwrap();
        // With less room than the list needs, it goes through it part by part, and asks for no key twice.
        // Once more where those who became one are in two parts.
        for (most, requests) in [(20_000, 1..=1), (100, 20..=21)] {
            let (db, requests_made) = restart(&test, most).await;
            let found = db.read(shop, persons::list_contacts).await.unwrap();
            assert_eq!(found.len(), PEOPLE - 1);
            assert!(found.iter().all(|one| one.name.starts_with("Customer ")));
            let addresses: usize = found.iter().map(|one| one.addresses.len()).sum();
            assert_eq!(addresses, PEOPLE);
            assert!(requests.contains(&requests_made()), "{} with room for {most}", requests_made());
        }
        let (db, requests_made) = restart(&test, 20_000).await;
        let page = |tx: &mut munshi_store::Tx<'_>| persons::list(tx, PersonFilter::Here, &PageRequest::new(None, 100));
        let page = db.read(shop, page).await.unwrap().items;
        assert!(page.iter().all(|person| person.name.starts_with("Customer ")));
        assert_eq!((page.len(), requests_made()), (100, 1));
        db.read(shop, persons::list_contacts).await.unwrap();
        db.read(shop, persons::list_contacts).await.unwrap();
        assert_eq!(requests_made(), 2, "only what was not known is asked for, and once");
    }
}
