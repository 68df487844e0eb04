//! Whose a payment was that is in the books for nobody yet.

use std::time::Duration;

use munshi_lang::format;
use munshi_safety::acts::Permit;
use munshi_store::{Tx, params};
use munshi_tools::{Choice, Done, Failure, Write};
use munshi_types::Money;

use super::call::{Call, Desk};
use super::person;
use super::told::Told;
use crate::books::dedup;
use crate::books::{self, Act, Entry, Kind, LedgerEntryId, Means, NewEntry, Said, entry};
use crate::error::Result as Booking;

const REASON: &str = "it was said whose it is";
/// Whose a payment of longer ago was, nobody says in passing.
const BACK: Duration = Duration::from_secs(92 * 86_400);
const MOST: i64 = 5;

pub(crate) struct SortPayment(pub(crate) Desk);

impl Write for SortPayment {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let before = entry::by_key(tx, call.key)?.and_then(|right| right.corrects);
        let unsorted = match before.map(|id| entry::find(tx, id)).transpose()?.flatten() {
            Some(before) => before,
            None => meant(tx, &call)?,
        };
        let party = person::party(tx, &call, call.text("person").unwrap_or_default())?;
        let (amount, contact) = (unsorted.amount, Some(party.contact.id));
        let means = means(tx, &unsorted)?;
        let act = match unsorted.kind {
            Kind::PaymentMade => Act::PaymentMade { party: contact, amount, means },
            _ => Act::PaymentReceived { party: contact, amount, means },
        };
        let right = NewEntry { key: call.key, act, said: said(&call, &unsorted) };
        let corrected = books::correct(tx, &call.writing(), unsorted.id, &right, REASON)?;
        // The same message once more is still the same payment.
        for seen in dedup::sightings(tx, unsorted.id)? {
            dedup::saw(tx, corrected.right.id, &seen, unsorted.source, call.now)?;
        }
        Ok(Told::default().entry(&corrected.right).say("sorted").party(tx, &party)?.done())
    }

    fn read_back(&self, permit: &Permit, _: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let call = self.0.call(permit, tx)?;
        let kept = entry::by_key(tx, call.key)?;
        let is_sorted = kept.is_some_and(|entry| entry.stands() && entry.contact.is_some());
        Ok((!is_sorted).then(|| "the payment is nobody's all the same".to_owned()))
    }
}

/// It stays what the bank told, with the marks that it is known again by; who said whose it is made the entry.
fn said(call: &Call<'_>, unsorted: &Entry) -> Said {
    Said {
        by: call.by,
        source: unsorted.source,
        words: unsorted.words.clone(),
        happened_at: unsorted.happened_at,
        reference: unsorted.reference.clone(),
        fingerprint: unsorted.fingerprint.clone(),
    }
}

fn means(tx: &mut Tx<'_>, unsorted: &Entry) -> Booking<Means> {
    let postings = entry::postings(tx, unsorted.id)?;
    let is_cash = |code: &str| code == Means::Cash.as_str();
    let cash = postings.iter().any(|one| is_cash(one.debit.code()) || is_cash(one.credit.code()));
    Ok(if cash { Means::Cash } else { Means::Bank })
}

/// The payment that is meant: by its number, or the only one of this amount. Of several the person picks.
fn meant(tx: &mut Tx<'_>, call: &Call<'_>) -> Result<Entry, Failure> {
    let none = || Failure::surely("ledger_none_unsorted", "no payment without a name is like that");
    if let Some(number) = call.text("entry") {
        let number: i64 = number.trim_start_matches('#').parse().map_err(|_| none())?;
        let named = entry::by_number(tx, number)?.filter(is_unsorted);
        return named.ok_or_else(none);
    }
    let mut found = unsorted(tx, call)?;
    if found.len() < 2 {
        return found.pop().ok_or_else(none);
    }
    let choice = |entry: &Entry| {
        let label = format!("{} {}", format::rupees(entry.amount), day(call, entry));
        Choice::new(entry.number.to_string(), label)
    };
    Err(Failure::several("entry", found.iter().map(choice).collect()))
}

fn day(call: &Call<'_>, entry: &Entry) -> String {
    format::date(entry.day.to_date(), call.voice())
}

fn is_unsorted(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::PaymentReceived | Kind::PaymentMade)
        && entry.contact.is_none()
        && entry.stands()
}

/// Payments of nobody that stand, of the amount that was said, the latest first.
fn unsorted(tx: &mut Tx<'_>, call: &Call<'_>) -> Booking<Vec<Entry>> {
    let amount = call.given_amount().unwrap_or(Money::ZERO);
    let ids = tx.all(
        "SELECT e.id FROM ledger_entries e
         WHERE e.tenant_id = $1 AND e.contact_id IS NULL AND e.happened_at >= $2
           AND e.kind IN ('payment_received', 'payment_made') AND ($3 = 0 OR e.amount = $3) AND e.reverses IS NULL
           AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
         ORDER BY e.happened_at DESC, e.number DESC LIMIT $4",
        params![call.now.minus(BACK), amount, MOST],
        |row| row.get::<LedgerEntryId>(0),
    )?;
    ids.into_iter().filter_map(|id| entry::find(tx, id).transpose()).collect()
}
