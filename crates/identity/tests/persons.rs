//! People and how they are reached, on both engines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use munshi_identity::{Address, Person, Role, Standing, persons};
use munshi_store::{Error, Result};
use munshi_test_support::on_both_engines;
use munshi_types::{Clock, Ids, Language};

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn a_number_is_one_persons_within_a_tenant_and_anothers_in_the_next(test: TestDb) {
        let (shop, clinic) = (test.tenant("shop").await, test.tenant("clinic").await);
        let (ids, now) = (Ids::system(), test.clock.now());
        let phone = Address::phone("98123 45678").unwrap();
        for tenant in [shop, clinic] {
            let (person, phone) = (Person::new(&ids, "Raju", now), phone.clone());
            test.db.write(tenant, move |tx| -> Result<()> {
                persons::put(tx, &person)?;
                persons::add_address(tx, person.id, &phone)?;
                persons::add_address(tx, person.id, &phone)
            }).await.unwrap();
        }
        let (other, same) = (Person::new(&ids, "Danish", now), phone.clone());
        let taken: Result<()> = test.db.write(shop, move |tx| {
            persons::put(tx, &other)?;
            persons::add_address(tx, other.id, &same)
        }).await;
        assert!(matches!(taken, Err(Error::Conflict { .. })), "{taken:?}");
        let found = test.db.read(shop, move |tx| persons::by_address(tx, &phone)).await.unwrap().unwrap();
        assert_eq!(found.name, "Raju");
    }

    async fn members_come_highest_first_and_who_left_is_nobody(test: TestDb) {
        let shop = test.tenant("shop").await;
        let (ids, now) = (Ids::system(), test.clock.now());
        let people = [("Asha", Some(Role::Staff)), ("Farid", Some(Role::Owner)), ("Customer", None), ("Gone", Some(Role::Admin))];
        for (name, role) in people {
            let mut person = Person { role, language: Some(Language::Tamil), ..Person::new(&ids, name, now) };
            person.left_at = (name == "Gone").then_some(now);
            test.db.write(shop, move |tx| persons::put(tx, &person)).await.unwrap();
        }
        let members = test.db.read(shop, persons::members).await.unwrap();
        let names: Vec<_> = members.iter().map(|person| person.name.as_str()).collect();
        assert_eq!(names, ["Farid", "Asha"]);
        assert_eq!(members[0].language, Some(Language::Tamil));
        let mut gone = members[1].clone();
        gone.left_at = Some(now);
        let (asha, gone) = test.db.read(shop, move |tx| -> Result<_> {
            Ok((members[1].principal(tx), gone.principal(tx)))
        }).await.unwrap();
        assert_eq!(asha.standing, Standing::Member(Role::Staff));
        assert_eq!((gone.standing, gone.person), (Standing::Anonymous, None));
    }
}
