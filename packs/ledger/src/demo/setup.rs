//! The shop, its people and its goods. All of it is invented.

use munshi_store::Tx;
use munshi_types::tier::LanguageCode;
use munshi_types::{Id, Money};

use super::DemoContext;
use super::history::{DemoCustomer, DemoGoods, DemoHistory, DemoPaymentHabit};
use crate::books::contacts::{self, NewContact};
use crate::books::details::{self, ContactDetails};
use crate::books::profile::{self, ShopProfile};
use crate::books::taxes::{self, ItemTax};
use crate::books::{
    self, BookingContext, ContactId, ContactRoles, EntryKey, EntryProvenance, LedgerDay, LedgerEntrySource,
    NewLedgerEntry, NewStockItem, OpeningBalance, PaymentMeans, Quantity, ShopTransaction, items,
};
use crate::error::Result;
use crate::tax::TaxRate;

/// Name, unit, price in rupees, what is there at first, and when to be told: the oil runs short.
const GOODS: [(&str, &str, i64, i64, i64); 14] = [
    ("Atta", "kg", 42, 240, 30),
    ("Chawal", "kg", 58, 260, 40),
    ("Cheeni", "kg", 46, 150, 20),
    ("Toor dal", "kg", 148, 70, 10),
    ("Chana dal", "kg", 92, 60, 10),
    ("Sarson ka tel", "litre", 165, 90, 24),
    ("Ghee", "kg", 640, 30, 5),
    ("Doodh", "litre", 62, 120, 15),
    ("Chai patti", "kg", 420, 24, 4),
    ("Namak", "packet", 25, 110, 15),
    ("Sabun", "piece", 38, 200, 30),
    ("Biscuit", "packet", 20, 260, 40),
    ("Maggi", "packet", 14, 220, 30),
    ("Haldi", "packet", 34, 80, 10),
];

/// Their name, how they pay, and the language they are written to in.
const CUSTOMERS: [(&str, DemoPaymentHabit, &str); 11] = [
    ("Ramesh Yadav", DemoPaymentHabit::Prompt, "hi-latn"),
    ("Sunita Devi", DemoPaymentHabit::Prompt, "hi"),
    ("Imran Khan", DemoPaymentHabit::Monthly, "hi-latn"),
    ("Lakshmi Iyer", DemoPaymentHabit::Monthly, "ta"),
    ("Harpreet Singh", DemoPaymentHabit::Monthly, "pa"),
    ("Meena Patil", DemoPaymentHabit::Prompt, "mr"),
    ("Anil Deshmukh", DemoPaymentHabit::Late, "mr"),
    ("Farida Shaikh", DemoPaymentHabit::Monthly, "hi-latn"),
    ("Joseph Kurian", DemoPaymentHabit::Prompt, "ml"),
    ("Bablu Chaiwala", DemoPaymentHabit::Monthly, "hi-latn"),
    ("Kavita Joshi", DemoPaymentHabit::Prompt, "gu"),
];

const SUPPLIERS: [&str; 3] = ["Gupta Traders", "Shree Dairy", "Balaji Agencies"];

pub(super) fn create_shop(
    tx: &mut Tx<'_>,
    telling: &DemoContext<'_>,
    first: LedgerDay,
) -> Result<DemoHistory> {
    let began = first.previous().noon(telling.zone);
    let writing = BookingContext { ids: telling.ids, now: began, zone: telling.zone };
    profile::save(tx, &shop(), began)?;
    let customers = add_customers(tx, &writing)?;
    let suppliers = add_suppliers(tx, &writing)?;
    let goods = add_goods(tx, &writing)?;
    for (means, rupees) in [(PaymentMeans::Cash, 18_500), (PaymentMeans::Bank, 64_000)] {
        let balance = Money::from_rupees(rupees)?;
        book(
            tx,
            &writing,
            ShopTransaction::Opening(OpeningBalance::Money { means, balance }),
            "cash and bank at the beginning",
        )?;
    }
    Ok(DemoHistory::new(first, goods, customers, suppliers))
}

fn shop() -> ShopProfile {
    ShopProfile {
        business: "Annapurna Kirana".to_owned(),
        owner: "Savita Kulkarni".to_owned(),
        trade: "kirana".to_owned(),
        place: "14 Tulsi Lane, Pune".to_owned(),
        state: "27".to_owned(),
        upi: Some("annapurna.demo@upi".to_owned()),
        ..ShopProfile::default()
    }
}

fn add_customers(tx: &mut Tx<'_>, writing: &BookingContext<'_>) -> Result<Vec<DemoCustomer>> {
    let mut customers = Vec::new();
    for (number, (name, manner, language)) in (10_i64..).zip(CUSTOMERS) {
        let new = NewContact {
            name: name.to_owned(),
            roles: ContactRoles { customer: true, ..ContactRoles::default() },
            // The office of telephones gives such numbers to nobody.
            phone: Some(format!("+919999900{number:03}")),
            limit: (manner == DemoPaymentHabit::Late).then(|| Money::from_rupees(6_000)).transpose()?,
        };
        let contact = contacts::add(tx, writing.ids, writing.now, &new)?;
        let said =
            ContactDetails { language: language.parse::<LanguageCode>().ok(), ..ContactDetails::default() };
        details::update(tx, contact.id, &said, writing.now)?;
        customers.push(DemoCustomer { id: contact.id, manner });
    }
    Ok(customers)
}

fn add_suppliers(tx: &mut Tx<'_>, writing: &BookingContext<'_>) -> Result<Vec<ContactId>> {
    let mut ids = Vec::new();
    for name in SUPPLIERS {
        let roles = ContactRoles { supplier: true, ..ContactRoles::default() };
        let new = NewContact { name: name.to_owned(), roles, ..NewContact::default() };
        ids.push(contacts::add(tx, writing.ids, writing.now, &new)?.id);
    }
    Ok(ids)
}

fn add_goods(tx: &mut Tx<'_>, writing: &BookingContext<'_>) -> Result<Vec<DemoGoods>> {
    let mut goods = Vec::new();
    for (name, unit, price, stock, low) in GOODS {
        let (price, stock) = (Money::from_rupees(price)?, Quantity::from_thousandths(stock * 1_000));
        let low_at = Some(Quantity::from_thousandths(low * 1_000));
        let new = NewStockItem { name: name.to_owned(), unit: unit.to_owned(), price: Some(price), low_at };
        let item = items::add(tx, writing.ids, writing.now, &new)?;
        let tax = ItemTax {
            hsn: String::new(),
            rate: TaxRate::from_hundredths(500),
            from: LedgerDay::from_date(TaxRate::rates_valid_since(
                LedgerDay::of(writing.now, writing.zone).to_date(),
            )),
        };
        taxes::set(tx, item.id, &tax, writing.now)?;
        let lines = vec![books::ItemQuantity { item: item.id, quantity: stock }];
        book(
            tx,
            writing,
            ShopTransaction::Opening(OpeningBalance::Stock { lines }),
            "stock at the beginning",
        )?;
        goods.push(DemoGoods { id: item.id, name: item.name, unit: item.unit, price, full: stock, stock });
    }
    Ok(goods)
}

/// Books something under a key of its own, at the time that is being played.
pub(super) fn book(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    act: ShopTransaction,
    words: &str,
) -> Result<()> {
    let key = EntryKey::new(writing.ids.next::<books::LedgerEntryId>().as_uuid());
    let new =
        NewLedgerEntry { key, act, said: EntryProvenance::new(LedgerEntrySource::Owner, words, writing.now) };
    books::book(tx, writing, &new)?;
    Ok(())
}
