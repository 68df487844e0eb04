//! What can happen in a shop, and what it moves between accounts and in stock.

use munshi_types::Money;

use super::account::LedgerAccount;
use super::ids::{ContactId, ItemId};
use super::quantity::Quantity;
use super::stored_enums::{LedgerEntryKind, PaymentMeans};
use crate::error::{Error, Result};

/// The most that one entry may be of: a thousand crore rupees, so that no sum of a shop's entries can wrap.
pub const LARGEST: Money = Money::from_paise(1_000_000_000_000);

/// More lines than any bill has.
const MOST_LINES: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShopTransaction {
    Sale {
        amount: Money,
        settled: PaymentTerms,
        party: Option<ContactId>,
        lines: Vec<ItemQuantity>,
    },
    Purchase {
        amount: Money,
        settled: PaymentTerms,
        party: Option<ContactId>,
        lines: Vec<ItemQuantity>,
    },
    Expense {
        amount: Money,
        category: String,
        settled: PaymentTerms,
        party: Option<ContactId>,
    },
    CreditGiven {
        party: ContactId,
        amount: Money,
        lent: CreditAsset,
        lines: Vec<ItemQuantity>,
    },
    CreditTaken {
        party: ContactId,
        amount: Money,
        lent: CreditAsset,
        lines: Vec<ItemQuantity>,
    },
    /// Without a party it stays unsorted until somebody says who it was.
    PaymentReceived {
        party: Option<ContactId>,
        amount: Money,
        means: PaymentMeans,
    },
    PaymentMade {
        party: Option<ContactId>,
        amount: Money,
        means: PaymentMeans,
    },
    /// Into the bank, or out of it.
    Transfer {
        amount: Money,
        from: PaymentMeans,
    },
    Opening(OpeningBalance),
    StockIn {
        lines: Vec<ItemQuantity>,
        party: Option<ContactId>,
    },
    StockOut {
        lines: Vec<ItemQuantity>,
        party: Option<ContactId>,
    },
}

/// When it is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentTerms {
    Now(PaymentMeans),
    Credit,
    /// Some now, the rest on credit.
    Part {
        paid: Money,
        means: PaymentMeans,
    },
}

/// What was given on credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditAsset {
    Goods,
    Money(PaymentMeans),
}

/// How something stood when the books began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpeningBalance {
    /// Above zero they owe; below, they are owed.
    Contact {
        party: ContactId,
        balance: Money,
    },
    Money {
        means: PaymentMeans,
        balance: Money,
    },
    Stock {
        lines: Vec<ItemQuantity>,
    },
}

/// So much of an item, in its own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemQuantity {
    pub item: ItemId,
    pub quantity: Quantity,
}

/// An amount out of one account and into another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    pub debit: LedgerAccount,
    pub credit: LedgerAccount,
    /// Whose, where one of them is of the contacts.
    pub contact: Option<ContactId>,
    pub amount: Money,
}

/// What came into stock, or below zero left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StockMovement {
    pub item: ItemId,
    pub quantity: Quantity,
}

/// An act worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EntryDraft {
    pub kind: LedgerEntryKind,
    pub amount: Money,
    pub party: Option<ContactId>,
    pub postings: Vec<Posting>,
    pub movements: Vec<StockMovement>,
    /// 1 when money came in, -1 when it left.
    pub flow: i64,
}

impl ShopTransaction {
    pub const fn party(&self) -> Option<ContactId> {
        match self {
            Self::Sale { party, .. }
            | Self::Purchase { party, .. }
            | Self::Expense { party, .. }
            | Self::PaymentReceived { party, .. }
            | Self::PaymentMade { party, .. }
            | Self::StockIn { party, .. }
            | Self::StockOut { party, .. } => *party,
            Self::CreditGiven { party, .. } | Self::CreditTaken { party, .. } => Some(*party),
            Self::Opening(OpeningBalance::Contact { party, .. }) => Some(*party),
            Self::Opening(_) | Self::Transfer { .. } => None,
        }
    }

    /// What is moved, with the party as the books know it now.
    pub(super) fn plan(&self, party: Option<ContactId>) -> Result<EntryDraft> {
        let contacts = LedgerAccount::contacts;
        match self {
            Self::Sale { amount, settled, lines, .. } => {
                let plan = EntryDraft::new(LedgerEntryKind::Sale, *amount, party).with_stock_out(lines)?;
                plan.settle(*settled, |plan, from| plan.build_posting(from, LedgerAccount::sales()), 1)
            }
            Self::Purchase { amount, settled, lines, .. } => {
                let plan = EntryDraft::new(LedgerEntryKind::Purchase, *amount, party).with_stock_in(lines)?;
                plan.settle(*settled, |plan, from| plan.build_posting(LedgerAccount::purchases(), from), -1)
            }
            Self::Expense { amount, category, settled, .. } => {
                let account = LedgerAccount::expense(category)?;
                let plan = EntryDraft::new(LedgerEntryKind::Expense, *amount, party);
                plan.settle(*settled, |plan, from| plan.build_posting(account.clone(), from), -1)
            }
            Self::CreditGiven { amount, lent, lines, .. } => {
                let (from, flow) = lent.account(LedgerAccount::sales(), -1);
                Ok(EntryDraft::new(LedgerEntryKind::CreditGiven, *amount, party)
                    .with_stock_out(lines)?
                    .with_posting(contacts(), from, flow))
            }
            Self::CreditTaken { amount, lent, lines, .. } => {
                let (to, flow) = lent.account(LedgerAccount::purchases(), 1);
                Ok(EntryDraft::new(LedgerEntryKind::CreditTaken, *amount, party)
                    .with_stock_in(lines)?
                    .with_posting(to, contacts(), flow))
            }
            Self::PaymentReceived { amount, means, .. } => {
                let from = party.map_or_else(LedgerAccount::unsorted, |_| contacts());
                Ok(EntryDraft::new(LedgerEntryKind::PaymentReceived, *amount, party).with_posting(
                    LedgerAccount::money(*means),
                    from,
                    1,
                ))
            }
            Self::PaymentMade { amount, means, .. } => {
                let to = party.map_or_else(LedgerAccount::unsorted, |_| contacts());
                Ok(EntryDraft::new(LedgerEntryKind::PaymentMade, *amount, party).with_posting(
                    to,
                    LedgerAccount::money(*means),
                    -1,
                ))
            }
            Self::Transfer { amount, from } => {
                let to = if *from == PaymentMeans::Cash { PaymentMeans::Bank } else { PaymentMeans::Cash };
                let plan = EntryDraft::new(LedgerEntryKind::Transfer, *amount, None);
                Ok(plan.with_posting(LedgerAccount::money(to), LedgerAccount::money(*from), 0))
            }
            Self::Opening(opening) => opening.plan(party),
            Self::StockIn { lines, .. } => {
                EntryDraft::new(LedgerEntryKind::StockIn, Money::ZERO, party).with_stock_in(lines)
            }
            Self::StockOut { lines, .. } => {
                EntryDraft::new(LedgerEntryKind::StockOut, Money::ZERO, party).with_stock_out(lines)
            }
        }?
        .validate()
    }
}

impl CreditAsset {
    fn account(self, goods: LedgerAccount, flow: i64) -> (LedgerAccount, i64) {
        match self {
            Self::Goods => (goods, 0),
            Self::Money(means) => (LedgerAccount::money(means), flow),
        }
    }
}

impl OpeningBalance {
    fn plan(&self, party: Option<ContactId>) -> Result<EntryDraft> {
        let (account, balance) = match self {
            Self::Contact { balance, .. } => (LedgerAccount::contacts(), *balance),
            Self::Money { means, balance } => (LedgerAccount::money(*means), *balance),
            Self::Stock { lines } => {
                return EntryDraft::new(LedgerEntryKind::Opening, Money::ZERO, None).with_stock_in(lines);
            }
        };
        if balance.is_negative() {
            let plan = EntryDraft::new(LedgerEntryKind::Opening, balance.negated()?, party);
            return Ok(plan.with_posting(LedgerAccount::opening(), account, 0));
        }
        Ok(EntryDraft::new(LedgerEntryKind::Opening, balance, party).with_posting(
            account,
            LedgerAccount::opening(),
            0,
        ))
    }
}

impl EntryDraft {
    fn new(kind: LedgerEntryKind, amount: Money, party: Option<ContactId>) -> Self {
        Self { kind, amount, party, postings: Vec::new(), movements: Vec::new(), flow: 0 }
    }

    /// A posting of the whole amount between two accounts.
    fn build_posting(&self, debit: LedgerAccount, credit: LedgerAccount) -> Posting {
        let contact = self.party.filter(|_| debit.is_contacts() || credit.is_contacts());
        Posting { debit, credit, contact, amount: self.amount }
    }

    fn with_posting(mut self, debit: LedgerAccount, credit: LedgerAccount, flow: i64) -> Self {
        self.postings.push(self.build_posting(debit, credit));
        self.flow = flow;
        self
    }

    fn settle(
        mut self,
        settled: PaymentTerms,
        post: impl Fn(&Self, LedgerAccount) -> Posting,
        flow: i64,
    ) -> Result<Self> {
        match settled {
            PaymentTerms::Now(means) => {
                self.postings.push(post(&self, LedgerAccount::money(means)));
                self.flow = flow;
            }
            PaymentTerms::Credit => self.postings.push(post(&self, LedgerAccount::contacts())),
            PaymentTerms::Part { paid, means } => {
                if paid <= Money::ZERO || paid >= self.amount {
                    let what = format!(
                        "{paid} of {} is no part of it: a part is more than nothing and less than all",
                        self.amount
                    );
                    return Err(Error::Invalid(what));
                }
                let now = Posting { amount: paid, ..post(&self, LedgerAccount::money(means)) };
                let rest =
                    Posting { amount: self.amount.minus(paid)?, ..post(&self, LedgerAccount::contacts()) };
                self.postings.extend([now, rest]);
                self.flow = flow;
            }
        }
        Ok(self)
    }

    fn with_stock_in(self, lines: &[ItemQuantity]) -> Result<Self> {
        self.with_movements(lines, |quantity| quantity)
    }

    fn with_stock_out(self, lines: &[ItemQuantity]) -> Result<Self> {
        self.with_movements(lines, Quantity::negated)
    }

    fn with_movements(mut self, lines: &[ItemQuantity], sign: fn(Quantity) -> Quantity) -> Result<Self> {
        if lines.len() > MOST_LINES {
            return Err(Error::invalid(format!("an entry has at most {MOST_LINES} lines: book it in parts")));
        }
        for line in lines {
            if line.quantity <= Quantity::ZERO || line.quantity > Quantity::LARGEST {
                return Err(Error::invalid(format!(
                    "{} is no quantity to book: say how much",
                    line.quantity
                )));
            }
            self.movements.push(StockMovement { item: line.item, quantity: sign(line.quantity) });
        }
        Ok(self)
    }

    fn validate(self) -> Result<Self> {
        if self.postings.is_empty() && self.movements.is_empty() {
            return Err(Error::invalid("nothing would be moved: name at least one item and how much of it"));
        }
        if !self.postings.is_empty() && (self.amount <= Money::ZERO || self.amount > LARGEST) {
            return Err(Error::invalid(format!(
                "{} is no amount to book: it must be above zero and at most {LARGEST}",
                self.amount
            )));
        }
        let of_contacts = |posting: &Posting| posting.debit.is_contacts() || posting.credit.is_contacts();
        if self.party.is_none() && self.postings.iter().any(of_contacts) {
            return Err(Error::invalid("credit needs somebody who owes it: name the contact"));
        }
        Ok(self)
    }
}
