//! Two rows that turn out to be one person.

use std::collections::BTreeSet;

use munshi_identity::persons::{PersonFilter, PersonMerge, find_or_add, merge};
use munshi_identity::{ContactAddress, Error, MergeObstacle, Person, Role, persons};
use munshi_store::{PageRequest, Result};
use munshi_test_support::{DatabaseEngine, TestDb, UnitHold, on_both_engines};
use munshi_types::{Clock, Language, PersonId, Random, SeededRandom, TenantId};
use tokio::task::JoinSet;

async fn add(test: &TestDb, tenant: TenantId, person: Person, addresses: &[ContactAddress]) -> PersonId {
    let (id, addresses) = (person.id, addresses.to_vec());
    let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<()> {
        persons::upsert(tx, &person)?;
        addresses.iter().try_for_each(|address| persons::add_address(tx, id, address))
    };
    test.db.write(tenant, unit).await.unwrap();
    id
}

fn someone(test: &TestDb, name: &str) -> Person {
    Person::new(&test.ids, name, test.clock.now())
}

async fn joined(
    test: &TestDb,
    tenant: TenantId,
    from: PersonId,
    into: PersonId,
) -> Result<PersonMerge, Error> {
    test.db.write(tenant, move |tx| merge(tx, from, into)).await
}

async fn living(test: &TestDb, tenant: TenantId, id: PersonId) -> Person {
    test.db.read(tenant, move |tx| persons::find_living(tx, id)).await.unwrap().unwrap()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn a_visitor_becomes_who_has_the_phone(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let (browser, phone) = (ContactAddress::visitor("b1").unwrap(), ContactAddress::phone("9812345678").unwrap());
        let closed = vec!["ledger.*".parse().unwrap()];
        let opened = vec!["crm.*".parse().unwrap()];
        let visitor = Person {
            visitor: true, language: Some(Language::Tamil), tags: vec!["fans".to_owned(), "north".to_owned()],
            closed: closed.clone(), opened, ..someone(&test, "Raju")
        };
        let known = Person { role: Some(Role::Staff), tags: vec!["north".to_owned()], ..someone(&test, "") };
        let visitor = add(&test, shop, visitor, std::slice::from_ref(&browser)).await;
        let known = add(&test, shop, known, &[phone]).await;

        let merged = joined(&test, shop, visitor, known).await.unwrap();
        assert!(merged.changed);
        assert_eq!((merged.from, &merged.moved[..]), (visitor, &[][..]), "a browser is not brought to a member");
        let now = living(&test, shop, visitor).await;
        assert_eq!(now, merged.into);
        assert_eq!((now.id, now.name.as_str(), now.language), (known, "Raju", Some(Language::Tamil)));
        assert_eq!((now.role, now.visitor), (Some(Role::Staff), false));
        assert_eq!((now.tags, now.closed, now.opened), (vec!["north".to_owned(), "fans".to_owned()], closed, Vec::new()));

        let again = joined(&test, shop, visitor, known).await.unwrap();
        assert!(!again.changed && again.moved.is_empty() && again.into.id == known);
        let (old, found, listed, addresses) = test.db.read(shop, move |tx| -> Result<_> {
            let old = persons::find(tx, visitor)?.unwrap();
            assert!(old.principal(tx).person.is_none(), "an old row does nothing");
            let listed = persons::list(tx, PersonFilter::Everybody, &PageRequest::new(None, 10))?.items.len();
            Ok((old, persons::find_by_address(tx, &browser)?, listed, persons::list_addresses(tx, known)?))
        }).await.unwrap();
        assert_eq!((old.merged_into, found, listed, addresses.len()), (Some(known), None, 1, 1));
        let risen = Person { role: Some(Role::Owner), ..old };
        let refused = test.db.write(shop, move |tx| persons::upsert(tx, &risen)).await;
        assert!(matches!(refused, Err(munshi_store::Error::Refused(_))), "{refused:?}");
        // An address that comes for the old id is the living one's.
        let mail = ContactAddress::email("raju@shop.example").unwrap();
        let late = mail.clone();
        test.db.write(shop, move |tx| persons::add_address(tx, visitor, &late)).await.unwrap();
        let found = test.db.read(shop, move |tx| persons::find_by_address(tx, &mail)).await.unwrap();
        assert_eq!(found.unwrap().id, known);
    }

    async fn no_role_rises_and_no_member_goes(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let visitor = add(&test, shop, Person { visitor: true, ..someone(&test, "Raju") }, &[]).await;
        let staff = add(&test, shop, Person { role: Some(Role::Staff), ..someone(&test, "Asha") }, &[]).await;
        let owner = add(&test, shop, Person { role: Some(Role::Owner), ..someone(&test, "Farid") }, &[]).await;
        let left = Person { left_at: Some(test.clock.now()), ..someone(&test, "Gone") };
        let left = add(&test, shop, left, &[]).await;
        let nobody: PersonId = test.ids.next();
        for (from, into, why) in [
            (staff, visitor, MergeObstacle::Member),
            (staff, owner, MergeObstacle::TwoMembers),
            (owner, staff, MergeObstacle::TwoMembers),
            (visitor, left, MergeObstacle::Left),
            (left, owner, MergeObstacle::Left),
        ] {
            let refused = joined(&test, shop, from, into).await;
            assert!(matches!(&refused, Err(Error::Unmergeable(found)) if *found == why), "{refused:?}");
        }
        for (from, into) in [(nobody, owner), (visitor, nobody)] {
            assert!(matches!(joined(&test, shop, from, into).await, Err(Error::NoPerson(id)) if id == nobody));
        }
        let clinic = test.add_tenant("clinic").await;
        assert!(matches!(joined(&test, clinic, visitor, owner).await, Err(Error::NoPerson(_))), "another tenant's");
        assert_eq!(living(&test, shop, visitor).await.merged_into, None);
    }

    async fn merges_in_any_order_at_once_lead_everybody_to_one_end(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let second = test.open_again().await;
        for seed in 0..4 {
            let mut people = Vec::new();
            for number in 0..8 {
                let browser = ContactAddress::visitor(&format!("{seed}-{number}")).unwrap();
                people.push(add(&test, shop, Person { visitor: true, ..someone(&test, "") }, &[browser]).await);
            }
            let random = SeededRandom::new(seed);
            let pick = || people[usize::try_from(random.next_below(8)).unwrap()];
            let mut units = JoinSet::new();
            for number in 0..24 {
                let (from, into) = (pick(), pick());
                let db = if number % 2 == 0 { &test.db } else { &second }.clone();
                units.spawn(async move { db.write(shop, move |tx| merge(tx, from, into)).await.map(|_| (from, into)) });
                // Messages come meanwhile, through addresses that are moving.
                let (db, ids, now) = (test.db.clone(), test.ids.clone(), test.clock.now());
                let browser = ContactAddress::visitor(&format!("{seed}-{}", number % 8)).unwrap();
                let one = people[0];
                units.spawn(async move {
                    let phone = ContactAddress::phone(&format!("98{seed}{number:07}")).unwrap();
                    let met = db.write(shop, move |tx| find_or_add(tx, &ids, &[browser, phone], "", now)).await?;
                    assert!(!met.is_new && met.person.merged_into.is_none(), "{met:?}");
                    Ok((one, one))
                });
            }
            let pairs: Vec<_> = units.join_all().await.into_iter().map(|done: Result<_, Error>| done.unwrap()).collect();
            let ends = test.db.read(shop, move |tx| -> Result<_> {
                let mut ends = Vec::new();
                for (from, into) in pairs {
                    let (from, into) = (persons::find_living(tx, from)?.unwrap(), persons::find_living(tx, into)?.unwrap());
                    assert_eq!(from.id, into.id);
                }
                for person in people {
                    let row = persons::find(tx, person)?.unwrap();
                    let end = persons::find_living(tx, person)?.unwrap();
                    assert!(end.merged_into.is_none());
                    assert_eq!(row.merged_into.unwrap_or(row.id), end.id, "in one step");
                    assert_eq!(row.merged_into.is_some(), persons::list_addresses(tx, row.id)?.is_empty());
                    ends.push(end.id);
                }
                Ok(ends)
            }).await.unwrap();
            let ends: BTreeSet<PersonId> = ends.into_iter().collect();
            assert!((1..8).contains(&ends.len()), "{ends:?}");
        }
    }

    async fn a_role_given_while_a_browser_is_brought_in_leaves_no_browser(test: TestDb) {
        // SQLite has one writer: neither meets the other.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let shop = test.add_tenant("shop").await;
        let (browser, phone) = (ContactAddress::visitor("b1").unwrap(), ContactAddress::phone("9812345678").unwrap());
        let visitor = add(&test, shop, Person { visitor: true, ..someone(&test, "") }, &[browser]).await;
        let meera = someone(&test, "Meera");
        let known = add(&test, shop, meera.clone(), std::slice::from_ref(&phone)).await;
        let hold = UnitHold::default();
        let held = hold.clone();
        // A node lets the units of a tenant follow each other.
        let second = test.open_again().await;
        let merging = second.write(shop, move |tx| {
            let merged = merge(tx, visitor, known)?;
            held.wait();
            Ok::<_, Error>(merged)
        });
        let staff = Person { role: Some(Role::Staff), ..meera };
        let rising = hold.run_against(&test, test.db.write(shop, move |tx| persons::upsert(tx, &staff)));
        let (merged, risen) = tokio::join!(merging, rising);
        assert!(merged.unwrap().changed && risen.is_ok(), "{risen:?}");
        assert_eq!(living(&test, shop, known).await.role, Some(Role::Staff));
        assert_eq!(test.db.read(shop, move |tx| persons::list_addresses(tx, known)).await.unwrap(), [phone]);
    }

    async fn a_role_and_a_merge_at_once_do_not_wait_for_each_other(test: TestDb) {
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let shop = test.add_tenant("shop").await;
        let browser = ContactAddress::visitor("b1").unwrap();
        let visitor = Person { visitor: true, ..someone(&test, "") };
        // A merge takes the rows in the order of their ids, and those of one moment have none.
        test.clock.advance(std::time::Duration::from_millis(5));
        let known = add(&test, shop, someone(&test, "Meera"), &[ContactAddress::phone("9812345678").unwrap()]).await;
        let from = add(&test, shop, visitor.clone(), &[browser]).await;
        let hold = UnitHold::default();
        let held = hold.clone();
        // The merge has the visitor's row and waits for the other, while the visitor is given a role.
        let (second, third) = (test.open_again().await, test.open_again().await);
        let busy = second.write(shop, move |tx| -> Result<()> {
            persons::lock_living(tx, known)?;
            held.wait();
            Ok(())
        });
        let merging = async {
            hold.reached().await;
            joined(&test, shop, from, known).await
        };
        let rising = async {
            test.until_units_wait(1).await;
            let staff = Person { role: Some(Role::Staff), ..visitor };
            third.write(shop, move |tx| persons::upsert(tx, &staff)).await
        };
        let releasing = async {
            test.until_units_wait(2).await;
            hold.release();
        };
        let (busy, merged, risen, ()) = tokio::join!(busy, merging, rising, releasing);
        assert!(busy.is_ok() && merged.unwrap().changed);
        assert!(matches!(risen, Err(munshi_store::Error::Refused(_))), "they are somebody else by now: {risen:?}");
        assert_eq!(living(&test, shop, from).await.id, known);
    }
}
