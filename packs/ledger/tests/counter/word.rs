//! What only the owner's word makes: debts either way, however they come about, and changes of what others wrote.

use munshi_ledger::books::{balances, contacts, entry};
use munshi_types::Money;

use crate::counter::support::Shop;
use crate::counter::told::on_both;

const TO_BIRJU: &str =
    "Rs 900.00 debited from A/c XX4471 on 15-11-26 to VPA ramesh@ybl (UPI Ref No 516588123411)";

async fn entries(shop: &Shop) -> i64 {
    shop.db.read(shop.tenant, balances::load_totals).await.unwrap().entries
}

async fn balance(shop: &Shop, name: &'static str) -> Option<Money> {
    let found = shop.db.read(shop.tenant, move |tx| contacts::find(tx, name)).await.unwrap();
    found.into_one().map(|contact| contact.balance)
}

on_both! {
    async fn a_payment_beyond_what_is_open_waits_for_the_owner(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 400 on credit").await;
        let staff = shop.staff().await;
        for said in [
            "paid 12000 to Ramesh", "cash paid to Mohan 9999", "received 50000 from Kallu", "Ramesh paid 500", "paid 50 to Ramesh",
        ] {
            let heard = shop.hear_from(staff, said).await.text;
            assert!(heard.contains("on the owner's word alone"), "{said}: {heard}");
            let yes = shop.hear_from(staff, "yes").await.text;
            assert!(!yes.contains("Written"), "{said}: {yes}");
        }
        assert_eq!(entries(&shop).await, 1);
        assert_eq!(balance(&shop, "Kallu").await, None, "nobody was added either");
        let paid = shop.hear_from(staff, "Ramesh paid 400").await.text;
        assert!(paid.starts_with("Written: ₹400 received from Ramesh."), "what is open is taken from anybody: {paid}");
        shop.assert_sound().await;
    }

    async fn the_owner_pays_beyond_what_is_open(test: TestDb) {
        let shop = Shop::open(&test).await;
        assert!(shop.say("received 5000 from Kallu").await.contains("You owe Kallu ₹5,000"));
        assert!(shop.say("paid 900 to Mohan").await.contains("Mohan owes you ₹900"));
        shop.assert_sound().await;
    }

    async fn a_correction_or_a_pasted_message_makes_no_debt_either(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 400 on credit").await;
        let staff = shop.staff().await;
        shop.hear_from(staff, "Ramesh paid 100").await;
        shop.hear_from(staff, "no it was 700").await;
        shop.hear_from(staff, "yes").await;
        assert_eq!(balance(&shop, "Ramesh").await, Some(Money::from_paise(30_000)));
        shop.hear_from(staff, "no it was 90").await;
        shop.hear_from(staff, TO_BIRJU).await;
        shop.hear_from(staff, "yes").await;
        assert!(balance(&shop, "Ramesh").await.unwrap() <= Money::from_paise(31_000), "nobody lent to him");
        shop.assert_sound().await;
    }

    async fn the_owner_takes_back_what_somebody_else_wrote(test: TestDb) {
        let shop = Shop::open(&test).await;
        let staff = shop.staff().await;
        shop.hear_from(staff, "sale of 9000").await;
        let asked = shop.say("undo the last entry").await;
        assert!(asked.contains("Entry 1 of 15 November 2026") && asked.contains("₹9,000") && asked.contains("Birju"), "{asked}");
        assert_eq!(entries(&shop).await, 1, "nothing before the answer");
        let done = shop.say("yes").await;
        assert!(done.starts_with("Entry 1 of ₹9,000 is cancelled."), "{done}");
        shop.assert_sound().await;
    }

    async fn an_entry_is_taken_back_by_its_number(test: TestDb) {
        let shop = Shop::open(&test).await;
        let staff = shop.staff().await;
        shop.hear_from(staff, "sale of 900").await;
        shop.say("sale of 70").await;
        shop.say("gave Ramesh 300 on credit").await;
        for (said, number) in [("cancel entry 1", 1), ("entry 2 cancel karo", 2)] {
            let asked = shop.say(said).await;
            assert!(asked.contains('1') && asked.contains("2026") && !asked.contains("Ramesh"), "{said}: {asked}");
            shop.say("yes").await;
            let stands = shop.db.read(shop.tenant, move |tx| entry::find_by_number(tx, number)).await.unwrap().unwrap().is_active();
            assert!(!stands, "{said}");
        }
        let none = shop.say("cancel entry 77").await;
        assert!(none.starts_with("I find no such entry"), "{none}");
        assert_eq!(balance(&shop, "Ramesh").await, Some(Money::from_paise(30_000)));
        shop.assert_sound().await;
    }

    async fn others_take_back_their_own_alone(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("sale of 70").await;
        let staff = shop.staff().await;
        shop.hear_from(staff, "sale of 90").await;
        let none = shop.hear_from(staff, "cancel entry 1").await.text;
        assert!(!none.contains("₹70") && !none.contains("cancelled."), "{none}");
        shop.hear_from(staff, "yes").await;
        let first = shop.db.read(shop.tenant, |tx| entry::find_by_number(tx, 1)).await.unwrap().unwrap();
        assert!(first.is_active());
        shop.assert_sound().await;
    }
}
