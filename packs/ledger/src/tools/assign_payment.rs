//! Whose a payment was that is in the books for nobody yet.

use std::time::Duration;

use munshi_lang::{Locale, format};
use munshi_safety::acts::Permit;
use munshi_store::{Tx, params};
use munshi_tools::{ChoiceOption, ToolFailure, ToolOutput, WriteToolHandler};
use munshi_types::{Money, Timestamp};
use serde_json::Value;

use super::call::{LedgerServices, LedgerToolCall, amount, text};
use super::contact_match;
use super::result::LedgerToolResult;
use crate::books::{
    self, ContactId, EntryProvenance, LedgerEntry, LedgerEntryId, LedgerEntryKind, NewLedgerEntry,
    PaymentMeans, ShopTransaction, entry,
};
use crate::error::Result as Booking;

const REASON: &str = "it was said whose it is";
const BACK_REASON: &str = "it was taken back whose it is";
/// Whose a payment of longer ago was, nobody says in passing.
const BACK: Duration = Duration::from_secs(92 * 86_400);
const MOST: i64 = 5;

pub(crate) struct SortPaymentTool(pub(crate) LedgerServices);

impl WriteToolHandler for SortPaymentTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let before = entry::find_by_key(tx, call.key)?.and_then(|right| right.corrects);
        let unsorted = match before.map(|id| entry::find(tx, id)).transpose()?.flatten() {
            Some(before) => before,
            None => resolve_unsorted(tx, &call.unsorted_query())?,
        };
        let party = contact_match::resolve_party(tx, &call, call.text("person").unwrap_or_default())?;
        let act = build_transaction(tx, &unsorted, Some(party.contact.id))?;
        let right = NewLedgerEntry { key: call.key, act, said: build_provenance(&call, &unsorted) };
        let corrected = books::correct(tx, &call.booking_context(), unsorted.id, &right, REASON)?;
        Ok(LedgerToolResult::default().entry(&corrected.right).phrase("sorted").party(tx, &party)?.build())
    }

    fn read_back(
        &self,
        permit: &Permit,
        _: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let kept = entry::find_by_key(tx, call.key)?;
        let is_sorted = kept.is_some_and(|entry| entry.is_active() && entry.contact.is_some());
        Ok((!is_sorted).then(|| "the payment is nobody's all the same".to_owned()))
    }
}

/// Whether a payment was nobody's before somebody said whose it was.
fn was_unsorted(tx: &mut Tx<'_>, entry: &LedgerEntry) -> Booking<bool> {
    let Some(before) = entry.corrects.filter(|_| entry.contact.is_some()) else { return Ok(false) };
    let before = entry::find(tx, before)?;
    Ok(before.is_some_and(|before| before.contact.is_none() && before.amount == entry.amount))
}

/// Makes a payment nobody's again that was put under a name. None where it never was.
pub(super) fn unassign(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    sorted: &LedgerEntry,
) -> Result<Option<LedgerToolResult>, ToolFailure> {
    let Some(contact) = sorted.contact.filter(|_| is_payment(sorted)) else { return Ok(None) };
    if !was_unsorted(tx, sorted)? {
        return Ok(None);
    }
    let act = build_transaction(tx, sorted, None)?;
    // Nobody has made it: what is taken back next is what was written before it.
    let said = EntryProvenance { by: None, ..build_provenance(call, sorted) };
    let right = NewLedgerEntry { key: call.key, act, said };
    let corrected = books::correct(tx, &call.booking_context(), sorted.id, &right, BACK_REASON)?;
    let told = LedgerToolResult::default()
        .entry(&corrected.right)
        .with("number", corrected.right.number)
        .phrase("unsorted");
    Ok(Some(told.balance_of(tx, contact)?))
}

/// The same payment, of somebody or of nobody.
fn build_transaction(
    tx: &mut Tx<'_>,
    payment: &LedgerEntry,
    party: Option<ContactId>,
) -> Booking<ShopTransaction> {
    let (amount, means) = (payment.amount, means(tx, payment)?);
    Ok(match payment.kind {
        LedgerEntryKind::PaymentMade => ShopTransaction::PaymentMade { party, amount, means },
        _ => ShopTransaction::PaymentReceived { party, amount, means },
    })
}

/// It stays what the bank told, with the marks that it is known again by; who said whose it is made the entry.
fn build_provenance(call: &LedgerToolCall<'_>, unsorted: &LedgerEntry) -> EntryProvenance {
    EntryProvenance {
        by: call.by,
        source: unsorted.source,
        words: unsorted.words.clone(),
        happened_at: unsorted.happened_at,
        reference: unsorted.reference.clone(),
        fingerprint: unsorted.fingerprint.clone(),
    }
}

fn means(tx: &mut Tx<'_>, unsorted: &LedgerEntry) -> Booking<PaymentMeans> {
    let postings = entry::postings(tx, unsorted.id)?;
    let is_cash = |code: &str| code == PaymentMeans::Cash.as_str();
    let cash = postings.iter().any(|one| is_cash(one.debit.code()) || is_cash(one.credit.code()));
    Ok(if cash { PaymentMeans::Cash } else { PaymentMeans::Bank })
}

/// Which payment somebody speaks of.
pub(crate) struct UnsortedPaymentQuery<'a> {
    pub(crate) arguments: &'a Value,
    pub(crate) now: Timestamp,
    pub(crate) voice: Locale,
}

/// The payment that is meant: by its number, or the only one of this amount. Of several the person picks.
pub(crate) fn resolve_unsorted(
    tx: &mut Tx<'_>,
    wish: &UnsortedPaymentQuery<'_>,
) -> Result<LedgerEntry, ToolFailure> {
    let none = || ToolFailure::permanent("ledger_none_unsorted", "no payment without a name is like that");
    if let Some(number) = text(wish.arguments, "entry") {
        let number: i64 = number.trim_start_matches('#').parse().map_err(|_| none())?;
        let named = entry::find_by_number(tx, number)?.filter(is_unsorted);
        return named.ok_or_else(none);
    }
    let mut found = list_unsorted(tx, wish)?;
    if found.len() < 2 {
        return found.pop().ok_or_else(none);
    }
    let choice = |entry: &LedgerEntry| {
        let label =
            format!("{} {}", format::rupees(entry.amount), format::date(entry.day.to_date(), wish.voice));
        ChoiceOption::new(entry.number.to_string(), label)
    };
    Err(ToolFailure::ambiguous("entry", found.iter().map(choice).collect()))
}

const fn is_payment(entry: &LedgerEntry) -> bool {
    matches!(entry.kind, LedgerEntryKind::PaymentReceived | LedgerEntryKind::PaymentMade)
}

fn is_unsorted(entry: &LedgerEntry) -> bool {
    is_payment(entry) && entry.contact.is_none() && entry.is_active()
}

/// Payments of nobody that stand, of the amount that was said, the latest first.
fn list_unsorted(tx: &mut Tx<'_>, wish: &UnsortedPaymentQuery<'_>) -> Booking<Vec<LedgerEntry>> {
    let amount = amount(wish.arguments).filter(|amount| *amount > Money::ZERO).unwrap_or(Money::ZERO);
    let ids = tx.all(
        "SELECT e.id FROM ledger_entries e
         WHERE e.tenant_id = $1 AND e.contact_id IS NULL AND e.happened_at >= $2
           AND e.kind IN ('payment_received', 'payment_made') AND ($3 = 0 OR e.amount = $3) AND e.reverses IS NULL
           AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
         ORDER BY e.happened_at DESC, e.number DESC LIMIT $4",
        params![wish.now.minus(BACK), amount, MOST],
        |row| row.get::<LedgerEntryId>(0),
    )?;
    ids.into_iter().filter_map(|id| entry::find(tx, id).transpose()).collect()
}
