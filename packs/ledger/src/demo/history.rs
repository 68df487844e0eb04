//! What happens on a day.

use std::time::Duration;

use munshi_store::Tx;
use munshi_types::{Money, Random, Timestamp};

use super::DemoContext;
use super::calendar::{is_payday, traffic_percent};
use super::setup::book;
use crate::books::{
    BookingContext, ContactId, CreditAsset, ItemId, ItemQuantity, LedgerDay, PaymentMeans, PaymentTerms,
    Quantity, ShopTransaction, balances,
};
use crate::error::Result;

/// Customers of an ordinary day who pay at once.
const ORDINARY: u64 = 16;
const OPENS: u64 = 8 * 60;
const MINUTES: u64 = 12 * 60;
/// The item that runs short: nobody buys it in the last days. It is the oil.
const SHORT: &str = "Sarson ka tel";
const SHORT_DAYS: i64 = 12;

/// How somebody pays what they owe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DemoPaymentHabit {
    /// Within days.
    Prompt,
    /// At the beginning of the month.
    Monthly,
    /// Seldom, and never all.
    Late,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct DemoCustomer {
    pub id: ContactId,
    pub manner: DemoPaymentHabit,
}

#[derive(Clone, Debug)]
pub(super) struct DemoGoods {
    pub id: ItemId,
    pub name: String,
    pub unit: String,
    pub price: Money,
    /// What is there after the supplier has come.
    pub full: Quantity,
    pub stock: Quantity,
}

/// A history while it is written.
#[derive(Debug)]
pub struct DemoHistory {
    next: LedgerDay,
    goods: Vec<DemoGoods>,
    customers: Vec<DemoCustomer>,
    suppliers: Vec<ContactId>,
}

impl DemoHistory {
    pub(super) fn new(
        first: LedgerDay,
        goods: Vec<DemoGoods>,
        customers: Vec<DemoCustomer>,
        suppliers: Vec<ContactId>,
    ) -> Self {
        Self { next: first, goods, customers, suppliers }
    }

    /// Writes one day, in the order it happened; false when there is none left.
    pub(super) fn write_day(&mut self, tx: &mut Tx<'_>, telling: &DemoContext<'_>) -> Result<bool> {
        let (day, today) = (self.next, LedgerDay::of(telling.now, telling.zone));
        if day > today {
            return Ok(false);
        }
        for (minute, event) in self.events(telling.random, day, today) {
            let moment = time_of_day(day, minute, telling);
            // Today is only told as far as it has come.
            if moment > telling.now {
                break;
            }
            let writing = BookingContext { ids: telling.ids, now: moment, zone: telling.zone };
            self.book_event(tx, &writing, telling.random, event)?;
        }
        self.next = LedgerDay::from_date(day.to_date().tomorrow().unwrap_or(day.to_date()));
        Ok(self.next > day)
    }

    /// What will happen, by the minute.
    fn events(&self, random: &dyn Random, day: LedgerDay, today: LedgerDay) -> Vec<(u64, Event)> {
        let mut events = Vec::new();
        let mut at_some_time = |event: Event| events.push((random.next_below(MINUTES), event));
        let customers = ORDINARY * traffic_percent(day) / 100;
        let counter = customers * 3 / 4 + random.next_below(customers / 2 + 1);
        (0..counter).for_each(|_| at_some_time(Event::Sale));
        for (number, customer) in self.customers.iter().enumerate() {
            if random.next_below(100) < 22 {
                at_some_time(Event::Credit(number));
            }
            let pays = match customer.manner {
                DemoPaymentHabit::Prompt => random.next_below(100) < 24,
                DemoPaymentHabit::Monthly => is_payday(day) && random.next_below(100) < 45,
                // The last of it was long ago.
                DemoPaymentHabit::Late => today.days_since(day) > 45 && random.next_below(100) < 4,
            };
            if pays {
                at_some_time(Event::Payment(number));
            }
        }
        expenses(random, day).into_iter().for_each(&mut at_some_time);
        self.restock(random, today.days_since(day)).into_iter().for_each(&mut at_some_time);
        if day.to_date().weekday() == jiff::civil::Weekday::Monday {
            at_some_time(Event::Settle);
        }
        events.sort_by_key(|(minute, _)| *minute);
        events
    }

    /// What is bought: whatever is at a third of its full stock. The oil is forgotten in the last days.
    fn restock(&self, random: &dyn Random, days_ago: i64) -> Vec<Event> {
        let is_short = |goods: &DemoGoods| goods.stock.as_thousandths() * 3 < goods.full.as_thousandths();
        let is_forgotten = |goods: &DemoGoods| goods.name == SHORT && days_ago < SHORT_DAYS;
        let wanted =
            self.goods.iter().enumerate().filter(|(_, goods)| is_short(goods) && !is_forgotten(goods));
        wanted.filter(|_| random.next_below(100) < 70).map(|(number, _)| Event::Purchase(number)).collect()
    }

    fn book_event(
        &mut self,
        tx: &mut Tx<'_>,
        writing: &BookingContext<'_>,
        random: &dyn Random,
        event: Event,
    ) -> Result<()> {
        match event {
            Event::Sale => {
                let Some((amount, line, words)) = self.take_from_shelf(random) else { return Ok(()) };
                let settled = PaymentTerms::Now(means(random));
                book(
                    tx,
                    writing,
                    ShopTransaction::Sale { amount, settled, party: None, lines: vec![line] },
                    &words,
                )
            }
            Event::Credit(number) => self.lend(tx, writing, random, number),
            Event::Payment(number) => self.receive(tx, writing, random, number),
            Event::Purchase(number) => self.buy(tx, writing, number),
            Event::Settle => self.settle(tx, writing),
            Event::Expense(category, rupees) => {
                let (amount, settled) = (Money::from_rupees(rupees)?, PaymentTerms::Now(PaymentMeans::Cash));
                let act =
                    ShopTransaction::Expense { amount, category: category.to_owned(), settled, party: None };
                book(tx, writing, act, category)
            }
        }
    }

    fn lend(
        &mut self,
        tx: &mut Tx<'_>,
        writing: &BookingContext<'_>,
        random: &dyn Random,
        number: usize,
    ) -> Result<()> {
        let Some(party) = self.customers.get(number).map(|customer| customer.id) else { return Ok(()) };
        let Some((amount, line, words)) = self.take_from_shelf(random) else { return Ok(()) };
        book(
            tx,
            writing,
            ShopTransaction::CreditGiven { party, amount, lent: CreditAsset::Goods, lines: vec![line] },
            &words,
        )
    }

    /// They pay what they owe: all of it, or a part in whole hundreds.
    fn receive(
        &self,
        tx: &mut Tx<'_>,
        writing: &BookingContext<'_>,
        random: &dyn Random,
        number: usize,
    ) -> Result<()> {
        let Some(customer) = self.customers.get(number) else { return Ok(()) };
        let owed = balances::get(tx, customer.id)?;
        let part = match customer.manner {
            DemoPaymentHabit::Late => Money::from_paise(owed.as_paise() / 4 / 10_000 * 10_000),
            _ if random.next_below(3) == 0 => Money::from_paise(owed.as_paise() / 2 / 10_000 * 10_000),
            _ => owed,
        };
        if part <= Money::ZERO {
            return Ok(());
        }
        let act =
            ShopTransaction::PaymentReceived { party: Some(customer.id), amount: part, means: means(random) };
        book(tx, writing, act, "paid what was owed")
    }

    /// The supplier brings what is missing, at four fifths of the price, on credit.
    fn buy(&mut self, tx: &mut Tx<'_>, writing: &BookingContext<'_>, number: usize) -> Result<()> {
        let supplier = self.suppliers.get(number % self.suppliers.len().max(1)).copied();
        let (Some(goods), Some(party)) = (self.goods.get_mut(number), supplier) else { return Ok(()) };
        let missing = goods.full.as_thousandths() - goods.stock.as_thousandths();
        let (quantity, price) = (Quantity::from_thousandths(missing), goods.price.as_paise());
        let amount = Money::from_paise(missing / 1_000 * price * 4 / 5);
        if amount <= Money::ZERO {
            return Ok(());
        }
        goods.stock = goods.full;
        let words = format!("{} {quantity} {}", goods.name, goods.unit);
        let lines = vec![ItemQuantity { item: goods.id, quantity }];
        book(
            tx,
            writing,
            ShopTransaction::CreditTaken { party, amount, lent: CreditAsset::Goods, lines },
            &words,
        )
    }

    /// Once a week suppliers are paid what they are owed, as far as there is money; the week's cash goes to the bank.
    fn settle(&self, tx: &mut Tx<'_>, writing: &BookingContext<'_>) -> Result<()> {
        let standing = balances::load_totals(tx)?;
        let banked = Money::from_paise((standing.cash.as_paise() - 1_500_000) / 100_000 * 100_000);
        if banked > Money::ZERO {
            book(
                tx,
                writing,
                ShopTransaction::Transfer { amount: banked, from: PaymentMeans::Cash },
                "cash to the bank",
            )?;
        }
        for party in &self.suppliers {
            let owed = balances::get(tx, *party)?.negated()?;
            let amount = owed.min(balances::load_totals(tx)?.bank);
            if amount > Money::ZERO {
                let act =
                    ShopTransaction::PaymentMade { party: Some(*party), amount, means: PaymentMeans::Bank };
                book(tx, writing, act, "paid the week's goods")?;
            }
        }
        Ok(())
    }

    /// Something off the shelf: what it is, how much and for how much. None where the shelf is empty.
    fn take_from_shelf(&mut self, random: &dyn Random) -> Option<(Money, ItemQuantity, String)> {
        let number = usize::try_from(random.next_below(self.goods.len().try_into().ok()?)).ok()?;
        let goods = self.goods.get_mut(number)?;
        let most = if goods.price.as_paise() > 10_000 { 2 } else { 6 };
        let count = i64::try_from(1 + random.next_below(most)).ok()?;
        let quantity = Quantity::from_thousandths(count * 1_000);
        if goods.stock < quantity {
            return None;
        }
        goods.stock = Quantity::from_thousandths(goods.stock.as_thousandths() - quantity.as_thousandths());
        let amount = goods.price.times(count).ok()?;
        let words = format!("{} {quantity} {}", goods.name, goods.unit);
        Some((amount, ItemQuantity { item: goods.id, quantity }, words))
    }
}

/// Something that happens; numbers are places in the play's lists.
#[derive(Clone, Copy, Debug)]
enum Event {
    Sale,
    Credit(usize),
    Payment(usize),
    Purchase(usize),
    Settle,
    Expense(&'static str, i64),
}

fn expenses(random: &dyn Random, day: LedgerDay) -> Vec<Event> {
    let date = day.to_date();
    let mut events = Vec::new();
    match date.day() {
        1 => events.push(Event::Expense("rent", 9_000)),
        5 => events.push(Event::Expense("salary", 7_500)),
        12 => {
            events.push(Event::Expense(
                "electricity",
                2_000 + i64::try_from(random.next_below(600)).unwrap_or(0),
            ));
        }
        _ => {}
    }
    if random.next_below(100) < 30 {
        events.push(Event::Expense(
            "tea and snacks",
            40 + i64::try_from(random.next_below(8)).unwrap_or(0) * 10,
        ));
    }
    if random.next_below(100) < 10 {
        events.push(Event::Expense("transport", 150 + i64::try_from(random.next_below(6)).unwrap_or(0) * 50));
    }
    events
}

/// Two of five pay by phone.
fn means(random: &dyn Random) -> PaymentMeans {
    if random.next_below(5) < 2 { PaymentMeans::Bank } else { PaymentMeans::Cash }
}

fn time_of_day(day: LedgerDay, minute: u64, telling: &DemoContext<'_>) -> Timestamp {
    let morning = day.noon(telling.zone).minus(Duration::from_secs(12 * 3_600 - OPENS * 60));
    morning.plus(Duration::from_secs(minute * 60))
}
