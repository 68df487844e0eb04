//! Whose a payment was that a bank's message told of, said later.

use crate::counter::support::Shop;
use crate::counter::told::on_both;

const FROM_NOBODY: &str =
    "Rs.500.00 credited to a/c **4471 on 15-11-26 from VPA q77@ybl (UPI Ref No 516588123402)";

on_both! {
    async fn a_payment_of_nobody_is_given_to_whom_it_was_from(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Ramesh ko 800 udhaar diya").await;
        shop.say(FROM_NOBODY).await;
        shop.say("yes").await;
        let sorted = shop.say("ye 500 wala payment Ramesh ka tha").await;
        assert_eq!(sorted, "₹500 ka yeh payment ab Ramesh ke naam hai. Ramesh se ₹300 lene hain.");
        // The bank's message once more is the same payment, and no other.
        let again = shop.say(FROM_NOBODY).await;
        assert!(again.contains("₹500") && again.contains("entry 4"), "{again}");
        shop.say("yes").await;
        assert_eq!(shop.say("how much does Ramesh owe").await, "Ramesh owes you ₹300.");
        let none = shop.say("ye 500 wala payment Suresh ka tha").await;
        assert_eq!(none, "Bina naam ka aisa koi payment nahi mila.");
        shop.assert_sound().await;
    }

    async fn of_several_the_owner_picks(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Ramesh ko 2000 udhaar diya").await;
        for (amount, reference) in [(500, "516588123402"), (700, "516588123403")] {
            let message = format!(
                "Rs.{amount}.00 credited to a/c **4471 on 15-11-26 from VPA q77@ybl (UPI Ref No {reference})"
            );
            shop.say(&message).await;
            shop.say("yes").await;
        }
        let asked = shop.say("wo payment Ramesh ka tha").await;
        assert!(asked.contains("₹500") && asked.contains("₹700"), "{asked}");
        // A bank's words were read here, so what is not in the owner's own is asked about.
        shop.say("2").await;
        let sorted = shop.say("haan").await;
        assert!(sorted.contains("Ramesh se ₹1,500 lene hain"), "the second is the older one: {sorted}");
        shop.assert_sound().await;
    }

    async fn who_says_the_same_payment_is_told_how_to_name_it(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Sita 900 on credit").await;
        shop.say(FROM_NOBODY).await;
        shop.say("yes").await;
        let asked = shop.say("Sita paid 500").await;
        assert!(asked.contains("from nobody known: entry 2") && asked.contains("that payment was Sita's"), "{asked}");
        shop.say("no").await;
        let sorted = shop.say("that payment was Sita's").await;
        assert_eq!(sorted, "This payment of ₹500 is Sita's now. Sita owes you ₹400.");
        shop.assert_sound().await;
    }
}
