//! What an entry moves beside the debt: money or goods, cash or bank, and the stock in the unit it is kept in.

use munshi_ledger::books::balances::{self, BooksBalance};
use munshi_types::Money;

use crate::counter::support::Shop;
use crate::counter::told::on_both;

async fn standing(shop: &Shop) -> BooksBalance {
    shop.db.read(shop.tenant, balances::load_totals).await.unwrap()
}

const fn rupees(amount: i64) -> Money {
    Money::from_paise(amount * 100)
}

on_both! {
    async fn a_loan_moves_money_and_no_goods(test: TestDb) {
        let shop = Shop::open(&test).await;
        let took = shop.say("took a loan of 5000 from Gupta").await;
        assert!(took.contains("You owe Gupta ₹5,000") && took.contains("as money"), "{took}");
        assert_eq!(standing(&shop).await.cash, rupees(5_000));
        shop.say("lent Ramesh 500 cash").await;
        assert_eq!(standing(&shop).await.cash, rupees(4_500));
        shop.say("Sita ko 200 karz diya").await;
        assert_eq!(standing(&shop).await.cash, rupees(4_300));
        shop.assert_sound().await;
    }

    async fn what_is_not_said_to_be_money_is_goods(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        shop.say("took rice worth 900 from Gupta on credit").await;
        shop.say("Sita ko 300 udhaar diya").await;
        assert_eq!(standing(&shop).await.cash, Money::ZERO);
        shop.assert_sound().await;
    }

    async fn what_comes_by_the_dozen_goes_by_the_piece(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("stock in 10 dozen eggs").await;
        shop.say("sold 6 eggs for 42").await;
        let left = shop.say("how many eggs are left").await;
        assert!(left.contains("114"), "{left}");
        shop.say("sold 1 dozen eggs for 84").await;
        let left = shop.say("how many eggs are left").await;
        assert!(left.contains("102"), "{left}");
        shop.assert_sound().await;
    }

    async fn what_can_not_be_told_in_the_items_unit_is_left_and_said(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("stock in 20 kg ghee").await;
        for said in ["sold 1 litre ghee for 600", "sold 2 ghee for 900"] {
            let sold = shop.say(said).await;
            assert!(sold.contains("left the stock of ghee as it is") && sold.contains("kg"), "{said}: {sold}");
        }
        let left = shop.say("how much ghee is left").await;
        assert!(left.contains("20 kg"), "{left}");
        assert!(shop.say("sold 500 gram ghee for 300").await.starts_with("Written"));
        assert!(shop.say("how much ghee is left").await.contains("19.5 kg"));
        shop.say("stock in 5 ghee").await;
        let unsaid = shop.say("yes").await;
        assert!(unsaid.contains("in the unit that it is kept in"), "{unsaid}");
        shop.assert_sound().await;
    }

    async fn what_was_transferred_is_in_the_bank(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Sita 728 on credit").await;
        shop.say("Sita transferred 728").await;
        assert_eq!((standing(&shop).await.cash, standing(&shop).await.bank), (Money::ZERO, rupees(728)));
        shop.say("bought 5 kg rice for 300 by upi").await;
        assert_eq!((standing(&shop).await.cash, standing(&shop).await.bank), (Money::ZERO, rupees(428)));
        shop.assert_sound().await;
    }

    async fn less_than_no_cash_is_said_when_it_comes_and_in_the_summary(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("sale of 100").await;
        let first = shop.say("bought 5 kg rice for 300").await;
        assert!(first.contains("less than no cash now, -₹200"), "{first}");
        let second = shop.say("bought 2 kg sugar for 50").await;
        assert!(!second.contains("less than no cash"), "said once: {second}");
        let summary = shop.say("what is the total sale today").await;
        assert!(summary.contains("less than no cash now, -₹250"), "{summary}");
        shop.assert_sound().await;
    }
}
