//! Nothing is deleted or changed: the database itself holds that.

use munshi_ledger::books::*;
use munshi_store::{DatabaseAddress, Error, MIGRATIONS};
use munshi_test_support::on_both_engines;

use crate::books::support::{Shop, credit_sale};

const DELETES: [&str; 13] = [
    "DELETE FROM ledger_books WHERE tenant_id = $1",
    "DELETE FROM ledger_contacts WHERE tenant_id = $1",
    "DELETE FROM ledger_items WHERE tenant_id = $1",
    "DELETE FROM ledger_names WHERE tenant_id = $1",
    "DELETE FROM ledger_accounts WHERE tenant_id = $1",
    "DELETE FROM ledger_entries WHERE tenant_id = $1",
    "DELETE FROM ledger_postings WHERE tenant_id = $1",
    "DELETE FROM ledger_movements WHERE tenant_id = $1",
    "DELETE FROM ledger_days WHERE tenant_id = $1",
    "DELETE FROM ledger_habits WHERE tenant_id = $1",
    "UPDATE ledger_entries SET amount = amount + 1 WHERE tenant_id = $1",
    "UPDATE ledger_postings SET amount = amount + 1 WHERE tenant_id = $1",
    "UPDATE ledger_movements SET quantity = quantity + 1 WHERE tenant_id = $1",
];

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn no_statement_removes_or_changes_what_was_booked(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (rajan, sugar) = (shop.contact("Rajan").await, shop.item("Sugar", "kg", None).await);
        let lines = vec![ItemQuantity { item: sugar, quantity: "1".parse().unwrap() }];
        let entry = shop.book(ShopTransaction::CreditGiven { party: rajan, amount: crate::books::support::rupees(5), lent: CreditAsset::Goods, lines }).await;
        for statement in DELETES {
            let refused = shop.db.write(shop.tenant, move |tx| tx.execute(statement, &[])).await.unwrap_err();
            assert!(matches!(refused, Error::Refused(_)), "{statement}: {refused:?}");
        }
        assert!(shop.read(move |tx| entry::find(tx, entry.id)).await.unwrap().unwrap().is_active());
        shop.assert_sound().await;
    }

    async fn what_breaks_a_rule_of_the_books_is_refused_by_the_table(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        let entry = shop.book(credit_sale(rajan, 5)).await;
        for statement in [
            // From an account to itself, to nobody's account, for nothing.
            "INSERT INTO ledger_postings (tenant_id, entry_id, line, debit, credit, contact_id, amount, kind, day)
             VALUES ($1, $2, 9, 'sales', 'sales', NULL, 5, 'sale', 0)",
            "INSERT INTO ledger_postings (tenant_id, entry_id, line, debit, credit, contact_id, amount, kind, day)
             VALUES ($1, $2, 9, 'contacts', 'sales', NULL, 5, 'sale', 0)",
            "INSERT INTO ledger_postings (tenant_id, entry_id, line, debit, credit, contact_id, amount, kind, day)
             VALUES ($1, $2, 9, 'nowhere', 'sales', NULL, 5, 'sale', 0)",
            "UPDATE ledger_contacts SET merged_into = id WHERE tenant_id = $1 AND id <> $2",
        ] {
            let id = entry.id;
            let refused = shop.db.write(shop.tenant, move |tx| tx.execute(statement, munshi_store::params![id])).await;
            assert!(matches!(refused, Err(Error::Refused(_))), "{statement}: {refused:?}");
        }
        shop.assert_sound().await;
    }

    async fn no_connection_to_a_sqlite_file_can_replace_an_entry(test: TestDb) {
        let DatabaseAddress::Sqlite(path) = &test.address else { return };
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        shop.book(credit_sale(rajan, 5)).await;
        let raw = rusqlite::Connection::open(path).unwrap();
        raw.execute_batch("PRAGMA recursive_triggers = OFF; PRAGMA foreign_keys = OFF").unwrap();
        for replace in [
            "INSERT OR REPLACE INTO ledger_entries SELECT * FROM ledger_entries",
            "INSERT OR REPLACE INTO ledger_postings SELECT * FROM ledger_postings",
        ] {
            let refused = raw.execute_batch(replace).unwrap_err().to_string();
            assert!(refused.contains("append-only"), "{refused}");
        }
    }
}
