//! Whatever happens, in whatever order: books balance, kept figures follow, and a file of them gives them back.

use std::collections::BTreeMap;

use munshi_ledger::books::*;
use munshi_ledger::{Error, Result};
use munshi_store::{MIGRATIONS, Tx};
use munshi_test_support::on_both_engines;
use munshi_types::{Money, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::books::files::{copied, picture};
use crate::books::support::{Shop, some_key};

/// One thing a shop does; numbers pick among what is there.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Book {
        kind: u8,
        paise: i64,
        party: Option<u8>,
        item: u8,
        thousandths: i64,
        settle: u8,
        hours_ago: u16,
    },
    Again {
        which: u8,
    },
    Cancel {
        which: u8,
    },
    Correct {
        which: u8,
        paise: i64,
        party: u8,
    },
    Merge {
        from: u8,
        into: u8,
    },
    Rename {
        who: u8,
    },
    /// How much somebody may owe; none takes the limit away.
    Limit {
        who: u8,
        paise: Option<i64>,
    },
    /// A message tells of the payment once more.
    Seen {
        which: u8,
        mark: u8,
    },
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let book = (
        0..12u8,
        1..5_000_000i64,
        prop::option::weighted(0.8, 0..5u8),
        0..3u8,
        1..50_000i64,
        0..6u8,
        0..2000u16,
    )
        .prop_map(|(kind, paise, party, item, thousandths, settle, hours_ago)| Step::Book {
            kind,
            paise,
            party,
            item,
            thousandths,
            settle,
            hours_ago,
        });
    let step = prop_oneof![
        8 => book,
        1 => any::<u8>().prop_map(|which| Step::Again { which }),
        2 => any::<u8>().prop_map(|which| Step::Cancel { which }),
        2 => (any::<u8>(), 1..5_000_000i64, 0..5u8).prop_map(|(which, paise, party)| Step::Correct { which, paise, party }),
        1 => (0..5u8, 0..5u8).prop_map(|(from, into)| Step::Merge { from, into }),
        1 => (0..5u8).prop_map(|who| Step::Rename { who }),
        2 => (0..5u8, prop::option::weighted(0.8, 0..3_000_000i64)).prop_map(|(who, paise)| Step::Limit { who, paise }),
        1 => (any::<u8>(), 0..6u8).prop_map(|(which, mark)| Step::Seen { which, mark }),
    ];
    prop::collection::vec(step, 1..40)
}

/// What the figures should be, kept without any database.
#[derive(Clone, Debug, Default)]
struct Model {
    /// By the contact at the end of merges.
    owes: BTreeMap<usize, i64>,
    leads: BTreeMap<usize, usize>,
    /// By the contact at the end of merges.
    limits: BTreeMap<usize, i64>,
    money: BTreeMap<PaymentMeans, i64>,
    stock: BTreeMap<ItemId, i64>,
    /// Entries that were booked: what, by whom and whether they stand.
    booked: Vec<(NewLedgerEntry, LedgerEntryId, bool)>,
    entries: i64,
}

pub(crate) struct Play {
    pub(crate) contacts: Vec<ContactId>,
    pub(crate) items: Vec<ItemId>,
    model: Model,
    now: Timestamp,
}

impl Play {
    pub(crate) async fn begin(shop: &Shop) -> Self {
        let mut contacts = Vec::new();
        for name in ["Rajan", "राजन", "=Gupta, \"Traders\"", "Ramesh Kumar", "Asha"] {
            contacts.push(shop.contact(name).await);
        }
        let mut items = Vec::new();
        for (name, unit) in [("Sugar", "kg"), ("Soap", "piece"), ("-Oil", "l")] {
            items.push(shop.item(name, unit, Some("2")).await);
        }
        Self { contacts, items, model: Model::default(), now: shop.now() }
    }

    fn root(&self, contact: usize) -> usize {
        self.model.leads.get(&contact).copied().unwrap_or(contact)
    }

    fn act(&self, step: &Step) -> Option<(ShopTransaction, Timestamp)> {
        let Step::Book { kind, paise, party, item, thousandths, settle, hours_ago } = step else {
            return None;
        };
        let amount = Money::from_paise(*paise);
        let party = party.map(|at| self.contacts[usize::from(at)]);
        let someone = party.unwrap_or(self.contacts[0]);
        let means = if settle % 2 == 0 { PaymentMeans::Cash } else { PaymentMeans::Bank };
        let lines = vec![
            ItemQuantity {
                item: self.items[usize::from(*item)],
                quantity: Quantity::from_thousandths(*thousandths)
            };
            usize::from(settle % 3)
        ];
        let paid = Money::from_paise(paise / 3);
        let settled = match settle {
            0 | 1 => PaymentTerms::Now(means),
            _ if party.is_none() => PaymentTerms::Now(means),
            2 | 3 if paid > Money::ZERO => PaymentTerms::Part { paid, means },
            _ => PaymentTerms::Credit,
        };
        let lent = if *settle < 3 { CreditAsset::Goods } else { CreditAsset::Money(means) };
        let signed = Money::from_paise(if settle % 2 == 0 { *paise } else { -paise });
        let act = match kind {
            0 => ShopTransaction::Sale { amount, settled, party, lines },
            1 => ShopTransaction::Purchase { amount, settled, party, lines },
            2 => ShopTransaction::Expense {
                amount,
                category: ["rent", "चाय", "@petrol"][usize::from(*item)].into(),
                settled,
                party,
            },
            3 => ShopTransaction::CreditGiven { party: someone, amount, lent, lines },
            4 => ShopTransaction::CreditTaken { party: someone, amount, lent, lines },
            5 | 6 => ShopTransaction::PaymentReceived { party, amount, means },
            7 => ShopTransaction::PaymentMade { party, amount, means },
            8 => ShopTransaction::Transfer { amount, from: means },
            9 => ShopTransaction::Opening(if *settle < 3 {
                OpeningBalance::Contact { party: someone, balance: signed }
            } else {
                OpeningBalance::Money { means, balance: signed }
            }),
            10 => ShopTransaction::StockIn { lines, party },
            _ => ShopTransaction::StockOut { lines, party },
        };
        let ago = std::time::Duration::from_secs(u64::from(*hours_ago) * 3600);
        Some((act, self.now.minus(ago)))
    }

    /// Does a step in the books and in the model.
    pub(crate) fn step(
        &mut self,
        tx: &mut Tx<'_>,
        writing: &BookingContext<'_>,
        number: usize,
        step: &Step,
    ) -> Result<()> {
        let pick =
            |which: u8| (!self.model.booked.is_empty()).then(|| usize::from(which) % self.model.booked.len());
        let key = some_key(number as u128 + 1);
        match step {
            Step::Book { .. } => {
                let Some((act, at)) = self.act(step) else { return Ok(()) };
                let words = format!("=step {number}, \"{at}\"\nnext line");
                let new = NewLedgerEntry {
                    key,
                    act,
                    said: EntryProvenance::new(LedgerEntrySource::Owner, words, at),
                };
                match book(tx, writing, &new) {
                    Ok(booked) => self.count(new, booked.entry.id),
                    Err(Error::Invalid(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            Step::Again { which } => {
                if let Some(at) = pick(*which) {
                    let (new, id, _) = self.model.booked[at].clone();
                    let again = book(tx, writing, &new)?;
                    assert!(again.is_repeat && again.entry.id == id);
                }
            }
            Step::Cancel { which } => {
                if let Some(at) = pick(*which) {
                    let (_, entry, stands) = self.model.booked[at].clone();
                    let done =
                        cancel(tx, writing, &EntryCancelRequest { key, entry, reason: "+wrong", by: None });
                    assert_eq!(done.is_ok(), stands, "{done:?}");
                    self.undo(at);
                }
            }
            Step::Correct { which, paise, party } => {
                if let Some(at) = pick(*which) {
                    let (old, wrong, stands) = self.model.booked[at].clone();
                    let act = ShopTransaction::PaymentReceived {
                        party: Some(self.contacts[usize::from(*party)]),
                        amount: Money::from_paise(*paise),
                        means: PaymentMeans::Bank,
                    };
                    let right = NewLedgerEntry { key, act, said: old.said };
                    let done = correct(tx, writing, wrong, &right, "misheard");
                    assert_eq!(done.is_ok(), stands, "{done:?}");
                    if let Ok(done) = done {
                        self.undo(at);
                        self.count(right, done.right.id);
                    }
                }
            }
            Step::Seen { which, mark } => {
                if let Some(at) = pick(*which) {
                    let (_, entry, stands) = self.model.booked[at].clone();
                    let mark = format!("seen by {number}, {mark}");
                    dedup::record_sighting(tx, entry, &mark, LedgerEntrySource::Sms, writing.now)?;
                    assert_eq!(
                        dedup::find_known_payment(tx, &mark)?.is_some(),
                        stands,
                        "what was taken back may come again"
                    );
                }
            }
            Step::Merge { .. } | Step::Rename { .. } | Step::Limit { .. } => {
                self.of_people(tx, number, step)?;
            }
        }
        Ok(())
    }

    /// A step that changes what is known of people.
    fn of_people(&mut self, tx: &mut Tx<'_>, number: usize, step: &Step) -> Result<()> {
        match step {
            Step::Merge { from, into } if from != into => {
                let (from, into) = (usize::from(*from), usize::from(*into));
                contacts::merge(tx, self.contacts[from], self.contacts[into])?;
                let (one, other) = (self.root(from), self.root(into));
                if one != other {
                    let moved = self.model.owes.remove(&one).unwrap_or_default();
                    *self.model.owes.entry(other).or_default() += moved;
                    // Of two limits the lower holds.
                    if let Some(limit) = self.model.limits.remove(&one) {
                        let known = self.model.limits.entry(other).or_insert(limit);
                        *known = limit.min(*known);
                    }
                    for contact in 0..self.contacts.len() {
                        if self.root(contact) == one {
                            self.model.leads.insert(contact, other);
                        }
                    }
                }
            }
            Step::Rename { who } => {
                let id = self.contacts[usize::from(*who)];
                let limit = contacts::get(tx, id)?.limit;
                let known =
                    NewContact { name: format!("Name {number} of many"), limit, ..NewContact::default() };
                contacts::update(tx, id, &known)?;
            }
            Step::Limit { who, paise } => {
                let who = usize::from(*who);
                contacts::set_limit(tx, self.contacts[who], paise.map(Money::from_paise))?;
                let root = self.root(who);
                match paise {
                    Some(paise) => self.model.limits.insert(root, *paise),
                    None => self.model.limits.remove(&root),
                };
            }
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, new: NewLedgerEntry, id: LedgerEntryId) {
        self.apply(&new.act, 1);
        self.model.booked.push((new, id, true));
        self.model.entries += 1;
    }

    fn undo(&mut self, at: usize) {
        let (new, _, stands) = self.model.booked[at].clone();
        if stands {
            self.apply(&new.act, -1);
            self.model.booked[at].2 = false;
            self.model.entries += 1;
        }
    }

    fn apply(&mut self, act: &ShopTransaction, sign: i64) {
        let place = |id: ContactId| self.contacts.iter().position(|one| *one == id).unwrap();
        let who = act.party().map(|id| self.root(place(id)));
        let (owed, money, means) = effect(act);
        if let Some(who) = who {
            *self.model.owes.entry(who).or_default() += sign * owed;
        }
        *self.model.money.entry(means).or_default() += sign * money;
        if let ShopTransaction::Transfer { amount, from } = act {
            let to = if *from == PaymentMeans::Cash { PaymentMeans::Bank } else { PaymentMeans::Cash };
            *self.model.money.entry(to).or_default() += sign * amount.as_paise();
        }
        let (lines, into): (&[ItemQuantity], i64) = match act {
            ShopTransaction::Sale { lines, .. }
            | ShopTransaction::CreditGiven { lines, .. }
            | ShopTransaction::StockOut { lines, .. } => (lines, -1),
            ShopTransaction::Purchase { lines, .. }
            | ShopTransaction::CreditTaken { lines, .. }
            | ShopTransaction::StockIn { lines, .. } => (lines, 1),
            _ => (&[], 0),
        };
        for line in lines {
            *self.model.stock.entry(line.item).or_default() += sign * into * line.quantity.as_thousandths();
        }
    }

    pub(crate) async fn compare(&self, shop: &Shop) {
        for (place, id) in self.contacts.iter().enumerate() {
            let owes = self.model.owes.get(&self.root(place)).copied().unwrap_or_default();
            assert_eq!(shop.balance(*id).await.as_paise(), owes, "contact {place}");
            let (id, limit) = (*id, self.model.limits.get(&self.root(place)).copied().map(Money::from_paise));
            let contact = shop.read(move |tx| contacts::get(tx, id)).await.unwrap();
            assert_eq!(contact.limit, limit, "contact {place}");
            let over = limit.map(|limit| owes + 1 > limit.as_paise()).unwrap_or_default();
            assert_eq!(
                contact.excess_over_limit(Money::from_paise(1)).unwrap().is_some(),
                over,
                "contact {place}"
            );
        }
        let standing = shop.standing().await;
        let money = |means| self.model.money.get(&means).copied().unwrap_or_default();
        assert_eq!(
            (standing.cash.as_paise(), standing.bank.as_paise()),
            (money(PaymentMeans::Cash), money(PaymentMeans::Bank))
        );
        assert_eq!(standing.entries, self.model.entries);
        let owed: i64 = self.model.owes.values().filter(|owes| **owes > 0).sum();
        assert_eq!(standing.receivable.as_paise(), owed);
        for id in self.items.clone() {
            let stock = shop.read(move |tx| items::get(tx, id)).await.unwrap().stock;
            assert_eq!(stock.as_thousandths(), self.model.stock.get(&id).copied().unwrap_or_default());
        }
        let sum: i64 = shop.read(chart).await.unwrap().iter().map(|(_, balance)| balance.as_paise()).sum();
        assert_eq!(sum, 0, "all accounts together");
    }
}

/// What an act changes of what its party owes, and of money in one place.
fn effect(act: &ShopTransaction) -> (i64, i64, PaymentMeans) {
    let settled = |settled: &PaymentTerms, amount: Money| match settled {
        PaymentTerms::Now(means) => (0, amount.as_paise(), *means),
        PaymentTerms::Credit => (amount.as_paise(), 0, PaymentMeans::Cash),
        PaymentTerms::Part { paid, means } => (amount.as_paise() - paid.as_paise(), paid.as_paise(), *means),
    };
    let lent = |lent: &CreditAsset, amount: Money| match lent {
        CreditAsset::Goods => (0, PaymentMeans::Cash),
        CreditAsset::Money(means) => (amount.as_paise(), *means),
    };
    let back = |(owed, money, means): (i64, i64, PaymentMeans)| (-owed, -money, means);
    match act {
        ShopTransaction::Sale { amount, settled: how, .. } => settled(how, *amount),
        ShopTransaction::Purchase { amount, settled: how, .. }
        | ShopTransaction::Expense { amount, settled: how, .. } => back(settled(how, *amount)),
        ShopTransaction::CreditGiven { amount, lent: what, .. } => {
            let (money, means) = lent(what, *amount);
            (amount.as_paise(), -money, means)
        }
        ShopTransaction::CreditTaken { amount, lent: what, .. } => {
            let (money, means) = lent(what, *amount);
            (-amount.as_paise(), money, means)
        }
        ShopTransaction::PaymentReceived { amount, means, .. } => {
            (-amount.as_paise(), amount.as_paise(), *means)
        }
        ShopTransaction::PaymentMade { amount, means, .. } => (amount.as_paise(), -amount.as_paise(), *means),
        ShopTransaction::Transfer { amount, from } => (0, -amount.as_paise(), *from),
        ShopTransaction::Opening(OpeningBalance::Contact { balance, .. }) => {
            (balance.as_paise(), 0, PaymentMeans::Cash)
        }
        ShopTransaction::Opening(OpeningBalance::Money { means, balance }) => (0, balance.as_paise(), *means),
        ShopTransaction::Opening(OpeningBalance::Stock { .. })
        | ShopTransaction::StockIn { .. }
        | ShopTransaction::StockOut { .. } => (0, 0, PaymentMeans::Cash),
    }
}

/// Plays steps in a shop, some of them in transactions that are undone.
async fn play(shop: &Shop, steps: Vec<Step>) -> Play {
    let mut play = Play::begin(shop).await;
    for (number, step) in steps.into_iter().enumerate() {
        if number % 5 == 4 {
            // A process that dies before the commit leaves nothing.
            let mut lost = Play {
                model: play.model.clone(),
                contacts: play.contacts.clone(),
                items: play.items.clone(),
                now: play.now,
            };
            let again = step.clone();
            let undone: Result<()> = shop
                .write(move |tx, writing| {
                    lost.step(tx, writing, number, &again)?;
                    Err(Error::Invalid("died".to_owned()))
                })
                .await;
            assert!(undone.is_err());
        }
        play = shop
            .write(move |tx, writing| play.step(tx, writing, number, &step).map(|()| play))
            .await
            .unwrap();
    }
    play
}

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn books_balance_and_figures_follow_after_anything(test: TestDb) {
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            let mut runner = TestRunner::new(Config { cases: 40, max_shrink_iters: 200, failure_persistence: None, ..Config::default() });
            runner.run(&steps(), |steps| {
                runtime.block_on(async {
                    let shop = Shop::open(&test).await;
                    let play = play(&shop, steps).await;
                    play.compare(&shop).await;
                    shop.assert_sound().await;
                });
                Ok(())
            }).unwrap();
        });
    }

    async fn what_is_written_to_files_is_read_back_as_the_same_books(test: TestDb) {
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            let mut runner = TestRunner::new(Config { cases: 24, max_shrink_iters: 200, failure_persistence: None, ..Config::default() });
            runner.run(&steps(), |steps| {
                runtime.block_on(async {
                    let shop = Shop::open(&test).await;
                    let play = play(&shop, steps).await;
                    let other = copied(&shop, &Shop::open(&test).await).await;
                    assert_eq!(picture(&other).await, picture(&shop).await);
                    play.compare(&other).await;
                    other.assert_sound().await;
                });
                Ok(())
            }).unwrap();
        });
    }
}
