//! Books with many entries: what is asked every day, and the proof.

use std::time::Instant;

use anyhow::Result;
use munshi_ledger::books::{
    self, BookingContext, ContactId, CreditAsset, DayRange, EntryKey, EntryProvenance, LedgerDay,
    LedgerEntrySource, NewContact, NewLedgerEntry, PaymentMeans, PaymentTerms, ShopTransaction, balances,
    contacts, daily_turnover, day_book, habits,
};
use munshi_store::{Db, StoreOptions, Tx};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::{Clock, Id, IdGenerator, Money, SystemClock, TenantId, Timestamp, Zone};
use tokio::runtime::Runtime;

use super::rows;

/// Contacts of the shop.
const PEOPLE: usize = 2_000;
/// Rows of entries in one transaction while the books are filled.
const AT_ONCE: usize = 5_000;
/// Entries booked in one transaction: each leaves dead versions of the kept balances, which Postgres clears after it.
const BOOKED_AT_ONCE: usize = 200;
/// One of so many entries is booked as an owner does it.
const ROWS_FOR_ONE: usize = 25;
/// Years that the entries lie in.
pub(super) const DAYS: i64 = 3 * 365;
const ASKED: usize = 500;
const PROVED: usize = 3;
/// Milliseconds.
const READ_GOAL: f64 = 5.0;
const PROOF_GOAL: f64 = 2_000.0;

pub(super) struct Row {
    pub(super) what: &'static str,
    /// Milliseconds; none for a list, which takes as long as it is.
    pub(super) goal: Option<f64>,
    /// Microseconds.
    pub(super) took: Vec<u128>,
}

struct Ledger {
    _test: TestDb,
    db: Db,
    tenant: TenantId,
    people: Vec<ContactId>,
    now: Timestamp,
}

pub(super) fn measure(engine: DatabaseEngine, runtime: &Runtime, entries: usize) -> Result<Vec<Row>> {
    runtime.block_on(async {
        let ledger = Ledger::open(engine, entries).await?;
        let day = LedgerDay::of(ledger.now, &Zone::default());
        let rows = vec![
            ledger.measure_query("what one owes", ASKED, balances::get).await?,
            ledger
                .measure_query("cash, bank, all that is owed", ASKED, |tx, _| balances::load_totals(tx))
                .await?,
            ledger
                .measure_query("who owes most", ASKED, |tx, _| balances::list_debtors(tx, None, 10))
                .await?,
            ledger
                .measure_query("a month's totals", ASKED, move |tx, _| {
                    daily_turnover::totals(tx, DayRange::month(day))
                })
                .await?,
            ledger
                .measure_query("what is usual", ASKED, |tx, id| habits::get(tx, id, books::HabitSide::Trade))
                .await?,
            ledger
                .measure_query("the day book", ASKED, move |tx, _| day_book::load_day(tx, day.previous()))
                .await?
                .with_goal(None),
            ledger
                .measure_query("all worked out again", PROVED, |tx, _| verify_books(tx))
                .await?
                .with_goal(Some(PROOF_GOAL)),
        ];
        Ok(rows)
    })
}

impl Row {
    fn with_goal(self, goal: Option<f64>) -> Self {
        Self { goal, ..self }
    }
}

fn verify_books(tx: &mut Tx<'_>) -> munshi_ledger::Result<()> {
    match books::verify(tx)? {
        None => Ok(()),
        Some(finding) => Err(munshi_ledger::Error::Invalid(finding.to_string())),
    }
}

impl Ledger {
    async fn open(engine: DatabaseEngine, entries: usize) -> Result<Self> {
        let lists = [munshi_store::MIGRATIONS, munshi_ledger::MIGRATIONS];
        let test = TestDb::open_with(engine, &lists, StoreOptions::default()).await;
        let tenant = test.add_tenant("shop").await;
        let (db, now) = (test.db.clone(), SystemClock.now());
        let people = db.write(tenant, move |tx| people(tx, now)).await?;
        let mut ledger = Self { _test: test, db, tenant, people, now };
        ledger.fill(entries).await?;
        Ok(ledger)
    }

    /// Some as an owner books them, and between them many sales at the counter, written as rows: the proof that is measured
    /// is also the proof that these are right.
    async fn fill(&mut self, entries: usize) -> Result<()> {
        let booked = entries.div_ceil(ROWS_FOR_ONE);
        for from in (0..booked).step_by(BOOKED_AT_ONCE) {
            let (people, now) = (self.people.clone(), self.now);
            let mut numbers = from..(from + BOOKED_AT_ONCE).min(booked);
            let unit =
                move |tx: &mut Tx<'_>| numbers.try_for_each(|number| add_entry(tx, &people, now, number));
            self.db.write(self.tenant, unit).await?;
        }
        for from in (booked..entries).step_by(AT_ONCE) {
            let (now, numbers) = (self.now, from..(from + AT_ONCE).min(entries));
            self.db.write(self.tenant, move |tx| rows::insert_sales(tx, now, numbers)).await?;
        }
        Ok(())
    }

    async fn measure_query<T: Send + 'static>(
        &self,
        what: &'static str,
        times: usize,
        asked: impl Fn(&mut Tx<'_>, ContactId) -> munshi_ledger::Result<T> + Copy + Send + 'static,
    ) -> Result<Row> {
        let mut took = Vec::with_capacity(times);
        for number in 0..times {
            let Some(person) = self.people.get(number % self.people.len().max(1)).copied() else { break };
            let began = Instant::now();
            self.db.read(self.tenant, move |tx| asked(tx, person)).await?;
            took.push(began.elapsed().as_micros());
        }
        Ok(Row { what, goal: Some(READ_GOAL), took })
    }
}

fn people(tx: &mut Tx<'_>, now: Timestamp) -> munshi_ledger::Result<Vec<ContactId>> {
    let ids = IdGenerator::system();
    let mut people = Vec::with_capacity(PEOPLE);
    for number in 0..PEOPLE {
        let new = NewContact { name: format!("Customer {number}"), ..NewContact::default() };
        people.push(contacts::add(tx, &ids, now, &new)?.id);
    }
    Ok(people)
}

/// One entry of many: sales at the counter, credit and its payment in turn, over three years.
fn add_entry(
    tx: &mut Tx<'_>,
    people: &[ContactId],
    now: Timestamp,
    number: usize,
) -> munshi_ledger::Result<()> {
    const DAY: u64 = 86_400;
    let (ids, zone) = (IdGenerator::system(), Zone::default());
    let small = i64::try_from(number).unwrap_or(0);
    let back = u64::try_from((small * 7_919).rem_euclid(DAYS)).unwrap_or(0);
    let happened = now.minus(std::time::Duration::from_secs(back * DAY));
    let writing = BookingContext { ids: &ids, now: happened, zone: &zone };
    let amount = Money::from_paise(1_000 + (small * 37).rem_euclid(90_000));
    let party = people.get(number / 4 % people.len().max(1)).copied();
    let act = match (number % 4, party) {
        (0, Some(party)) => {
            ShopTransaction::CreditGiven { party, amount, lent: CreditAsset::Goods, lines: Vec::new() }
        }
        (1, party @ Some(_)) => ShopTransaction::PaymentReceived { party, amount, means: PaymentMeans::Cash },
        _ => ShopTransaction::Sale {
            amount,
            settled: PaymentTerms::Now(PaymentMeans::Cash),
            party: None,
            lines: Vec::new(),
        },
    };
    let key = EntryKey::new(ids.next::<books::LedgerEntryId>().as_uuid());
    let said = EntryProvenance::new(LedgerEntrySource::Owner, "", happened);
    books::book(tx, &writing, &NewLedgerEntry { key, act, said })?;
    Ok(())
}
