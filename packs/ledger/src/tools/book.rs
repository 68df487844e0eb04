//! The tools that write an entry: sale, purchase, expense, credit either way, payments either way.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{Done, Failure, Write};
use munshi_types::Money;

use super::call::{Call, Desk};
use super::person::{self, Party, Whom};
use super::stock::{self, Moved};
use super::told::Told;
use super::word;
use crate::books::{self, Act, Days, Entry, Kind, Lent, Line, Means, Quantity, Settled, days, entry};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Sale,
    Purchase,
    Expense,
    CreditGiven,
    CreditTaken,
    Received,
    Paid,
}

impl What {
    /// What a tool of this name writes.
    pub(crate) fn of_tool(name: &str) -> Option<Self> {
        Some(match name {
            "log_sale" => Self::Sale,
            "log_purchase" => Self::Purchase,
            "log_expense" => Self::Expense,
            "credit_given" => Self::CreditGiven,
            "credit_taken" => Self::CreditTaken,
            "payment_received" => Self::Received,
            "payment_made" => Self::Paid,
            _ => return None,
        })
    }

    /// What an entry of this kind was written by.
    pub(crate) const fn of_kind(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::Sale => Self::Sale,
            Kind::Purchase => Self::Purchase,
            Kind::Expense => Self::Expense,
            Kind::CreditGiven => Self::CreditGiven,
            Kind::CreditTaken => Self::CreditTaken,
            Kind::PaymentReceived => Self::Received,
            Kind::PaymentMade => Self::Paid,
            Kind::Transfer | Kind::Opening | Kind::StockIn | Kind::StockOut => return None,
        })
    }

    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Sale => Kind::Sale,
            Self::Purchase => Kind::Purchase,
            Self::Expense => Kind::Expense,
            Self::CreditGiven => Kind::CreditGiven,
            Self::CreditTaken => Kind::CreditTaken,
            Self::Received => Kind::PaymentReceived,
            Self::Paid => Kind::PaymentMade,
        }
    }
}

pub(crate) struct Book {
    pub(crate) what: What,
    pub(crate) desk: Desk,
}

impl Write for Book {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.desk.call(permit, tx)?;
        let held = books::hold_for(tx, call.key)?;
        let said = call.text("person");
        let whom = said.map(|said| person::whom(tx, said, call.heard())).transpose()?;
        if !held.is_booked() {
            call.nothing_since(tx, self.what, whom.as_ref().and_then(Whom::contact))?;
        }
        let party = said.zip(whom).map(|(said, whom)| person::party_of(tx, &call, said, whom)).transpose()?;
        let Moved { lines, left } = self.moved(tx, &call)?;
        let act = self.act(&call, party.as_ref(), lines)?;
        let booked = held.book(tx, &call.writing(), &call.entry(act)?)?;
        if !booked.is_repeat {
            word::allows(tx, &call, &booked.entry)?;
        }
        let told = self.told(tx, &call, &booked.entry, party.as_ref())?;
        let told = match left {
            Some(item) => told.with("kept", item.name).with("kept_unit", item.unit).say("stock-left"),
            None => told,
        };
        Ok(match self.cash_paid(&call)? {
            Some(paid) => told.cash_below(tx, paid)?.done(),
            None => told.done(),
        })
    }

    fn read_back(&self, permit: &Permit, done: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let call = self.desk.call(permit, tx)?;
        read_back(tx, &call, done)
    }
}

/// Whether the entry stands under this act's key with the amount that was asked for and is about to be told.
pub(crate) fn read_back(tx: &mut Tx<'_>, call: &Call<'_>, done: &Done) -> Result<Option<String>, Failure> {
    let Some(entry) = entry::by_key(tx, call.key)? else {
        return Ok(Some("the entry is not in the books".to_owned()));
    };
    let wanted = call.amount()?;
    let told = done.value.get("amount").and_then(serde_json::Value::as_i64);
    let agrees = entry.amount == wanted && told == Some(wanted.as_paise()) && entry.stands();
    Ok((!agrees).then(|| format!("entry {} is of {} and not of {wanted}", entry.number, entry.amount)))
}

impl Book {
    /// What moves in stock: an expense is for no item that is kept, and a payment for none at all.
    fn moved(&self, tx: &mut Tx<'_>, call: &Call<'_>) -> Result<Moved, Failure> {
        match self.what {
            What::Sale | What::Purchase | What::CreditGiven | What::CreditTaken => stock::moved(tx, call),
            What::Expense | What::Received | What::Paid => Ok(Moved::default()),
        }
    }

    fn act(&self, call: &Call<'_>, party: Option<&Party>, lines: Vec<Line>) -> Result<Act, Failure> {
        let (amount, means) = (call.amount()?, call.means());
        let party = party.map(|party| party.contact.id);
        let needed = || party.ok_or_else(|| Failure::surely("no_person", "say for whom it was"));
        Ok(match self.what {
            What::Sale => Act::Sale { amount, settled: Settled::Now(means), party, lines },
            What::Purchase => Act::Purchase { amount, settled: Settled::Now(means), party, lines },
            What::Expense => {
                let category = call.text("item").unwrap_or_default().to_owned();
                Act::Expense { amount, category, settled: Settled::Now(means), party }
            }
            What::CreditGiven => Act::CreditGiven { party: needed()?, amount, lent: lent(call), lines },
            What::CreditTaken => Act::CreditTaken { party: needed()?, amount, lent: lent(call), lines },
            What::Received => Act::PaymentReceived { party, amount, means },
            What::Paid => Act::PaymentMade { party, amount, means },
        })
    }

    /// The cash that leaves the drawer, where any does.
    fn cash_paid(&self, call: &Call<'_>) -> Result<Option<Money>, Failure> {
        let is_paid = match self.what {
            What::Purchase | What::Expense | What::Paid => call.means() == Means::Cash,
            What::CreditGiven => lent(call) == Lent::Money(Means::Cash),
            What::Sale | What::CreditTaken | What::Received => false,
        };
        is_paid.then(|| call.amount()).transpose()
    }

    fn told(
        &self,
        tx: &mut Tx<'_>,
        call: &Call<'_>,
        entry: &Entry,
        party: Option<&Party>,
    ) -> Result<Told, Failure> {
        let item = call.text("item").map(|item| how_much(call, item));
        let told = Told::default().entry(entry);
        let told = match &item {
            Some(item) => told.with("item", item.as_str()),
            None => told,
        };
        let told = told.say(match (self.what, &item) {
            (What::Sale, None) => "sale",
            (What::Sale, Some(_)) => "sale-item",
            (What::Purchase, _) => "purchase",
            (What::Expense, _) => "expense",
            (What::CreditGiven, None) => "credit",
            (What::CreditGiven, Some(_)) => "credit-item",
            (What::CreditTaken, None) => "taken",
            (What::CreditTaken, Some(_)) => "taken-item",
            (What::Received, _) => "received",
            (What::Paid, _) => "paid",
        });
        let is_money =
            matches!(self.what, What::CreditGiven | What::CreditTaken) && lent(call) != Lent::Goods;
        let told = if is_money { told.say("as-money") } else { told };
        let told = match party {
            Some(party) => told.party(tx, party)?,
            None => told,
        };
        if let Some(day) = call.other_day()? {
            return Ok(told.with("date", day.to_string()).say("dated"));
        }
        if self.what == What::Sale {
            let sales = days::totals(tx, Days::day(call.today()))?.sales;
            return Ok(told.money("day_total", sales).say("sales-today"));
        }
        Ok(told)
    }
}

/// Whether money itself was lent: where things are named, it was those.
fn lent(call: &Call<'_>) -> Lent {
    match (call.text("lent"), call.text("item")) {
        (Some("money"), None) => Lent::Money(call.means()),
        _ => Lent::Goods,
    }
}

/// An item with how much of it was said, so that whoever hears it can tell whether it was heard right.
fn how_much(call: &Call<'_>, item: &str) -> String {
    let quantity = call.number("quantity").and_then(|number| number.parse::<Quantity>().ok());
    let Some(quantity) = quantity else { return item.to_owned() };
    let words = [Some(quantity.to_string()), call.text("unit").map(str::to_owned), Some(item.to_owned())];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
