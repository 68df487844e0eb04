//! Two names of one person.

use munshi_ledger::books::{NameMatch, balances, contacts, day_book};
use munshi_store::PageRequest;
use munshi_types::Money;

use crate::counter::support::Shop;
use crate::counter::told::on_both;

on_both! {
    async fn two_names_become_one_after_a_yes(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Suresh ko 300 udhaar diya").await;
        test.clock.advance(std::time::Duration::from_secs(60));
        shop.say("Bablu ko 200 udhaar diya").await;
        let asked = shop.say("Suresh aur Bablu ek hi aadmi hain").await;
        assert!(asked.contains("Bablu (₹200)") && asked.contains("Suresh (₹300)"), "{asked}");
        let count = |shop: &Shop| {
            let (db, tenant) = (shop.db.clone(), shop.tenant);
            async move { db.read(tenant, |tx| contacts::list(tx, &PageRequest::new(None, 50))).await.unwrap().items.len() }
        };
        assert_eq!(count(&shop).await, 2, "nothing before the answer");
        let done = shop.say("haan").await;
        assert!(done.contains("₹500"), "{done}");
        assert_eq!(count(&shop).await, 1);
        let (one, other, entries) = shop.db.read(shop.tenant, |tx| {
            let NameMatch::One(one) = contacts::find(tx, "Bablu")? else { panic!("nobody") };
            let NameMatch::One(other) = contacts::find(tx, "Suresh")? else { panic!("nobody") };
            let entries = day_book::list_by_contact(tx, one.id, &PageRequest::new(None, 50))?.items;
            assert_eq!(balances::get(tx, one.id)?, Money::from_paise(50_000));
            Ok::<_, munshi_ledger::Error>((one, other, entries))
        }).await.unwrap();
        assert_eq!((one.id, one.name.as_str(), other.id), (other.id, "Suresh", one.id), "the first stays");
        let booked: std::collections::BTreeSet<_> = entries.iter().map(|entry| entry.contact).collect();
        assert_eq!((entries.len(), booked.len()), (2, 2), "entries stay as they were booked");
        let again = shop.say("Suresh aur Bablu ek hi aadmi hain").await;
        assert!(again.contains("pehle se ek"), "{again}");
        shop.assert_sound().await;
    }

    /// What looks like a case at the end of a name may be the name's own.
    async fn a_name_that_holds_another_and_its_case_is_asked_about(test: TestDb) {
        let shop = Shop::open(&test).await;
        for (whole, front, said) in [
            ("Samir", "Sami", "সমীর ৩০৫ টাকা দিল"),
            ("Shekhar", "Shekh", "ଶେଖର 312 ଟଙ୍କା ଦେଲା"),
        ] {
            shop.say(&format!("{whole} ko 900 udhaar diya")).await;
            shop.say(&format!("{front} ko 800 udhaar diya")).await;
            let asked = shop.say(said).await;
            assert!(asked.contains(whole) && asked.contains(front), "{said}: {asked}");
            shop.say("cancel").await;
        }
        shop.say("Kabir ko 700 udhaar diya").await;
        shop.say("কবীর ২১০ টাকা দিল").await;
        let left = shop.db.read(shop.tenant, |tx| {
            let NameMatch::One(kabir) = contacts::find(tx, "Kabir")? else { panic!("nobody") };
            balances::get(tx, kabir.id)
        });
        assert_eq!(left.await.unwrap(), Money::from_paise(49_000), "whoever has the whole name is meant");
    }

    /// Who speaks of something else has not answered, and what they said before is not forgotten.
    async fn a_choice_that_is_passed_by_is_put_once_more(test: TestDb) {
        let shop = Shop::open(&test).await;
        for said in ["Ramesh Kumar ko 900 udhaar diya", "Ramesh Gupta ko 800 udhaar diya", "Mohan ko 100 udhaar diya"] {
            shop.say(said).await;
        }
        let asked = shop.say("Ramesh ne 520 diye").await;
        assert!(asked.contains("1. Ramesh") && asked.contains("2. Ramesh"), "{asked}");
        let told = shop.say("Mohan ne 50 diye").await;
        assert!(told.contains("₹50") && told.contains("Ramesh ne 520 diye"), "{told}");
        assert!(told.contains("1. Ramesh") && told.contains("2. Ramesh"), "{told}");
        shop.say("1").await;
        let owed = shop.db.read(shop.tenant, balances::load_totals).await.unwrap().receivable;
        assert_eq!(owed, Money::from_paise(123_000), "both were written, each once");
        shop.say("Ramesh ne 530 diye").await;
        let told = shop.say("Ramesh Gupta ne 530 diye").await;
        assert!(!told.contains("1. Ramesh"), "it was said anew: {told}");
        shop.say("Ramesh ne 540 diye").await;
        let told = shop.say("nahi").await;
        assert!(!told.contains("1. Ramesh"), "{told}");
    }

    async fn a_no_leaves_two(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Suresh ko 300 udhaar diya").await;
        shop.say("Bablu ko 200 udhaar diya").await;
        shop.say("Suresh and Bablu are the same person").await;
        shop.say("no").await;
        let names = shop.db.read(shop.tenant, |tx| contacts::list(tx, &PageRequest::new(None, 50))).await.unwrap();
        assert_eq!(names.items.len(), 2);
    }
}
