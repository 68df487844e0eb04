//! A shop to keep the books of.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use munshi_ledger::Result;
use munshi_ledger::books::*;
use munshi_store::{Db, Tx};
use munshi_test_support::TestDb;
use munshi_types::{Clock, FakeClock, Id, IdGenerator, Money, TenantId, Timestamp, Zone};
use uuid::Uuid;

/// A tenant and all it takes to write in its books.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) db: Db,
    pub(crate) tenant: TenantId,
    pub(crate) ids: IdGenerator,
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) zone: Zone,
}

impl Shop {
    pub(crate) async fn open(test: &TestDb) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("shop-{}", COUNT.fetch_add(1, Ordering::SeqCst));
        Self {
            db: test.db.clone(),
            tenant: test.add_tenant(&name).await,
            ids: test.ids.clone(),
            clock: test.clock.clone(),
            zone: Zone::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Runs something that writes, with the shop's clock and ids.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Tx<'_>, &BookingContext<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (ids, zone, now) = (self.ids.clone(), self.zone.clone(), self.now());
        self.db.write(self.tenant, move |tx| act(tx, &BookingContext { ids: &ids, now, zone: &zone })).await
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.db.read(self.tenant, act).await
    }

    pub(crate) async fn contact(&self, name: &str) -> ContactId {
        let new = NewContact { name: name.to_owned(), ..NewContact::default() };
        self.write(move |tx, writing| contacts::add(tx, writing.ids, writing.now, &new)).await.unwrap().id
    }

    pub(crate) async fn item(&self, name: &str, unit: &str, low_at: Option<&str>) -> ItemId {
        let low_at = low_at.map(|text| text.parse().unwrap());
        let new = NewStockItem { name: name.to_owned(), unit: unit.to_owned(), price: None, low_at };
        self.write(move |tx, writing| items::add(tx, writing.ids, writing.now, &new)).await.unwrap().id
    }

    pub(crate) async fn book(&self, act: ShopTransaction) -> LedgerEntry {
        self.book_new(self.new_entry(act)).await.unwrap().entry
    }

    pub(crate) async fn book_new(&self, new: NewLedgerEntry) -> Result<BookedEntry> {
        self.write(move |tx, writing| book(tx, writing, &new)).await
    }

    pub(crate) fn new_entry(&self, act: ShopTransaction) -> NewLedgerEntry {
        NewLedgerEntry {
            key: self.key(),
            act,
            said: EntryProvenance::new(LedgerEntrySource::Owner, "", self.now()),
        }
    }

    pub(crate) fn key(&self) -> EntryKey {
        EntryKey::new(self.ids.next::<LedgerEntryId>().as_uuid())
    }

    pub(crate) async fn cancel(&self, entry: LedgerEntryId, reason: &'static str) -> Result<BookedEntry> {
        let key = self.key();
        self.write(move |tx, writing| {
            cancel(tx, writing, &EntryCancelRequest { key, entry, reason, by: None })
        })
        .await
    }

    pub(crate) async fn balance(&self, contact: ContactId) -> Money {
        self.read(move |tx| balances::get(tx, contact)).await.unwrap()
    }

    pub(crate) async fn standing(&self) -> balances::BooksBalance {
        self.read(balances::load_totals).await.unwrap()
    }

    pub(crate) async fn today(&self) -> daily_turnover::PeriodTotals {
        let day = LedgerDay::of(self.now(), &self.zone);
        self.read(move |tx| daily_turnover::totals(tx, DayRange::day(day))).await.unwrap()
    }

    pub(crate) async fn assert_sound(&self) {
        let finding = self.read(verify).await.unwrap();
        assert_eq!(finding, None, "{}", finding.as_ref().map(ToString::to_string).unwrap_or_default());
    }
}

pub(crate) fn rupees(amount: i64) -> Money {
    Money::from_rupees(amount).unwrap()
}

pub(crate) fn cash_sale(amount: i64) -> ShopTransaction {
    ShopTransaction::Sale {
        amount: rupees(amount),
        settled: PaymentTerms::Now(PaymentMeans::Cash),
        party: None,
        lines: Vec::new(),
    }
}

pub(crate) fn credit_sale(party: ContactId, amount: i64) -> ShopTransaction {
    ShopTransaction::Sale {
        amount: rupees(amount),
        settled: PaymentTerms::Credit,
        party: Some(party),
        lines: Vec::new(),
    }
}

pub(crate) fn received(party: ContactId, amount: i64) -> ShopTransaction {
    ShopTransaction::PaymentReceived { party: Some(party), amount: rupees(amount), means: PaymentMeans::Cash }
}

pub(crate) fn some_key(number: u128) -> EntryKey {
    EntryKey::new(Uuid::from_u128(number))
}
