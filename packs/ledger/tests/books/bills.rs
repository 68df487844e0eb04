//! Bills: their kind, their number, and the tax of the day they are of.

use munshi_ledger::bill::{self, Bill, BillRequest};
use munshi_ledger::books::details::ContactDetails;
use munshi_ledger::books::documents::DocumentKind;
use munshi_ledger::books::profile::ShopProfile;
use munshi_ledger::books::taxes::ItemTax;
use munshi_ledger::books::*;
use munshi_ledger::tax::{GstSupplyType, TaxRate};
use munshi_ledger::{Error, Result};
use munshi_store::MIGRATIONS;
use munshi_test_support::on_both_engines;
use munshi_types::Money;

use crate::books::support::{Shop, rupees};

const OWN: &str = "27AAPFU0939F1ZV";
const ELSEWHERE: &str = "29AABCU9603R1ZJ";

async fn registered(shop: &Shop, scheme: GstScheme) {
    let (business, place) = ("Gupta".to_owned(), "12 MG Road, Pune".to_owned());
    let profile =
        ShopProfile { gstin: Some(OWN.to_owned()), scheme, business, place, ..ShopProfile::default() };
    shop.write(move |tx, writing| profile::save(tx, &profile, writing.now)).await.unwrap();
}

/// An item of a price, with its rates from days on.
async fn item(shop: &Shop, name: &str, price: i64, rates: &[(&str, i64)]) -> ItemId {
    let new = NewStockItem {
        name: name.to_owned(),
        unit: "piece".to_owned(),
        price: Some(rupees(price)),
        low_at: None,
    };
    let taxes: Vec<ItemTax> = rates
        .iter()
        .map(|(from, rate)| ItemTax {
            hsn: String::new(),
            rate: TaxRate::from_hundredths(*rate),
            from: from.parse().unwrap(),
        })
        .collect();
    let unit = move |tx: &mut munshi_store::Tx<'_>, writing: &BookingContext<'_>| {
        let item = items::add(tx, writing.ids, writing.now, &new)?;
        for tax in &taxes {
            taxes::set(tx, item.id, tax, writing.now)?;
        }
        Ok(item.id)
    };
    shop.write(unit).await.unwrap()
}

/// A sale of these items on a day, and its bill.
async fn billed(
    shop: &Shop,
    day: &str,
    amount: i64,
    items: &[ItemId],
    party: Option<ContactId>,
) -> Result<(String, Bill)> {
    let lines =
        items.iter().map(|item| ItemQuantity { item: *item, quantity: "1".parse().unwrap() }).collect();
    let act = ShopTransaction::Sale {
        amount: Money::from_paise(amount),
        settled: PaymentTerms::Now(PaymentMeans::Cash),
        party,
        lines,
    };
    let mut new = shop.new_entry(act);
    new.said.happened_at = day.parse::<LedgerDay>().unwrap().noon(&shop.zone);
    let entry = shop.book_new(new).await.unwrap().entry;
    let (document, bill) = shop
        .write(move |tx, writing| bill::make(tx, writing.ids, writing.now, &entry, BillRequest::default()))
        .await?;
    Ok((bill.number(document.number), bill))
}

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn the_rate_is_of_the_day_of_supply(test: TestDb) {
        let shop = Shop::open(&test).await;
        registered(&shop, GstScheme::Regular).await;
        let soap = item(&shop, "Soap", 38, &[("2017-07-01", 1_800), ("2025-09-22", 500)]).await;
        let (number, before) = billed(&shop, "2025-09-21", 11_800, &[soap], None).await.unwrap();
        assert_eq!((number.as_str(), before.taxed.cgst, before.taxed.taxable), ("INV/25-26/1", rupees(9), rupees(100)));
        let (_, after) = billed(&shop, "2025-09-22", 10_500, &[soap], None).await.unwrap();
        assert_eq!((after.taxed.cgst, after.taxed.sgst), (Money::from_paise(250), Money::from_paise(250)));
        let wrong = ItemTax { hsn: String::new(), rate: TaxRate::from_hundredths(2_800), from: "2026-03-01".parse().unwrap() };
        let refused = shop.write(move |tx, writing| taxes::set(tx, soap, &wrong, writing.now)).await;
        assert!(matches!(refused, Err(Error::BadRate(what)) if what.contains("40%")), "there is no such rate then");
    }

    async fn a_series_begins_with_the_year_and_has_no_gap(test: TestDb) {
        let shop = Shop::open(&test).await;
        registered(&shop, GstScheme::Regular).await;
        let soap = item(&shop, "Soap", 38, &[("2025-09-22", 500)]).await;
        let mut numbers = Vec::new();
        for day in ["2026-03-31", "2026-04-01", "2026-04-02", "2026-03-30"] {
            numbers.push(billed(&shop, day, 10_500, &[soap], None).await.unwrap().0);
        }
        assert_eq!(numbers, ["INV/25-26/1", "INV/26-27/1", "INV/26-27/2", "INV/25-26/2"]);
        assert!(numbers.iter().all(|number| number.len() <= 16), "as the law wants it");
    }

    async fn another_state_pays_one_tax(test: TestDb) {
        let shop = Shop::open(&test).await;
        registered(&shop, GstScheme::Regular).await;
        let soap = item(&shop, "Soap", 38, &[("2025-09-22", 500)]).await;
        let buyer = shop.contact("Mysore Stores").await;
        let here = billed(&shop, "2026-10-01", 10_500, &[soap], Some(buyer)).await.unwrap().1;
        assert_eq!((here.way, here.taxed.igst), (GstSupplyType::Within, Money::ZERO), "at the counter");
        let said = ContactDetails { gstin: Some(ELSEWHERE.to_lowercase()), ..ContactDetails::default() };
        shop.write(move |tx, writing| details::update(tx, buyer, &said, writing.now)).await.unwrap();
        let across = billed(&shop, "2026-10-01", 10_500, &[soap], Some(buyer)).await.unwrap().1;
        assert_eq!((across.way, across.taxed.igst, across.taxed.cgst), (GstSupplyType::Across, rupees(5), Money::ZERO));
        assert_eq!(across.buyer.unwrap().gstin.as_deref(), Some(ELSEWHERE));
        let bad = ContactDetails { gstin: Some("29AABCU9603R1ZK".to_owned()), ..ContactDetails::default() };
        assert!(shop.write(move |tx, writing| details::update(tx, buyer, &bad, writing.now)).await.is_err());
    }

    async fn whoever_may_take_no_tax_takes_none(test: TestDb) {
        let shop = Shop::open(&test).await;
        let soap = item(&shop, "Soap", 38, &[("2025-09-22", 500)]).await;
        let rice = item(&shop, "Rice", 58, &[("2025-09-22", 0)]).await;
        let plain = billed(&shop, "2026-10-01", 10_500, &[soap], None).await.unwrap().1;
        assert_eq!((plain.kind, plain.taxed.taxable), (DocumentKind::BillOfSupply, rupees(105)), "unregistered");
        registered(&shop, GstScheme::Composition).await;
        let composed = billed(&shop, "2026-10-01", 10_500, &[soap], None).await.unwrap().1;
        assert_eq!((composed.kind, composed.taxed.tax().unwrap()), (DocumentKind::BillOfSupply, Money::ZERO));
        registered(&shop, GstScheme::Regular).await;
        let (number, free) = billed(&shop, "2026-10-01", 5_800, &[rice], None).await.unwrap();
        assert_eq!((free.kind, number.as_str()), (DocumentKind::BillOfSupply, "BOS/26-27/3"), "goods without tax");
        let unknown = item(&shop, "Wire", 90, &[]).await;
        let refused = billed(&shop, "2026-10-01", 9_000, &[unknown], None).await;
        assert!(matches!(refused, Err(Error::NoRate { what }) if what == "Wire"));
    }

    async fn several_goods_share_what_was_paid(test: TestDb) {
        let shop = Shop::open(&test).await;
        registered(&shop, GstScheme::Regular).await;
        let soap = item(&shop, "Soap", 38, &[("2025-09-22", 500)]).await;
        let cola = item(&shop, "Cola", 40, &[("2025-09-22", 4_000)]).await;
        let rice = item(&shop, "Rice", 58, &[("2025-09-22", 0)]).await;
        // A paisa that can't be shared goes to the last.
        let (_, bill) = billed(&shop, "2026-10-01", 13_333, &[soap, cola, rice], None).await.unwrap();
        let parts: Vec<i64> = bill.lines.iter().map(|line| line.amount.as_paise()).collect();
        assert_eq!((parts.iter().sum::<i64>(), bill.total.as_paise()), (13_333, 13_333));
        assert_eq!(parts, [3_725, 3_921, 5_687]);
        let sum = bill.taxed.taxable.plus(bill.taxed.tax().unwrap()).unwrap();
        assert_eq!((bill.kind, sum), (DocumentKind::Invoice, bill.total));
    }

    async fn a_sale_has_one_bill_and_a_cancelled_one_gets_none(test: TestDb) {
        let shop = Shop::open(&test).await;
        let entry = shop.book(crate::books::support::cash_sale(90)).await;
        let make = |entry: LedgerEntry| shop.write(move |tx, writing| {
            bill::make(tx, writing.ids, writing.now, &entry, BillRequest::default()).map(|(document, _)| document.id)
        });
        let (first, again) = (make(entry.clone()).await.unwrap(), make(entry.clone()).await.unwrap());
        assert_eq!(first, again);
        let other = shop.book(crate::books::support::cash_sale(70)).await;
        shop.cancel(other.id, "wrong").await.unwrap();
        let other = shop.read(move |tx| entry::find(tx, other.id)).await.unwrap().unwrap();
        assert!(make(other).await.is_err());
        assert_eq!(shop.read(|tx| bill::find_latest_sale(tx, None, None)).await.unwrap().unwrap().id, entry.id);
    }
}
