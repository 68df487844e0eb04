//! Who is meant, and two that are one.

use munshi_ledger::Error;
use munshi_ledger::books::*;
use munshi_store::{MIGRATIONS, PageRequest};
use munshi_test_support::on_both_engines;
use munshi_types::Money;

use crate::books::support::{Shop, credit_sale, received, rupees};

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn a_name_is_found_in_every_script_and_ties_are_choices(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("राजन").await;
        let (kumar, verma) = (shop.contact("Ramesh Kumar").await, shop.contact("Ramesh Verma").await);
        let odd = shop.contact("A1").await;
        let find = |name: &'static str| shop.read(move |tx| contacts::find(tx, name));
        for name in ["Rajan", "ராஜன்", "rajan bhai", "রাজন"] {
            assert_eq!(find(name).await.unwrap().into_one().map(|found| found.id), Some(rajan), "{name}");
        }
        assert_eq!(find("ramesh kumar").await.unwrap().into_one().unwrap().id, kumar);
        match find("रमेश").await.unwrap() {
            NameMatch::Choices(choices) => {
                let ids: std::collections::BTreeSet<_> = choices.iter().map(|one| one.id).collect();
                assert_eq!(ids, [kumar, verma].into());
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(find("a1").await.unwrap().into_one().unwrap().id, odd);
        for nobody in ["Suresh", "Ramesh Iyer", "B2"] {
            assert_eq!(find(nobody).await.unwrap(), NameMatch::Nobody, "{nobody}");
        }
        assert!(matches!(find("  ").await, Err(Error::Invalid(_))));
    }

    async fn names_and_phones_are_kept_in_one_form_and_old_names_still_find(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("  Rajan   Nair ").await;
        let known = NewContact { name: "Mohan Nair".into(), phone: Some("98123 45678".into()), ..NewContact::default() };
        let changed = shop.write(move |tx, _| contacts::update(tx, rajan, &known)).await.unwrap();
        assert_eq!((changed.name.as_str(), changed.phone.as_deref()), ("Mohan Nair", Some("+919812345678")));
        for name in ["Rajan Nair", "Mohan Nair"] {
            let found = shop.read(move |tx| contacts::find(tx, name)).await.unwrap();
            assert_eq!(found.into_one().map(|one| one.id), Some(rajan), "{name}");
        }
        let by_phone = shop.read(|tx| contacts::list_by_phone(tx, "+91 98123-45678")).await.unwrap();
        assert_eq!(by_phone.len(), 1);
        let bad = NewContact { name: "X".into(), phone: Some("12".into()), ..NewContact::default() };
        let refused = shop.write(move |tx, writing| contacts::add(tx, writing.ids, writing.now, &bad)).await;
        assert!(matches!(refused, Err(Error::Phone(_))), "{refused:?}");
    }

    async fn a_limit_says_by_how_much_it_is_passed(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        shop.book(credit_sale(rajan, 800)).await;
        let limited = shop.write(move |tx, _| contacts::set_limit(tx, rajan, Some(rupees(1000)))).await.unwrap();
        assert_eq!(limited.excess_over_limit(rupees(200)).unwrap(), None);
        assert_eq!(limited.excess_over_limit(rupees(201)).unwrap(), Some(rupees(1)));
        let negative = shop.write(move |tx, _| contacts::set_limit(tx, rajan, Some(rupees(-1)))).await;
        assert!(matches!(negative, Err(Error::Invalid(_))));
    }

    async fn what_is_merged_is_one_for_balances_habits_names_and_later_entries(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (rajan, other, third) =
            (shop.contact("Rajan Nair").await, shop.contact("Raju Painter").await, shop.contact("Third").await);
        let before = shop.book(credit_sale(other, 300)).await;
        shop.book(credit_sale(rajan, 100)).await;
        shop.book(received(third, 50)).await;
        shop.write(move |tx, _| contacts::merge(tx, third, other)).await.unwrap();
        let merged = shop.write(move |tx, _| contacts::merge(tx, other, rajan)).await.unwrap();
        assert_eq!((merged.id, merged.balance), (rajan, rupees(350)));
        shop.assert_sound().await;
        // Again, and from the other side: nothing changes.
        shop.write(move |tx, _| contacts::merge(tx, third, rajan)).await.unwrap();
        shop.write(move |tx, _| contacts::merge(tx, rajan, other)).await.unwrap();
        assert_eq!(shop.balance(other).await, rupees(350));
        let found = shop.read(|tx| contacts::find(tx, "Raju Painter")).await.unwrap();
        assert_eq!(found.into_one().map(|one| one.id), Some(rajan));
        let later = shop.book(credit_sale(third, 10)).await;
        assert_eq!(later.contact, Some(rajan));
        shop.cancel(before.id, "wrong").await.unwrap();
        assert_eq!(shop.balance(rajan).await, rupees(60));
        let (habit, page) = shop.read(move |tx| {
            let page = day_book::list_by_contact(tx, other, &PageRequest::new(None, 50))?;
            Ok((habits::get(tx, other, HabitSide::Trade)?, page.items.len()))
        }).await.unwrap();
        assert_eq!((habit.seen, habit.usual, page), (2, Some(rupees(10)), 5));
        assert!(shop.write(move |tx, _| contacts::merge(tx, rajan, rajan)).await.is_err());
        assert_eq!(shop.standing().await.payable, Money::ZERO);
        shop.assert_sound().await;
    }

    async fn habits_follow_the_latest_entries(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        let mut last = None;
        for week in 0..30_i64 {
            last = Some(shop.book(credit_sale(rajan, 100 + week)).await);
            shop.clock.advance(std::time::Duration::from_secs(7 * 86_400));
        }
        let habit = || shop.read(move |tx| habits::get(tx, rajan, HabitSide::Trade));
        let found = habit().await.unwrap();
        assert_eq!((found.seen, found.usual, found.rhythm), (30, Some(rupees(119)), Some(7)));
        assert_eq!((found.low, found.high), (Some(rupees(114)), Some(rupees(124))));
        assert_eq!(found.last_at, Some(last.as_ref().unwrap().happened_at));
        assert!(found.is_unusual(rupees(400)) && found.is_unusual(rupees(30)) && !found.is_unusual(rupees(250)));
        shop.cancel(last.unwrap().id, "wrong").await.unwrap();
        let found = habit().await.unwrap();
        assert_eq!((found.seen, found.usual), (29, Some(rupees(118))));
        shop.assert_sound().await;
    }
}
