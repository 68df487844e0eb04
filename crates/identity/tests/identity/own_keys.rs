//! Keys that nobody but their own person ever had.

use std::time::Duration;

use munshi_identity::keys::{self, KeyMaker, KeySpeaker, KeySubject, NewApiKey};
use munshi_identity::operators::{self, AddOperatorOutcome, NewOperator, OPERATORS, Operator};
use munshi_identity::{Error, Role, links, persons};
use munshi_store::{PlatformTx, Tx};
use munshi_test_support::{TestDb, administer, on_both_engines};
use munshi_types::{Clock, SystemRandom};

async fn operator(test: &TestDb, email: &str) -> Operator {
    let new = NewOperator {
        email: email.to_owned(),
        name: "Asha".to_owned(),
        password: None,
        elsewhere: None,
        keeper: false,
        first: false,
        proved: true,
        home: None,
    };
    let (ids, now) = (test.ids.clone(), test.clock.now());
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, Error> { operators::add(tx, &ids, &new, now) };
    match test.db.platform(OPERATORS).write(unit).await.unwrap() {
        AddOperatorOutcome::Made(operator) => operator,
        AddOperatorOutcome::Taken => panic!("taken"),
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn a_key_is_their_own_that_nobody_else_had(test: TestDb) {
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let asha = operator(&test, "asha@shop.example").await;
        let ravi = operator(&test, "ravi@shop.example").await;
        let known = async |operator: &Operator| {
            let (ids, operator) = (test.ids.clone(), operator.clone());
            let find = move |tx: &mut Tx<'_>| persons::find_or_add_operator(tx, &ids, &operator, Role::Owner, now);
            test.db.write(shop, find).await.unwrap().id
        };
        let (person, other) = (known(&asha).await, known(&ravi).await);
        let add = async |name: &str, carries, made_by: &str, maker: KeyMaker| {
            let ids = test.ids.clone();
            let new = NewApiKey {
                name: name.to_owned(),
                carries,
                areas: None,
                bindings: None,
                expires_at: None,
                speaks_as: KeySpeaker::Person,
                made_by: made_by.to_owned(),
                maker,
            };
            let unit = move |tx: &mut Tx<'_>| administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &new, now));
            test.db.write(shop, unit).await.unwrap().key.id
        };
        let is_own = async |key| test.db.read(shop, move |tx| keys::is_own(tx, key, person)).await.unwrap();
        let by = |operator: &Operator| links::render_maker(operator.id);
        let made_by = |operator: &Operator| KeyMaker::from_name(by(operator));
        let theirs = KeySubject::Person(person);
        let own = add("own", theirs, &by(&asha), made_by(&asha)).await;
        assert!(is_own(own).await, "they made it in their browser");
        let with = |key| KeyMaker { person: Some(person), key: Some(key), ..made_by(&asha) };
        let second = add("second", theirs, &person.to_string(), with(own)).await;
        assert!(is_own(second).await, "and with that one another");
        let colleagues = add("colleague's", theirs, &by(&ravi), made_by(&ravi)).await;
        let with = |key| KeyMaker { person: Some(person), key: Some(key), ..made_by(&ravi) };
        let hidden = add("hidden", theirs, &person.to_string(), with(colleagues)).await;
        let orphan = add("orphan", theirs, &person.to_string(), made_by(&asha)).await;
        let machine = add("machine", theirs, "asha", KeyMaker::from_name("asha")).await;
        let role = add("role", KeySubject::Role(Role::Owner), &by(&asha), made_by(&asha)).await;
        let of_other = add("other", KeySubject::Person(other), &by(&asha), made_by(&asha)).await;
        for key in [colleagues, hidden, orphan, machine, role, of_other, test.ids.next()] {
            assert!(!is_own(key).await, "{key}");
        }
        // Somebody else was shown a new text of it.
        let (maker, rotated) = (made_by(&ravi), own);
        let rotate = move |tx: &mut Tx<'_>| -> Result<(), Error> {
            administer(tx, |tx| keys::rotate(tx, &SystemRandom, rotated, Duration::from_secs(60), now))?;
            administer(tx, |tx| keys::transfer_maker(tx, rotated, &maker))
        };
        test.db.write(shop, rotate).await.unwrap();
        assert!(!is_own(own).await && !is_own(second).await);
    }
}
