//! A figure that was tampered with is found and named.

use munshi_ledger::books::*;
use munshi_store::{DatabaseAddress, MIGRATIONS};
use munshi_test_support::on_both_engines;

use crate::books::support::{Shop, cash_sale, credit_sale, received, rupees};

async fn some_books(test: &munshi_test_support::TestDb) -> Shop {
    let shop = Shop::open(test).await;
    let (rajan, asha) = (shop.contact("Rajan").await, shop.contact("Asha").await);
    let sugar = shop.item("Sugar", "kg", None).await;
    shop.book(cash_sale(500)).await;
    shop.book(ShopTransaction::StockIn {
        lines: vec![ItemQuantity { item: sugar, quantity: "4".parse().unwrap() }],
        party: None,
    })
    .await;
    for amount in [100, 200, 300] {
        shop.book(credit_sale(rajan, amount)).await;
        shop.clock.advance(std::time::Duration::from_secs(86_400));
    }
    shop.book(received(asha, 40)).await;
    let wrong = shop.book(credit_sale(asha, 90)).await;
    shop.cancel(wrong.id, "wrong").await.unwrap();
    shop.assert_sound().await;
    shop
}

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn every_kept_figure_is_proved(test: TestDb) {
        for (statement, figure) in [
            ("UPDATE ledger_books SET entries = entries + 1 WHERE tenant_id = $1", "number of"),
            ("UPDATE ledger_days SET amount = amount + 1 WHERE tenant_id = $1 AND kind = 'sale'", "turnover of"),
            ("UPDATE ledger_days SET postings = postings + 1 WHERE tenant_id = $1 AND kind = 'sale'", "turnover of"),
            ("INSERT INTO ledger_days (tenant_id, day, kind, debit, credit, amount, postings)
              VALUES ($1, 1, 'sale', 'cash', 'sales', 5, 1)", "turnover of"),
            ("UPDATE ledger_accounts SET balance = balance + 1 WHERE tenant_id = $1 AND code = 'cash'", "balance of account"),
            ("UPDATE ledger_contacts SET balance = balance + 1 WHERE tenant_id = $1 AND name = 'Asha'", "balance of contact"),
            ("UPDATE ledger_books SET receivable = receivable + 1 WHERE tenant_id = $1", "sum of what"),
            ("UPDATE ledger_books SET payable = payable + 1 WHERE tenant_id = $1", "sum of what"),
            ("UPDATE ledger_items SET stock = stock - 1 WHERE tenant_id = $1", "stock of item"),
            ("UPDATE ledger_habits SET seen = seen + 1 WHERE tenant_id = $1 AND side = 'payment'", "number of entries of contact"),
            ("UPDATE ledger_habits SET usual = usual + 1 WHERE tenant_id = $1 AND side = 'payment'", "habits of contact"),
            ("UPDATE ledger_habits SET rhythm = 9 WHERE tenant_id = $1 AND side = 'payment'", "habits of contact"),
            ("UPDATE ledger_habits SET rhythm = NULL WHERE tenant_id = $1 AND rhythm IS NOT NULL", "habits of contact"),
            ("UPDATE ledger_habits SET high = low WHERE tenant_id = $1 AND high <> low", "habits of contact"),
            ("UPDATE ledger_habits SET last_at = NULL WHERE tenant_id = $1 AND side = 'payment'", "habits of contact"),
        ] {
            let shop = some_books(&test).await;
            let touched = shop.db.write(shop.tenant, move |tx| tx.execute(statement, &[])).await.unwrap();
            assert!(touched > 0, "{statement}");
            let finding = shop.read(verify).await.unwrap().unwrap_or_else(|| panic!("not found: {statement}"));
            assert_eq!(finding.figure, figure, "{statement}: {finding}");
        }
    }

    async fn a_posting_that_somebody_changed_behind_the_program_is_named(test: TestDb) {
        let shop = some_books(&test).await;
        let change = "UPDATE ledger_postings SET amount = amount + 100 WHERE kind = 'payment_received'";
        match &test.address {
            DatabaseAddress::Sqlite(path) => {
                let raw = rusqlite::Connection::open(path).unwrap();
                raw.execute_batch("DROP TRIGGER ledger_postings_no_update").unwrap();
                raw.execute_batch(change).unwrap();
            }
            DatabaseAddress::Postgres(_) => test.place.run_as_superuser(change),
        }
        let finding = shop.read(verify).await.unwrap().unwrap();
        let six = (finding.figure, finding.which.as_str(), finding.kept.as_str(), finding.worked_out.as_str());
        assert_eq!(six, ("amount of entry", "6", "40.00", "41.00"));
        assert_eq!(
            finding.to_string(),
            "amount of entry 6: stored 40.00, recomputed 41.00"
        );
        assert_eq!(shop.standing().await.cash, rupees(540));
    }
}
