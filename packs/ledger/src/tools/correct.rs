//! Putting another amount in the place of an entry: the last one, or one that is named by its number.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{Done, Failure, Write};
use munshi_types::Money;

use super::book::read_back;
use super::call::{Desk, changed};
use super::cancel::spoken_of;
use super::told::Told;
use super::word;
use crate::books::{
    self, Account, Act, Entry, Kind, Lent, Line, Means, Posting, Quantity, Settled, Source, chart, entry,
};
use crate::check;
use crate::error::Result as Booking;

const REASON: &str = "the amount was corrected by the one who said it";

/// How it is asked whether an entry should have another amount.
pub(crate) const CORRECT_ASK: &str = "ledger-correct-ask";
pub(crate) const CORRECT_SCOPE: &str = "ledger.entry.correct";

pub(crate) struct CorrectLast(pub(crate) Desk);

impl Write for CorrectLast {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let amount = call.amount()?;
        let before = entry::by_key(tx, call.key)?.and_then(|right| right.corrects);
        let wrong = match before.map(|id| entry::find(tx, id)).transpose()?.flatten() {
            Some(wrong) => wrong,
            None => {
                books::hold(tx)?;
                let wrong = spoken_of(tx, &call, (CORRECT_ASK, CORRECT_SCOPE))?;
                if let Some(found) = check::since_corrected(tx, &wrong, amount, &call.agreed)? {
                    return Err(changed(&found.phrase));
                }
                wrong
            }
        };
        let act = with_amount(tx, &wrong, amount)?.ok_or_else(|| {
            let what =
                "an entry of several parts can't be corrected by its amount: cancel it and write it anew";
            Failure::surely("not_booked", what)
        })?;
        // It happened when it happened, however late the amount is put right.
        let mut right = call.entry_at(act, wrong.happened_at);
        // What a bank's message told is known again by its words and marks, whatever amount it has now.
        if wrong.source == Source::Sms {
            right.said.source = wrong.source;
            right.said.words.clone_from(&wrong.words);
        }
        right.said.reference.clone_from(&wrong.reference);
        right.said.fingerprint.clone_from(&wrong.fingerprint);
        let corrected = books::correct(tx, &call.writing(), wrong.id, &right, REASON)?;
        if !corrected.is_repeat && amount > wrong.amount {
            word::allows(tx, &call, &corrected.right)?;
        }
        let told = Told::default().entry(&corrected.right).money("old_amount", wrong.amount).say("corrected");
        Ok(match corrected.right.contact {
            Some(contact) => told.standing(tx, contact)?,
            None => told,
        }
        .done())
    }

    fn read_back(&self, permit: &Permit, done: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let call = self.0.call(permit, tx)?;
        read_back(tx, &call, done)
    }
}

/// The act of an entry, of another amount. None where the amount alone does not say what it would be.
fn with_amount(tx: &mut Tx<'_>, entry: &Entry, amount: Money) -> Booking<Option<Act>> {
    let postings = entry::postings(tx, entry.id)?;
    let [posting] = postings.as_slice() else { return Ok(None) };
    let lines: Vec<Line> = entry::movements(tx, entry.id)?.into_iter().map(line).collect();
    let party = entry.contact;
    Ok(match (entry.kind, party) {
        (Kind::Sale, _) => Some(Act::Sale { amount, settled: settled(&posting.debit), party, lines }),
        (Kind::Purchase, _) => {
            Some(Act::Purchase { amount, settled: settled(&posting.credit), party, lines })
        }
        (Kind::Expense, _) => {
            let category = category(tx, posting)?;
            Some(Act::Expense { amount, category, settled: settled(&posting.credit), party })
        }
        (Kind::CreditGiven, Some(party)) => {
            Some(Act::CreditGiven { party, amount, lent: lent(&posting.credit), lines })
        }
        (Kind::CreditTaken, Some(party)) => {
            Some(Act::CreditTaken { party, amount, lent: lent(&posting.debit), lines })
        }
        (Kind::PaymentReceived, _) => {
            Some(Act::PaymentReceived { party, amount, means: means(&posting.debit).unwrap_or(Means::Cash) })
        }
        (Kind::PaymentMade, _) => {
            Some(Act::PaymentMade { party, amount, means: means(&posting.credit).unwrap_or(Means::Cash) })
        }
        _ => None,
    })
}

fn means(account: &Account) -> Option<Means> {
    Means::ALL.iter().find(|means| means.as_str() == account.code()).copied()
}

fn settled(account: &Account) -> Settled {
    means(account).map_or(Settled::Credit, Settled::Now)
}

fn lent(account: &Account) -> Lent {
    means(account).map_or(Lent::Goods, Lent::Money)
}

fn line(movement: books::Movement) -> Line {
    let size = movement.quantity.as_thousandths().abs();
    Line { item: movement.item, quantity: Quantity::from_thousandths(size) }
}

/// The category's own name, as the chart of accounts has it.
fn category(tx: &mut Tx<'_>, posting: &Posting) -> Booking<String> {
    let known = chart(tx)?.into_iter().find(|(account, _)| account.code() == posting.debit.code());
    Ok(known.map_or_else(|| posting.debit.name().to_owned(), |(account, _)| account.name().to_owned()))
}
