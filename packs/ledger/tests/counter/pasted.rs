//! Messages of banks that an owner pastes: none is left without an answer of its own, and none that is no payment is
//! written.

use munshi_ledger::books::balances;

use crate::counter::support::Shop;
use crate::counter::told::on_both;

const NONE: &str = "This message tells of no payment, so I have written nothing.";
const OWN: &str = "This is money between your own accounts, so nothing changes in the books.";

/// No payments, each of another sort.
const NOTHING: [&str; 5] = [
    "482913 is the OTP for your transaction of Rs 1,499.00 at FRESHMART on card XX4471. Do not share it with anyone.",
    "Your a/c XX4471 will be debited with Rs 649.00 on 20-11-26 towards TUNEBOX mandate. Keep enough balance.",
    "Payment of Rs 2,300.00 from A/c XX4471 to GANESH TIFFIN declined due to insufficient balance. Ref 516588123403",
    "Cheque no 004512 for Rs 12,000.00 deposited in A/c XX4471 has been returned unpaid: funds insufficient.",
    "You have received a collect request of Rs 5,000.00 from lucky77@ybl. Enter UPI PIN to receive the money in A/c XX4471.",
];

on_both! {
    async fn what_is_no_payment_is_said_to_be_none(test: TestDb) {
        let shop = Shop::open(&test).await;
        for text in NOTHING {
            assert_eq!(shop.say(text).await, NONE, "{text}");
        }
        let own = "Rs 4,000.00 transferred from your A/c XX4471 to your own A/c XX9021 on 15-11-26. Ref 516588123404";
        assert_eq!(shop.say(own).await, OWN);
        assert_eq!(shop.db.read(shop.tenant, balances::load_totals).await.unwrap().entries, 0);
    }

    async fn a_payment_is_proposed_and_written_after_a_yes(test: TestDb) {
        let shop = Shop::open(&test).await;
        let asked = shop.say("Rs.740.00 credited to a/c **4471 on 15-11-26 from SUNITA TEXTILES (UPI Ref No 516588123405)").await;
        assert!(asked.contains("₹740"), "{asked}");
        shop.say("yes").await;
        let standing = shop.db.read(shop.tenant, balances::load_totals).await.unwrap();
        assert_eq!((standing.entries, standing.bank.as_paise()), (1, 74_000));
        shop.assert_sound().await;
    }

    async fn a_charge_of_the_bank_is_paid_to_no_account_number(test: TestDb) {
        let shop = Shop::open(&test).await;
        let asked = shop.say("Rs 236.00 debited from A/c XX4471 on 15-11-26 towards cheque return charges. Avl Bal Rs 12,000.00").await;
        assert!(asked.contains("₹236") && !asked.contains("4471") && !asked.contains("went to"), "{asked}");
        let done = shop.say("yes").await;
        assert!(done.starts_with("Written: ₹236 ") && !done.contains("4471") && !done.contains("paid to"), "{done}");
        let asked = shop.say("A/c XX4471 credited with Rs 90.00 on 15-11-26. Avl Bal Rs 12,090.00").await;
        assert!(asked.contains("₹90") && !asked.contains("4471"), "{asked}");
        shop.assert_sound().await;
    }

    async fn what_is_said_after_it_is_the_owners_own_word(test: TestDb) {
        let shop = Shop::open(&test).await;
        assert!(shop.say("namaste munshi ji").await.starts_with("Namaste"));
        shop.say("Rs.740.00 credited to a/c **4471 on 15-11-26 from SUNITA TEXTILES (UPI Ref No 516588123405)").await;
        let other = shop.say("sale of 90").await;
        assert!(other.contains("“Rs.740.00 credited to a/c **4471"), "what waits is told by its words: {other}");
        shop.say("yes").await;
        let written = shop.say("सुनीलला अडीचशे उधार दिले").await;
        assert!(written.starts_with("सुनील यांना ₹250 उधार दिले, लिहिले आहे."), "{written}");
        assert!(shop.say("delete last entry").await.starts_with("Entry 3 of ₹250 is cancelled."));
        shop.assert_sound().await;
    }
}
