//! Items, what is left of them, and the papers and people around them.

use std::time::Duration;

use munshi_ledger::Error;
use munshi_ledger::books::documents::{DocumentKind, NewLedgerDocument};
use munshi_ledger::books::profile::ShopProfile;
use munshi_ledger::books::reminders::ReminderOutcome;
use munshi_ledger::books::*;
use munshi_store::{JsonText, MIGRATIONS};
use munshi_test_support::on_both_engines;

use crate::books::support::{Shop, credit_sale, rupees};

fn line(item: ItemId, quantity: &str) -> ItemQuantity {
    ItemQuantity { item, quantity: quantity.parse().unwrap() }
}

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn sales_and_purchases_move_stock_and_cancelling_brings_it_back(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (sugar, soap) = (shop.item("Sugar", "kg", Some("5")).await, shop.item("Soap", "piece", None).await);
        shop.book(ShopTransaction::StockIn { lines: vec![line(sugar, "20"), line(soap, "12")], party: None }).await;
        let sold = ShopTransaction::Sale {
            amount: rupees(700), settled: PaymentTerms::Now(PaymentMeans::Cash), party: None,
            lines: vec![line(sugar, "16.5"), line(soap, "2")],
        };
        let sold = shop.book(sold).await;
        let stock = |item| shop.read(move |tx| items::get(tx, item).map(|item| item.stock.to_string()));
        assert_eq!((stock(sugar).await.unwrap(), stock(soap).await.unwrap()), ("3.5".into(), "10".into()));
        let low = shop.read(|tx| items::list_low(tx, 10)).await.unwrap();
        assert_eq!(low.iter().map(|item| item.id).collect::<Vec<_>>(), [sugar]);
        shop.cancel(sold.id, "not paid").await.unwrap();
        assert_eq!(stock(sugar).await.unwrap(), "20");
        assert_eq!(shop.read(|tx| items::list_low(tx, 10)).await.unwrap(), []);
        shop.book(ShopTransaction::StockOut { lines: vec![line(soap, "13")], party: None }).await;
        assert_eq!(stock(soap).await.unwrap(), "-1", "what nobody said came in is still sold");
        let lost = shop.book_new(shop.new_entry(ShopTransaction::StockOut { lines: vec![line(munshi_types::Id::from_uuid(uuid::Uuid::nil()), "1")], party: None })).await;
        assert!(matches!(lost, Err(Error::Missing { what: "item", .. })), "{lost:?}");
        let new = NewStockItem { name: "Sugar".into(), unit: "bag".into(), ..NewStockItem::default() };
        assert!(matches!(shop.write(move |tx, _| items::update(tx, sugar, &new)).await, Err(Error::Invalid(_))));
        assert_eq!(shop.read(|tx| items::find(tx, "शुगर")).await.unwrap().into_one().map(|item| item.id), Some(sugar));
        shop.assert_sound().await;
    }

    async fn papers_are_numbered_without_a_gap_in_their_series(test: TestDb) {
        let shop = Shop::open(&test).await;
        let file = |series: &str| {
            let new = NewLedgerDocument {
                kind: DocumentKind::Invoice, series: series.into(), entry: None, contact: None,
                body: JsonText::of(&"printed").unwrap(),
            };
            shop.write(move |tx, writing| documents::add(tx, writing.ids, writing.now, &new))
        };
        let (one, two, other) = tokio::join!(file("INV/26-27"), file("INV/26-27"), file("BOS/26-27"));
        let mut numbers = [one.unwrap().number, two.unwrap().number];
        numbers.sort_unstable();
        assert_eq!((numbers, other.unwrap().number), ([1, 2], 1));
        assert!(matches!(file("").await, Err(Error::Invalid(_))));
    }

    async fn nobody_is_reminded_twice_in_three_days_nor_of_nothing(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        let due_at = shop.now();
        let remind = || shop.write(move |tx, w| reminders::add(tx, w.ids, w.now, rajan, "please pay", due_at));
        assert!(matches!(remind().await, Err(Error::Invalid(_))));
        shop.book(credit_sale(rajan, 100)).await;
        let reminder = remind().await.unwrap();
        assert_eq!(shop.read(move |tx| reminders::list_due(tx, due_at)).await.unwrap(), std::slice::from_ref(&reminder));
        let end = || shop.write(move |tx, writing| reminders::end(tx, reminder.id, ReminderOutcome::Sent, writing.now));
        assert_eq!((end().await.unwrap(), end().await.unwrap()), (true, false));
        let may = || {
            let now = shop.now();
            shop.read(move |tx| reminders::may_remind(tx, rajan, now, None))
        };
        assert!(!may().await.unwrap());
        shop.clock.advance(Duration::from_secs(3 * 86_400));
        assert!(may().await.unwrap());
    }

    async fn a_profile_is_kept_and_slips_in_it_are_said(test: TestDb) {
        let shop = Shop::open(&test).await;
        assert_eq!(shop.read(profile::get).await.unwrap().confirm_above, rupees(10_000));
        let good = ShopProfile { business: "Sharma Kirana".into(), upi: Some("sharma@okaxis".into()), ..ShopProfile::default() };
        let kept = good.clone();
        shop.write(move |tx, writing| profile::save(tx, &kept, writing.now)).await.unwrap();
        assert_eq!(shop.read(profile::get).await.unwrap(), good);
        for bad in [
            ShopProfile { upi: Some("sharma".into()), ..good.clone() },
            ShopProfile { gstin: Some("27ABC".into()), ..good.clone() },
            ShopProfile { scheme: GstScheme::Regular, ..good.clone() },
        ] {
            assert!(shop.write(move |tx, writing| profile::save(tx, &bad, writing.now)).await.is_err());
        }
    }
}
