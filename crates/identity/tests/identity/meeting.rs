//! Somebody who writes to us is found or added, once.

use munshi_identity::persons::{PersonMatch, find_or_add};
use munshi_identity::{ContactAddress, Person, PrincipalStanding, Role, persons};
use munshi_store::{PageRequest, Result};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, TenantId};
use tokio::task::JoinSet;

fn phone(number: u32) -> ContactAddress {
    ContactAddress::phone(&format!("98123{number:05}")).unwrap()
}

async fn meet(test: &TestDb, tenant: TenantId, addresses: &[ContactAddress], name: &str) -> PersonMatch {
    let (ids, now) = (test.ids.clone(), test.clock.now());
    let (addresses, name) = (addresses.to_vec(), name.to_owned());
    test.db.write(tenant, move |tx| find_or_add(tx, &ids, &addresses, &name, now)).await.unwrap()
}

async fn everybody(test: &TestDb, tenant: TenantId) -> Vec<Person> {
    let request = PageRequest::new(None, 500);
    let unit =
        move |tx: &mut munshi_store::Tx<'_>| persons::list(tx, persons::PersonFilter::Everybody, &request);
    test.db.read(tenant, unit).await.unwrap().items
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn messages_from_a_new_number_at_once_make_one_person(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let second = test.open_again().await;
        for round in 0..10 {
            let mut units = JoinSet::new();
            for number in 0..8_usize {
                let db = if number % 2 == 0 { &test.db } else { &second }.clone();
                let (ids, now) = (test.ids.clone(), test.clock.now());
                let mut addresses = vec![phone(round), ContactAddress::channel("whatsapp", &round.to_string()).unwrap()];
                if number % 3 == 0 {
                    addresses.reverse();
                }
                units.spawn(async move {
                    // What the unit wrote before it met them must survive.
                    db.write(shop, move |tx| -> Result<PersonMatch> {
                        persons::upsert(tx, &Person::new(&ids, format!("note {round} {number}"), now))?;
                        find_or_add(tx, &ids, &addresses, "Raju", now)
                    }).await.unwrap()
                });
            }
            let met = units.join_all().await;
            assert!(met.iter().all(|one| one.person == met[0].person && one.others.is_empty()), "{met:?}");
            assert_eq!(met.iter().filter(|one| one.is_new).count(), 1, "round {round}");
        }
        let all = everybody(&test, shop).await;
        assert_eq!(all.iter().filter(|person| person.name == "Raju").count(), 10);
        assert_eq!(all.len(), 10 + 80, "no unit was undone");
    }

    async fn an_address_that_is_known_decides_and_new_ones_come_along(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let raju = meet(&test, shop, &[phone(1)], "").await;
        assert!(raju.is_new && !raju.person.visitor && raju.person.name.is_empty());
        let mail = ContactAddress::email("raju@shop.example").unwrap();
        let again = meet(&test, shop, &[mail.clone(), phone(1)], " Raju\u{202e} ").await;
        assert!(!again.is_new && again.person.id == raju.person.id);
        assert_eq!(again.person.name, "Raju", "the gap was filled");
        let other = meet(&test, shop, std::slice::from_ref(&mail), "Rajesh").await;
        assert_eq!((other.person.id, other.person.name.as_str()), (raju.person.id, "Raju"), "and stays");
        let meera = meet(&test, shop, &[phone(2)], "Meera").await;
        let both = meet(&test, shop, &[phone(2), mail.clone(), phone(3)], "").await;
        assert_eq!((both.person.id, both.others), (meera.person.id, vec![(mail, raju.person.id)]));
        assert_eq!(meet(&test, shop, &[phone(3)], "").await.person.id, meera.person.id);
        let clinic = test.add_tenant("clinic").await;
        assert!(meet(&test, clinic, &[phone(1)], "").await.is_new, "another tenant knows nobody");
    }

    async fn a_visitor_is_anonymous_until_an_address_is_proved(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let browser = ContactAddress::visitor("k3jd9s8f7").unwrap();
        let first = meet(&test, shop, std::slice::from_ref(&browser), "").await;
        assert!(first.is_new && first.person.visitor);
        let again = meet(&test, shop, std::slice::from_ref(&browser), "").await;
        assert_eq!((again.is_new, again.person.id), (false, first.person.id));
        let nameless = [meet(&test, shop, &[], "").await, meet(&test, shop, &[], "").await];
        assert!(nameless.iter().all(|met| met.is_new && met.person.visitor));
        assert_ne!(nameless[0].person.id, nameless[1].person.id);
        let id = first.person.id;
        let standing = |person: Person| test.db.read(shop, move |tx| -> Result<_> { Ok(person.principal(tx)) });
        let principal = standing(first.person).await.unwrap();
        assert_eq!((principal.standing, principal.person), (PrincipalStanding::Anonymous, Some(id)));
        test.db.write(shop, move |tx| persons::add_address(tx, id, &phone(9))).await.unwrap();
        let known = meet(&test, shop, &[browser], "").await.person;
        assert_eq!(standing(known).await.unwrap().standing, PrincipalStanding::Known);
        let staff = Person { role: Some(Role::Staff), visitor: true, ..Person::new(&test.ids, "Asha", test.clock.now()) };
        assert_eq!(standing(staff).await.unwrap().standing, PrincipalStanding::Member(Role::Staff));
    }
}
