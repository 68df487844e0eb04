//! People and how they are reached, on both engines.

use munshi_identity::persons::PersonFilter;
use munshi_identity::{ContactAddress, Person, PrincipalStanding, Role, persons};
use munshi_store::{Error, PageRequest, Result, Tx, is_sealed, params};
use munshi_test_support::on_both_engines;
use munshi_types::{Clock, IdGenerator, Language, PersonId};

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn a_number_is_one_persons_within_a_tenant_and_anothers_in_the_next(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let (ids, now) = (IdGenerator::system(), test.clock.now());
        let phone = ContactAddress::phone("98123 45678").unwrap();
        for tenant in [shop, clinic] {
            let (person, phone) = (Person::new(&ids, "Raju", now), phone.clone());
            test.db.write(tenant, move |tx| -> Result<()> {
                persons::upsert(tx, &person)?;
                persons::add_address(tx, person.id, &phone)?;
                persons::add_address(tx, person.id, &phone)
            }).await.unwrap();
        }
        let (other, same) = (Person::new(&ids, "Danish", now), phone.clone());
        let taken: Result<()> = test.db.write(shop, move |tx| {
            persons::upsert(tx, &other)?;
            persons::add_address(tx, other.id, &same)
        }).await;
        assert!(matches!(taken, Err(Error::Conflict { .. })), "{taken:?}");
        let found = test.db.read(shop, move |tx| persons::find_by_address(tx, &phone)).await.unwrap().unwrap();
        assert_eq!(found.name, "Raju");
    }

    async fn members_come_highest_first_and_who_left_is_nobody(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let (ids, now) = (IdGenerator::system(), test.clock.now());
        let people = [("Asha", Some(Role::Staff)), ("Farid", Some(Role::Owner)), ("Customer", None), ("Gone", Some(Role::Admin))];
        for (name, role) in people {
            let mut person = Person { role, language: Some(Language::Tamil), ..Person::new(&ids, name, now) };
            person.left_at = (name == "Gone").then_some(now);
            test.db.write(shop, move |tx| persons::upsert(tx, &person)).await.unwrap();
        }
        let members = test.db.read(shop, persons::list_members).await.unwrap();
        let names: Vec<_> = members.iter().map(|person| person.name.as_str()).collect();
        assert_eq!(names, ["Farid", "Asha"]);
        assert_eq!(members[0].language, Some(Language::Tamil));
        let mut gone = members[1].clone();
        gone.left_at = Some(now);
        let (asha, gone) = test.db.read(shop, move |tx| -> Result<_> {
            Ok((members[1].principal(tx), gone.principal(tx)))
        }).await.unwrap();
        assert_eq!(asha.standing, PrincipalStanding::Member(Role::Staff));
        assert_eq!((gone.standing, gone.person), (PrincipalStanding::Anonymous, None));
    }

    async fn everybody_met_is_found_with_their_addresses(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let (ids, now) = (IdGenerator::system(), test.clock.now());
        let person = |at: u64, name: &str, role| {
            Person { role, ..Person::new(&ids, name, now.plus(std::time::Duration::from_secs(at))) }
        };
        let owner = person(1, "Farid", Some(Role::Owner));
        let gone = Person { left_at: Some(now), ..person(3, "Gone", Some(Role::Admin)) };
        let (writer, other) = (person(4, "Meera", None), person(5, "Customer", None));
        let nameless = Person { visitor: true, ..person(6, "", None) };
        let people = [owner.clone(), person(2, "Asha", Some(Role::Staff)), gone, writer.clone(), other, nameless.clone()];
        let (first, second) = (owner.id, writer.id);
        test.db.write(shop, move |tx| -> Result<()> {
            people.iter().try_for_each(|one| persons::upsert(tx, one))?;
            persons::add_address(tx, first, &ContactAddress::phone("9812345678").unwrap())?;
            persons::add_address(tx, first, &ContactAddress::email("farid@shop.example").unwrap())?;
            persons::add_address(tx, second, &ContactAddress::channel("telegram", "88123456").unwrap())
        }).await.unwrap();
        let found = test.db.read(shop, persons::list_contacts).await.unwrap();
        let all: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.addresses.len())).collect();
        let met = [("Farid", 2), ("Asha", 0), ("Gone", 0), ("Meera", 1), ("Customer", 0)];
        assert_eq!(all, met, "customers and who has left are hidden all the same");
        let one = |tenant, person| test.db.read(tenant, move |tx| persons::find_contacts(tx, person));
        assert_eq!(one(shop, second).await.unwrap().as_ref(), found.get(3));
        let visitor = one(shop, nameless.id).await.unwrap().unwrap();
        assert_eq!((visitor.name, visitor.addresses), (String::new(), vec![]), "in no list, and found all the same");
        assert_eq!(test.db.read(clinic, persons::list_contacts).await.unwrap(), [], "another tenant's people are nobody here");
        assert_eq!(one(clinic, second).await.unwrap(), None);
    }

    async fn every_change_of_people_is_counted_and_nothing_else(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let (ids, now) = (test.ids.clone(), test.clock.now());
        let count = |tenant| test.db.read(tenant, persons::load_change_number);
        assert_eq!(count(shop).await.unwrap(), 0);
        let asha = Person::new(&ids, "Asha", now);
        let renamed = Person { name: "Asha Rao".to_owned(), ..asha.clone() };
        let (id, phone) = (asha.id, ContactAddress::phone("9812345678").unwrap());
        let nameless = Person { visitor: true, ..Person::new(&ids, "", now) };
        let mut before = 0;
        type Act = Box<dyn Fn(&mut Tx<'_>) -> Result<()> + Send + Sync>;
        let acts: [(bool, Act); 4] = [
            (true, Box::new(move |tx| persons::upsert(tx, &asha))),
            (true, Box::new(move |tx| persons::upsert(tx, &renamed))),
            (true, Box::new(move |tx| persons::add_address(tx, id, &phone))),
            (false, Box::new(move |tx| persons::upsert(tx, &nameless))),
        ];
        for (at, (counts, act)) in acts.into_iter().enumerate() {
            test.db.write(shop, move |tx| act(tx)).await.unwrap();
            let after = count(shop).await.unwrap();
            assert_eq!(after > before, counts, "{at}: {before} to {after}");
            before = after;
        }
        let undone = Person::new(&ids, "Nobody", now);
        let undo = move |tx: &mut Tx<'_>| -> Result<()> {
            persons::upsert(tx, &undone)?;
            Err(Error::Decode("on purpose".to_owned()))
        };
        test.db.write(shop, undo).await.unwrap_err();
        assert_eq!((count(shop).await.unwrap(), count(clinic).await.unwrap()), (before, 0));
    }

    async fn nothing_of_a_person_stands_plain_and_they_are_found_all_the_same(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let (ids, now) = (IdGenerator::system(), test.clock.now());
        let phone = ContactAddress::phone("98123 45678").unwrap();
        let asha = Person { tags: vec!["vip of Indore".to_owned()], ..Person::new(&ids, "Asha Rao", now) };
        let (id, named, known) = (asha.id, asha.clone(), phone.clone());
        test.db.write(shop, move |tx| -> Result<()> {
            persons::upsert(tx, &named)?;
            persons::add_address(tx, named.id, &known)?;
            persons::add_address(tx, named.id, &ContactAddress::visitor("a-browser").unwrap())
        }).await.unwrap();
        let rows = test.db.read(shop, move |tx| tx.all(
            "SELECT p.name, p.tags, a.address, a.shown FROM persons p
             JOIN person_addresses a ON a.tenant_id = $1 AND a.person_id = p.id WHERE p.tenant_id = $1 AND p.id = $2",
            params![id],
            |row| Ok([row.get::<String>(0)?, row.get::<munshi_store::JsonText>(1)?.as_str().to_owned(), row.get(2)?, row.get(3)?]),
        )).await.unwrap();
        assert_eq!(rows.len(), 2);
        for [name, tags, address, shown] in rows {
            assert!([&name, &tags, &shown].iter().all(|text| is_sealed(text)), "{name} {tags} {shown}");
            assert!(address.starts_with("hashed:1:"), "{address}");
        }
        let (found, named, addresses) = test.db.read(shop, move |tx| -> Result<_> {
            Ok((persons::find_by_address(tx, &phone)?, persons::list_by_name(tx, "Asha Rao")?, persons::list_addresses(tx, id)?))
        }).await.unwrap();
        assert_eq!((found.as_ref(), named.first()), (Some(&asha), Some(&asha)));
        assert_eq!(addresses.iter().map(ContactAddress::as_str).collect::<Vec<_>>(), ["+919812345678", "web:a-browser"]);
        // A role ends what a browser alone proved, sealed or not.
        test.db.write(shop, move |tx| persons::upsert(tx, &Person { role: Some(Role::Staff), ..asha })).await.unwrap();
        let left = test.db.read(shop, move |tx| persons::list_addresses(tx, id)).await.unwrap();
        assert_eq!(left.iter().map(ContactAddress::as_str).collect::<Vec<_>>(), ["+919812345678"]);
    }

    async fn whoever_stood_plain_before_is_met_again(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let (ids, now) = (IdGenerator::system(), test.clock.now());
        let (id, phone) = (ids.next::<PersonId>(), ContactAddress::phone("98123 45678").unwrap());
        test.db.write(shop, move |tx| -> Result<()> {
            let sql = "INSERT INTO persons (tenant_id, id, name, opened, closed, tags, made_at) VALUES ($1, $2, 'Raju', '[]', '[]', '[\"old\"]', $3)";
            tx.execute(sql, params![id, now])?;
            let sql = "INSERT INTO person_addresses (tenant_id, kind, address, person_id) VALUES ($1, $2, $3, $4)";
            tx.execute(sql, params!["phone", "+919812345678", id])?;
            tx.execute(sql, params!["channel", "web:old-browser", id]).map(drop)
        }).await.unwrap();
        let met = test.db.write(shop, {
            let phone = phone.clone();
            move |tx| persons::find_or_add(tx, &ids, &[phone], "Rajesh", now)
        }).await.unwrap();
        assert_eq!((met.is_new, met.person.id, met.person.name.as_str()), (false, id, "Raju"));
        let named = test.db.read(shop, |tx| persons::list_by_name(tx, "Raju")).await.unwrap();
        assert_eq!(named.len(), 1);
        test.db.write(shop, move |tx| -> Result<()> {
            persons::upsert(tx, &Person { role: Some(Role::Staff), ..met.person })?;
            persons::remove_address(tx, id, &phone)
        }).await.unwrap();
        assert!(test.db.read(shop, move |tx| persons::list_addresses(tx, id)).await.unwrap().is_empty());
    }

    async fn of_many_the_last_met_are_found(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let (ids, now) = (test.ids.clone(), test.clock.now());
        let most = usize::try_from(persons::MOST_REACHED).unwrap();
        let owner = Person { role: Some(Role::Owner), ..Person::new(&ids, "Farid", now) };
        let first = Person::new(&ids, "First", now);
        let (boss, oldest) = (owner.id, first.id);
        // Ids of one moment are in no order.
        test.clock.advance(std::time::Duration::from_millis(5));
        test.db.write(shop, move |tx| -> Result<()> {
            persons::upsert(tx, &owner)?;
            persons::upsert(tx, &first)?;
            // As they stood before names were sealed, so that none needs a key.
            let sql = "INSERT INTO persons (tenant_id, id, name, opened, closed, tags, made_at) VALUES ($1, $2, $3, '[]', '[]', '[]', $4)";
            (0..most).try_for_each(|at| tx.send(sql, params![ids.next::<PersonId>(), format!("Customer {at}"), now]))
        }).await.unwrap();
        let found = test.db.read(shop, persons::list_contacts).await.unwrap();
        assert_eq!(found.len(), most + 1, "and those who work here, however long");
        assert!(found.iter().any(|one| one.id == boss) && found.iter().all(|one| one.id != oldest));
    }

    async fn of_two_owners_who_leave_at_once_one_stays(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let now = test.clock.now();
        for round in 0..5 {
            let owners = [0, 1].map(|_| Person { role: Some(Role::Owner), ..Person::new(&IdGenerator::system(), "Asha", now) });
            let both = owners.clone();
            test.db.write(shop, move |tx| both.iter().try_for_each(|owner| persons::upsert(tx, owner))).await.unwrap();
            let leave = |owner: Person| test.db.write(shop, move |tx| -> Result<bool> {
                if persons::is_last_owner(tx, owner.id)? {
                    return Ok(false);
                }
                persons::upsert(tx, &Person { left_at: Some(now), ..owner })?;
                Ok(true)
            });
            let [one, other] = owners;
            let (first, second) = tokio::join!(leave(one), leave(other));
            let left = [first.unwrap(), second.unwrap()].into_iter().filter(|left| *left).count();
            assert_eq!(left, 1, "round {round}");
            let stayed = test.db.read(shop, persons::list_members).await.unwrap().remove(0);
            test.db.write(shop, move |tx| persons::upsert(tx, &Person { role: None, ..stayed })).await.unwrap();
        }
    }

    async fn everybody_is_listed_in_pages_with_their_addresses(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let (ids, now) = (IdGenerator::system(), test.clock.now());
        test.db.write(shop, move |tx| -> Result<()> {
            for number in 0..5 {
                let left_at = (number == 0).then_some(now);
                let person = Person { left_at, ..Person::new(&ids, "Raju", now) };
                persons::upsert(tx, &person)?;
                persons::add_address(tx, person.id, &ContactAddress::phone(&format!("981234567{number}")).unwrap())?;
            }
            Ok(())
        }).await.unwrap();
        let (here, all, named, addresses) = test.db.read(shop, |tx| -> Result<_> {
            let request = PageRequest::new(None, 3);
            let here = persons::list(tx, PersonFilter::Here, &request)?;
            let rest = persons::list(tx, PersonFilter::Here, &PageRequest::new(here.next, 3))?;
            let all = persons::list(tx, PersonFilter::Everybody, &PageRequest::new(None, 100))?.items.len();
            let addresses = persons::list_addresses(tx, rest.items[0].id)?;
            Ok((here.items.len() + rest.items.len(), all, persons::list_by_name(tx, "Raju")?.len(), addresses))
        }).await.unwrap();
        assert_eq!((here, all, named), (4, 5, 5));
        assert!(matches!(&addresses[..], [one] if one.as_str().starts_with("+91981234567")), "{addresses:?}");
    }

    async fn who_is_given_a_role_is_known_by_no_browser_of_before(test: TestDb) {
        let (shop, now, ids) = (test.add_tenant("shop").await, test.clock.now(), test.ids.clone());
        let (phone, browser) = (ContactAddress::phone("+919812345678").unwrap(), ContactAddress::visitor("a1b2c3d4e5f60718").unwrap());
        let both = [phone.clone(), browser.clone()];
        let unit = move |tx: &mut Tx<'_>| {
            let chitra = persons::find_or_add(tx, &ids, &both, "Chitra", now)?.person;
            persons::upsert(tx, &Person { name: "Chitra B".to_owned(), ..chitra.clone() })?;
            let before = persons::find_by_address(tx, &both[1])?.map(|person| person.id);
            persons::upsert(tx, &Person { role: Some(Role::Staff), ..chitra.clone() })?;
            let after = (persons::find_by_address(tx, &both[0])?.map(|person| person.id), persons::find_by_address(tx, &both[1])?);
            // One that is brought by those who work here stays, whatever they become.
            persons::add_address(tx, chitra.id, &both[1])?;
            persons::upsert(tx, &Person { role: Some(Role::Admin), ..chitra.clone() })?;
            Ok::<_, Error>((chitra.id, before, after, persons::find_by_address(tx, &both[1])?.is_some()))
        };
        let (chitra, before, after, stays) = test.db.write(shop, unit).await.unwrap();
        assert_eq!((before, after, stays), (Some(chitra), (Some(chitra), None), true));
    }
}
