//! Whoever is forgotten is nobody from then on, whatever comes for them.

use munshi_identity::codes::{self, CodeKey, CodePurpose, CodeRequest};
use munshi_identity::persons::{add_address, detach, find_by_address, find_living, list_by_name, lock_group};
use munshi_identity::{ContactAddress, MergeObstacle, Person, Role, persons};
use munshi_store::{Error, Result, Tx, params};
use munshi_test_support::{DatabaseEngine, TestDb, UnitHold, on_both_engines};
use munshi_types::{Clock, Id, PersonId, SystemRandom, TenantId};

async fn add(test: &TestDb, shop: TenantId, person: &Person, addresses: &[&ContactAddress]) -> PersonId {
    let (person, id) = (person.clone(), person.id);
    let addresses: Vec<ContactAddress> = addresses.iter().map(|address| (*address).clone()).collect();
    let unit = move |tx: &mut Tx<'_>| -> Result<()> {
        persons::upsert(tx, &person)?;
        addresses.iter().try_for_each(|address| add_address(tx, id, address))
    };
    test.db.write(shop, unit).await.unwrap();
    id
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn nothing_makes_somebody_of_a_forgotten_row(test: TestDb) {
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let (phone, mail) =
            (ContactAddress::phone("9812345678").unwrap(), ContactAddress::email("meera@shop.example").unwrap());
        let meera = Person::new(&test.ids, "Meera", now);
        let nameless = Person::new(&test.ids, "", now);
        let gone = add(&test, shop, &meera, &[&phone]).await;
        let unknown = add(&test, shop, &nameless, &[]).await;
        let raju = add(&test, shop, &Person::new(&test.ids, "Raju", now), &[]).await;
        test.db.write(shop, move |tx| -> Result<()> {
            for person in [gone, unknown] {
                lock_group(tx, person)?;
                detach(tx, person, now)?;
            }
            Ok(())
        }).await.unwrap();

        let found = test.db.read(shop, move |tx| -> Result<_> {
            Ok((find_living(tx, gone)?, find_by_address(tx, &phone)?, list_by_name(tx, "Meera")?, persons::is_forgotten(tx, gone)?))
        }).await.unwrap();
        assert_eq!(found, (None, None, Vec::new(), true));

        let tied = test.db.write(shop, move |tx| add_address(tx, gone, &mail)).await;
        assert!(matches!(tied, Err(Error::Refused(_))), "{tied:?}");
        for (from, into) in [(gone, raju), (raju, gone)] {
            let merged = test.db.write(shop, move |tx| persons::merge(tx, from, into)).await;
            let refused = munshi_identity::Error::Unmergeable(MergeObstacle::Forgotten);
            assert_eq!(merged.unwrap_err().to_string(), refused.to_string());
        }
        let risen = Person { role: Some(Role::Owner), ..meera };
        let risen = test.db.write(shop, move |tx| persons::upsert(tx, &risen)).await;
        assert!(matches!(risen, Err(Error::Refused(_))), "{risen:?}");
        let sealed = test.db.write(shop, move |tx| persons::seal_by_person(tx, unknown)).await;
        assert!(matches!(sealed, Err(Error::Refused(_))), "{sealed:?}");
    }

    async fn of_somebody_who_never_said_a_name_nothing_is_left_either(test: TestDb) {
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let visitor = Person {
            language: Some("hi".parse().unwrap()),
            opened: vec!["books.*".parse().unwrap()],
            closed: vec!["stock.*".parse().unwrap()],
            visitor: true,
            ..Person::new(&test.ids, "", now)
        };
        let (gone, bare) = (visitor.id, Person { visitor: true, ..Person::new(&test.ids, "", now) });
        let nobody = add(&test, shop, &bare, &[]).await;
        add(&test, shop, &visitor, &[]).await;
        let erased = test.db.write(shop, move |tx| -> Result<u64> {
            for person in [gone, nobody] {
                detach(tx, person, now)?;
            }
            (persons::PERSONAL_DATA[0].erase)(tx, &[gone.as_uuid(), nobody.as_uuid()])
        }).await.unwrap();
        assert_eq!(erased, 1, "of the other nothing was known");
        let left = test.db.read(shop, move |tx| persons::find(tx, gone)).await.unwrap().unwrap();
        assert_eq!((left.language, left.opened, left.closed), (None, Vec::new(), Vec::new()));
    }

    async fn an_address_that_was_left_over_leads_nowhere(test: TestDb) {
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let phone = ContactAddress::phone("9812345678").unwrap();
        let gone = add(&test, shop, &Person::new(&test.ids, "Meera", now), &[&phone]).await;
        let mark = "UPDATE persons SET forgotten_at = $3 WHERE tenant_id = $1 AND id = $2";
        test.db.write(shop, move |tx| tx.execute(mark, params![gone, now])).await.unwrap();
        let found = test.db.read(shop, move |tx| find_by_address(tx, &phone)).await.unwrap();
        assert_eq!(found, None);
    }

    async fn an_address_that_is_tied_at_the_same_moment_goes_too(test: TestDb) {
        // SQLite has one writer: neither meets the other.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let mail = ContactAddress::email("meera@shop.example").unwrap();
        let gone = add(&test, shop, &Person::new(&test.ids, "Meera", now), &[]).await;
        let hold = UnitHold::default();
        let held = hold.clone();
        // A node lets the units of a tenant follow each other.
        let second = test.open_again().await;
        let tying = second.write(shop, move |tx| -> Result<()> {
            add_address(tx, gone, &mail)?;
            held.wait();
            Ok(())
        });
        let forgetting = hold.run_against(&test, test.db.write(shop, move |tx| -> Result<()> {
            lock_group(tx, gone)?;
            detach(tx, gone, now)
        }));
        let (tied, forgotten) = tokio::join!(tying, forgetting);
        assert!(tied.is_ok() && forgotten.is_ok(), "{tied:?} {forgotten:?}");
        let left = test.db.read(shop, move |tx| persons::list_addresses(tx, gone)).await.unwrap();
        assert_eq!(left, []);
    }

    async fn who_is_written_for_at_the_same_moment_is_forgotten_behind_it(test: TestDb) {
        // SQLite has one writer: neither meets the other.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        type Look = fn(&mut Tx<'_>, PersonId, &ContactAddress) -> Result<()>;
        let looks: [Look; 3] = [
            |tx, _, phone| persons::lock_by_address(tx, phone).map(|found| assert!(found.is_some())),
            |tx, person, _| persons::lock_living(tx, person).map(|found| assert!(found.is_some())),
            |tx, person, _| persons::check_not_forgotten(tx, person),
        ];
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let second = test.open_again().await;
        for (at, look) in looks.into_iter().enumerate() {
            let phone = ContactAddress::phone(&format!("981234567{at}")).unwrap();
            let gone = add(&test, shop, &Person::new(&test.ids, "Meera", now), &[&phone]).await;
            let hold = UnitHold::default();
            let held = hold.clone();
            let writing = second.write(shop, move |tx| -> Result<bool> {
                look(tx, gone, &phone)?;
                held.wait();
                persons::is_forgotten(tx, gone)
            });
            let forgetting = hold.run_against(&test, test.db.write(shop, move |tx| -> Result<()> {
                lock_group(tx, gone)?;
                detach(tx, gone, now)
            }));
            let (seen, forgotten) = tokio::join!(writing, forgetting);
            assert!(!seen.unwrap() && forgotten.is_ok(), "{at}: {forgotten:?}");
            let late = test.db.write(shop, move |tx| persons::check_not_forgotten(tx, gone)).await;
            assert!(matches!(late, Err(Error::Refused(_))), "{late:?}");
        }
    }

    async fn codes_that_were_sent_to_them_go(test: TestDb) {
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let (own, typed) = (ContactAddress::phone("9812345678").unwrap(), ContactAddress::phone("9812345679").unwrap());
        let gone = add(&test, shop, &Person::new(&test.ids, "Meera", now), &[&own]).await;
        let ids = test.ids.clone();
        test.db.write(shop, move |tx| -> munshi_identity::Result<()> {
            for (asker, address) in [("s1", own), ("s2", typed)] {
                let wish = CodeRequest { purpose: CodePurpose::Link, asker: asker.to_owned(), address };
                codes::request(tx, &CodeKey::new(&[7; 32]), &ids, &SystemRandom, &wish, now)?;
            }
            detach(tx, gone, now)?;
            codes::delete_of_asker(tx, "s2")?;
            Ok(())
        }).await.unwrap();
        let left: (i64, i64) = test.db.read(shop, |tx| -> Result<_> {
            let codes = tx.one("SELECT count(*) FROM one_time_codes WHERE tenant_id = $1", &[], |row| row.get(0))?;
            Ok((codes, tx.one("SELECT count(*) FROM code_turns WHERE tenant_id = $1", &[], |row| row.get(0))?))
        }).await.unwrap();
        assert_eq!(left, (0, 1), "of the other conversation it is known that it asked");
    }
}
