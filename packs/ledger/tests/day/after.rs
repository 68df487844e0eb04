//! What was written is looked at once more, and what does not agree is said.

use munshi_test_support::on_both_engines;

use crate::day::support::Shop;

/// Changes a kept figure behind the program's back.
async fn damage(shop: &Shop, statement: &'static str) {
    let touched = shop.db.write(shop.tenant, move |tx| tx.execute(statement, &[])).await.unwrap();
    assert!(touched > 0, "{statement}");
}

on_both_engines! {
    with all crate::day::support::migrations();

    async fn a_damaged_figure_is_told_and_never_passed_over(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        shop.say("10 kg of rice came").await;
        shop.say("sale of 90").await;
        for (number, (damaged, mended, said)) in [
            (
                "UPDATE ledger_contacts SET balance = balance + 100 WHERE tenant_id = $1",
                "UPDATE ledger_contacts SET balance = balance - 100 WHERE tenant_id = $1",
                "Ramesh paid 200",
            ),
            (
                "UPDATE ledger_days SET amount = amount + 100 WHERE tenant_id = $1 AND kind = 'sale'",
                "UPDATE ledger_days SET amount = amount - 100 WHERE tenant_id = $1 AND kind = 'sale'",
                "sale of 70",
            ),
            (
                "UPDATE ledger_items SET stock = stock - 100 WHERE tenant_id = $1",
                "UPDATE ledger_items SET stock = stock + 100 WHERE tenant_id = $1",
                "3 kg of rice came",
            ),
        ]
        .into_iter()
        .enumerate()
        {
            damage(&shop, damaged).await;
            let told = shop.hear(100 + number as u32, said).await;
            let entry = 4 + number;
            let words = format!("Please have entry {entry} looked at: the figures in the books do not agree with it.");
            assert!(told.text.ends_with(&words), "{said}: {}", told.text);
            assert_eq!(told.violations, ["pack-check"], "it is in the record, too");
            damage(&shop, mended).await;
        }
        assert_eq!(shop.say("sale of 40").await, "Written: sale of ₹40. Sales today: ₹700.");
        shop.assert_sound().await;
    }

    async fn an_open_question_gives_way_to_another_subject(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        shop.say("gave Sita credit").await;
        let other = shop.say("how much does Ramesh owe").await;
        assert_eq!(other, "I have left this unwritten: gave credit to Sita.\n\nRamesh owes you ₹500.");
        // The question is gone: a bare number answers nothing any more.
        let number = shop.say("700").await;
        assert!(!number.contains("Written"), "{number}");
        shop.say("gave Sita credit").await;
        let help = shop.say("help").await;
        assert!(help.starts_with("I have left this unwritten: gave credit to Sita.\nHere I can help with"), "{help}");
        shop.say("gave Sita credit").await;
        assert!(shop.say("300").await.starts_with("Written: ₹300 on credit to Sita."));
        shop.assert_sound().await;
    }

    async fn a_payment_the_bank_told_of_is_not_written_twice(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 900 on credit").await;
        let message = "Rs.500.00 credited to a/c **4471 on 15-11-26 by RAMESH (UPI Ref No 516588123401)";
        assert!(shop.say(message).await.starts_with("The bank says: ₹500 came from Ramesh."));
        assert_eq!(shop.say("yes").await, "Written: ₹500 received from Ramesh. Ramesh owes you ₹400.");
        test.clock.advance(std::time::Duration::from_secs(3 * 3600));
        let asked = shop.say("Ramesh paid 500").await;
        assert!(asked.starts_with("received ₹500 from Ramesh\nThere is already an entry of ₹500 for Ramesh."), "{asked}");
        shop.say("no").await;
        let again = shop.say(message).await;
        assert!(again.starts_with("This payment of ₹500 is in the books already, as entry 2."), "{again}");
        assert_eq!(shop.say("yes").await, "This payment of ₹500 is in the books already.");
        assert_eq!(shop.say("how much does Ramesh owe").await, "Ramesh owes you ₹400.");
        // Of nobody known, until the owner says who it was.
        let stranger = "Rs.260.00 credited to a/c **4471 on 15-11-26 from VPA q77@ybl (UPI Ref No 516588123402)";
        shop.say(stranger).await;
        shop.say("yes").await;
        let asked = shop.say("Sita paid 260").await;
        assert!(asked.starts_with("received ₹260 from Sita\nThe bank has told of ₹260 already, from nobody known: entry 3."), "{asked}");
        shop.say("no").await;
        assert!(shop.say("Sita paid 261").await.starts_with("Written: ₹261 received from Sita."));
        shop.assert_sound().await;
    }
}
