//! What can happen in a shop, and what it moves between accounts and in stock.

use munshi_types::Money;

use super::account::Account;
use super::ids::{ContactId, ItemId};
use super::quantity::Quantity;
use super::words::{Kind, Means};
use crate::error::{Error, Result};

/// The most that one entry may be of: a thousand crore rupees, so that no sum of a shop's entries can wrap.
pub const LARGEST: Money = Money::from_paise(1_000_000_000_000);

/// More lines than any bill has.
const MOST_LINES: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Sale {
        amount: Money,
        settled: Settled,
        party: Option<ContactId>,
        lines: Vec<Line>,
    },
    Purchase {
        amount: Money,
        settled: Settled,
        party: Option<ContactId>,
        lines: Vec<Line>,
    },
    Expense {
        amount: Money,
        category: String,
        settled: Settled,
        party: Option<ContactId>,
    },
    CreditGiven {
        party: ContactId,
        amount: Money,
        lent: Lent,
        lines: Vec<Line>,
    },
    CreditTaken {
        party: ContactId,
        amount: Money,
        lent: Lent,
        lines: Vec<Line>,
    },
    /// Without a party it stays unsorted until somebody says who it was.
    PaymentReceived {
        party: Option<ContactId>,
        amount: Money,
        means: Means,
    },
    PaymentMade {
        party: Option<ContactId>,
        amount: Money,
        means: Means,
    },
    /// Into the bank, or out of it.
    Transfer {
        amount: Money,
        from: Means,
    },
    Opening(Opening),
    StockIn {
        lines: Vec<Line>,
        party: Option<ContactId>,
    },
    StockOut {
        lines: Vec<Line>,
        party: Option<ContactId>,
    },
}

/// When it is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Now(Means),
    Credit,
    /// Some now, the rest on credit.
    Part {
        paid: Money,
        means: Means,
    },
}

/// What was given on credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lent {
    Goods,
    Money(Means),
}

/// How something stood when the books began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Above zero they owe; below, they are owed.
    Contact {
        party: ContactId,
        balance: Money,
    },
    Money {
        means: Means,
        balance: Money,
    },
    Stock {
        lines: Vec<Line>,
    },
}

/// So much of an item, in its own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub item: ItemId,
    pub quantity: Quantity,
}

/// An amount out of one account and into another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    pub debit: Account,
    pub credit: Account,
    /// Whose, where one of them is of the contacts.
    pub contact: Option<ContactId>,
    pub amount: Money,
}

/// What came into stock, or below zero left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    pub item: ItemId,
    pub quantity: Quantity,
}

/// An act worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub kind: Kind,
    pub amount: Money,
    pub party: Option<ContactId>,
    pub postings: Vec<Posting>,
    pub movements: Vec<Movement>,
    /// 1 when money came in, -1 when it left.
    pub flow: i64,
}

impl Act {
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
            Self::Opening(Opening::Contact { party, .. }) => Some(*party),
            Self::Opening(_) | Self::Transfer { .. } => None,
        }
    }

    /// What is moved, with the party as the books know it now.
    pub(super) fn plan(&self, party: Option<ContactId>) -> Result<Plan> {
        let contacts = Account::contacts;
        match self {
            Self::Sale { amount, settled, lines, .. } => {
                let plan = Plan::new(Kind::Sale, *amount, party).out(lines)?;
                plan.settle(*settled, |plan, from| plan.move_to(from, Account::sales()), 1)
            }
            Self::Purchase { amount, settled, lines, .. } => {
                let plan = Plan::new(Kind::Purchase, *amount, party).into_stock(lines)?;
                plan.settle(*settled, |plan, from| plan.move_to(Account::purchases(), from), -1)
            }
            Self::Expense { amount, category, settled, .. } => {
                let account = Account::expense(category)?;
                let plan = Plan::new(Kind::Expense, *amount, party);
                plan.settle(*settled, |plan, from| plan.move_to(account.clone(), from), -1)
            }
            Self::CreditGiven { amount, lent, lines, .. } => {
                let (from, flow) = lent.account(Account::sales(), -1);
                Ok(Plan::new(Kind::CreditGiven, *amount, party).out(lines)?.moved(contacts(), from, flow))
            }
            Self::CreditTaken { amount, lent, lines, .. } => {
                let (to, flow) = lent.account(Account::purchases(), 1);
                Ok(Plan::new(Kind::CreditTaken, *amount, party).into_stock(lines)?.moved(
                    to,
                    contacts(),
                    flow,
                ))
            }
            Self::PaymentReceived { amount, means, .. } => {
                let from = party.map_or_else(Account::unsorted, |_| contacts());
                Ok(Plan::new(Kind::PaymentReceived, *amount, party).moved(Account::money(*means), from, 1))
            }
            Self::PaymentMade { amount, means, .. } => {
                let to = party.map_or_else(Account::unsorted, |_| contacts());
                Ok(Plan::new(Kind::PaymentMade, *amount, party).moved(to, Account::money(*means), -1))
            }
            Self::Transfer { amount, from } => {
                let to = if *from == Means::Cash { Means::Bank } else { Means::Cash };
                let plan = Plan::new(Kind::Transfer, *amount, None);
                Ok(plan.moved(Account::money(to), Account::money(*from), 0))
            }
            Self::Opening(opening) => opening.plan(party),
            Self::StockIn { lines, .. } => Plan::new(Kind::StockIn, Money::ZERO, party).into_stock(lines),
            Self::StockOut { lines, .. } => Plan::new(Kind::StockOut, Money::ZERO, party).out(lines),
        }?
        .checked()
    }
}

impl Lent {
    fn account(self, goods: Account, flow: i64) -> (Account, i64) {
        match self {
            Self::Goods => (goods, 0),
            Self::Money(means) => (Account::money(means), flow),
        }
    }
}

impl Opening {
    fn plan(&self, party: Option<ContactId>) -> Result<Plan> {
        let (account, balance) = match self {
            Self::Contact { balance, .. } => (Account::contacts(), *balance),
            Self::Money { means, balance } => (Account::money(*means), *balance),
            Self::Stock { lines } => {
                return Plan::new(Kind::Opening, Money::ZERO, None).into_stock(lines);
            }
        };
        if balance.is_negative() {
            let plan = Plan::new(Kind::Opening, balance.negated()?, party);
            return Ok(plan.moved(Account::opening(), account, 0));
        }
        Ok(Plan::new(Kind::Opening, balance, party).moved(account, Account::opening(), 0))
    }
}

impl Plan {
    fn new(kind: Kind, amount: Money, party: Option<ContactId>) -> Self {
        Self { kind, amount, party, postings: Vec::new(), movements: Vec::new(), flow: 0 }
    }

    /// A posting of the whole amount between two accounts.
    fn move_to(&self, debit: Account, credit: Account) -> Posting {
        let contact = self.party.filter(|_| debit.is_contacts() || credit.is_contacts());
        Posting { debit, credit, contact, amount: self.amount }
    }

    fn moved(mut self, debit: Account, credit: Account, flow: i64) -> Self {
        self.postings.push(self.move_to(debit, credit));
        self.flow = flow;
        self
    }

    fn settle(
        mut self,
        settled: Settled,
        post: impl Fn(&Self, Account) -> Posting,
        flow: i64,
    ) -> Result<Self> {
        match settled {
            Settled::Now(means) => {
                self.postings.push(post(&self, Account::money(means)));
                self.flow = flow;
            }
            Settled::Credit => self.postings.push(post(&self, Account::contacts())),
            Settled::Part { paid, means } => {
                if paid <= Money::ZERO || paid >= self.amount {
                    let what = format!(
                        "{paid} of {} is no part of it: a part is more than nothing and less than all",
                        self.amount
                    );
                    return Err(Error::Invalid(what));
                }
                let now = Posting { amount: paid, ..post(&self, Account::money(means)) };
                let rest = Posting { amount: self.amount.minus(paid)?, ..post(&self, Account::contacts()) };
                self.postings.extend([now, rest]);
                self.flow = flow;
            }
        }
        Ok(self)
    }

    fn into_stock(self, lines: &[Line]) -> Result<Self> {
        self.stocked(lines, |quantity| quantity)
    }

    fn out(self, lines: &[Line]) -> Result<Self> {
        self.stocked(lines, Quantity::negated)
    }

    fn stocked(mut self, lines: &[Line], sign: fn(Quantity) -> Quantity) -> Result<Self> {
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
            self.movements.push(Movement { item: line.item, quantity: sign(line.quantity) });
        }
        Ok(self)
    }

    fn checked(self) -> Result<Self> {
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
