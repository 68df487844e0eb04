//! The rules for what is to be booked: a large amount, an unusual one, credit over the limit, the same thing twice, a day
//! long ago.

use std::time::Duration;

use munshi_lang::format;
use munshi_pack::PackTurnContext;
use munshi_safety::pipeline::ActConcern;
use munshi_store::Tx;
use munshi_types::{Money, Timestamp};

use super::{resolve_locale, sms};
use crate::books::contacts::Contact;
use crate::books::dedup::{self, DuplicateCandidate, DuplicateWindows};
use crate::books::{
    ContactId, LedgerDay, LedgerEntry, LedgerEntrySource, ShopTransaction, contacts, habits, profile,
};
use crate::error::Result;
use crate::messages::names::{NameAgreement, compare_names};
use crate::tools::BookingKind;

/// Fewer entries than this say nothing of what is usual.
const ENOUGH: i64 = 5;
/// So many times what is usual is asked about.
const FAR: i64 = 4;
/// Something that happened longer ago than this is asked about: a wrong month is a common slip.
const LONG_AGO_DAYS: i64 = 31;
/// Two customers often pay the same; one that is named seldom does so twice.
const NAMED: Duration = Duration::from_secs(15 * 60);
const UNNAMED: Duration = Duration::from_secs(2 * 60);
/// So long after a bank's message the owner may still speak of the payment; of somebody who is named, longer.
const TOLD: Duration = Duration::from_secs(24 * 3600);
const TOLD_NAMED: Duration = Duration::from_secs(3 * 24 * 3600);
/// What was sold is paid for within this, and nobody may have said how.
const AT_ONCE: Duration = Duration::from_secs(30 * 60);

/// The first that nobody has agreed to yet.
pub(super) fn find_unagreed(found: Vec<ActConcern>, agreed: &[ActConcern]) -> Option<ActConcern> {
    found.into_iter().find(|one| agreed.iter().all(|known| known.phrase != one.phrase))
}

/// What is to be booked, as it was asked for.
pub(super) struct BookingRequest<'a> {
    pub what: BookingKind,
    pub amount: Money,
    /// Another day than today.
    pub day: Option<LedgerDay>,
    pub happened_at: Timestamp,
    pub contact: Option<Contact>,
    /// As it was said, also of somebody who is not in the books.
    pub name: Option<&'a str>,
    /// By which it was said to be paid.
    pub mode: Option<&'a str>,
    /// The entry that it takes the place of.
    pub instead: Option<&'a LedgerEntry>,
}

pub(super) fn concerns(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    wish: &BookingRequest<'_>,
) -> Result<Vec<ActConcern>> {
    let mut found: Vec<ActConcern> = check_day(scene, wish).into_iter().collect();
    found.extend(check_amount(tx, wish)?);
    found.extend(list_volatile_concerns(tx, wish)?);
    Ok(found)
}

/// Those that others may bring about at any moment.
pub(super) fn list_volatile_concerns(tx: &mut Tx<'_>, wish: &BookingRequest<'_>) -> Result<Vec<ActConcern>> {
    let over = check_limit(wish)?;
    Ok(over.into_iter().chain(check_duplicate(tx, wish)?).collect())
}

fn check_day(scene: &PackTurnContext, wish: &BookingRequest<'_>) -> Option<ActConcern> {
    let day =
        wish.day.filter(|day| LedgerDay::of(scene.now, &scene.zone).days_since(*day) > LONG_AGO_DAYS)?;
    let slots = vec![("date".to_owned(), format::date(day.to_date(), resolve_locale(scene)))];
    Some(ActConcern { phrase: "ledger-old-day".to_owned(), slots })
}

fn check_amount(tx: &mut Tx<'_>, wish: &BookingRequest<'_>) -> Result<Option<ActConcern>> {
    let amount = wish.amount;
    // What stands there already was asked about when it was written.
    let is_new = wish.instead.is_none_or(|instead| instead.amount != amount);
    if is_new && amount > profile::get(tx)?.confirm_above {
        return Ok(Some(concern("ask-large-amount", &[("amount", amount)], None)));
    }
    let Some(contact) = &wish.contact else { return Ok(None) };
    let is_unusual = is_unusual(tx, contact, wish.what, amount)?;
    Ok(is_unusual.then(|| concern("ask-unusual-amount", &[("amount", amount)], Some(contact))))
}

fn check_limit(wish: &BookingRequest<'_>) -> Result<Option<ActConcern>> {
    // Who is paid more than they are owed owes the rest.
    let (BookingKind::CreditGiven | BookingKind::Paid, Some(contact)) = (wish.what, &wish.contact) else {
        return Ok(None);
    };
    // What it takes the place of is owed no longer, where it was anybody's.
    let less = wish.instead.filter(|instead| instead.contact.is_some());
    let less = less.map_or(Money::ZERO, |instead| instead.amount);
    let more = wish.amount.minus(less)?;
    let (Some(_), Some(limit)) = (contact.excess_over_limit(more)?, contact.limit) else { return Ok(None) };
    Ok((more > Money::ZERO).then(|| concern("ledger-over-limit", &[("limit", limit)], Some(contact))))
}

/// That the books may have it already.
fn check_duplicate(tx: &mut Tx<'_>, wish: &BookingRequest<'_>) -> Result<Option<ActConcern>> {
    let amounts = [("amount", wish.amount)];
    if let Some(told) = find_bank_entry(tx, wish)? {
        let is_theirs = told.contact.is_some() && wish.contact.is_some();
        return Ok(Some(match (&wish.contact, wish.name) {
            (Some(contact), _) if is_theirs && is_same_contact(tx, &told, contact)? => {
                concern("ask-duplicate", &amounts, Some(contact))
            }
            (Some(contact), _) if told.contact.is_none() => {
                sms::build_unassigned_concern(&told, &contact.name)
            }
            (None, Some(name)) if told.contact.is_none() => sms::build_unassigned_concern(&told, name),
            _ => sms::build_duplicate_concern(&told),
        }));
    }
    let is_again = (wish.name.is_none() || wish.contact.is_some()) && is_repeat(tx, wish)?;
    let phrase = if wish.contact.is_some() { "ask-duplicate" } else { "ledger-again" };
    Ok(is_again.then(|| concern(phrase, &amounts, wish.contact.as_ref())))
}

pub(super) fn concern(phrase: &str, amounts: &[(&str, Money)], contact: Option<&Contact>) -> ActConcern {
    let amounts = amounts.iter().map(|(name, amount)| ((*name).to_owned(), format::rupees(*amount)));
    let name = contact.map(|contact| ("name".to_owned(), contact.name.clone()));
    ActConcern { phrase: phrase.to_owned(), slots: amounts.chain(name).collect() }
}

/// Far above or below what half of the latest entries with this contact are between.
fn is_unusual(tx: &mut Tx<'_>, contact: &Contact, what: BookingKind, amount: Money) -> Result<bool> {
    let Some(side) = what.kind().side() else { return Ok(false) };
    let habit = habits::get(tx, contact.id, side)?;
    let (Some(low), Some(high)) = (habit.low, habit.high) else { return Ok(false) };
    Ok(habit.seen >= ENOUGH && (amount > high.times(FAR)? || amount.times(FAR)? < low))
}

/// Whether the same was written a short while ago.
fn is_repeat(tx: &mut Tx<'_>, wish: &BookingRequest<'_>) -> Result<bool> {
    let party = wish.contact.as_ref().map(|contact| contact.id);
    let Some(act) = wish.what.minimal_transaction(wish.amount, party) else { return Ok(false) };
    let window = if party.is_some() { NAMED } else { UNNAMED };
    let at = wish.happened_at;
    let seen = DuplicateCandidate { act: &act, words: "", fingerprint: None, happened_at: at, now: at };
    let alike = dedup::find_duplicate(tx, &seen, DuplicateWindows { words: window, amount: window })?;
    Ok(alike.is_some_and(|alike| {
        let entry = alike.entry();
        let is_other = wish.instead.is_none_or(|instead| instead.id != entry.id);
        is_other && entry.kind == wish.what.kind() && entry.contact.is_some() == party.is_some()
    }))
}

/// The entry of a bank's message that may be this payment: of the same person, of one whose name is near, or of nobody
/// yet. The owner speaks of it some time after.
fn find_bank_entry(tx: &mut Tx<'_>, wish: &BookingRequest<'_>) -> Result<Option<LedgerEntry>> {
    let party = wish.contact.as_ref().map(|contact| contact.id);
    let within = match (wish.what, wish.mode) {
        (BookingKind::Received | BookingKind::Paid, _) => TOLD_NAMED,
        (BookingKind::Sale | BookingKind::Purchase | BookingKind::Expense, Some(mode)) if mode != "cash" => {
            TOLD_NAMED
        }
        (BookingKind::Sale | BookingKind::Purchase | BookingKind::Expense, None) => AT_ONCE,
        _ => return Ok(None),
    };
    let Some(act) = wish.what.minimal_transaction(wish.amount, party) else { return Ok(None) };
    for entry in dedup::list_payments_near(tx, &act, wish.happened_at, within)? {
        let is_told = entry.source == LedgerEntrySource::Sms
            && wish.instead.is_none_or(|instead| instead.id != entry.id);
        if is_told && may_be_theirs(tx, wish, &entry)? {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

fn may_be_theirs(tx: &mut Tx<'_>, wish: &BookingRequest<'_>, told: &LedgerEntry) -> Result<bool> {
    let whose = told.contact.map(|contact| contacts::get(tx, contact)).transpose()?;
    let is_soon =
        wish.happened_at.as_micros().abs_diff(told.happened_at.as_micros()) <= TOLD.as_micros() as u64;
    Ok(match (&whose, &wish.contact) {
        (Some(whose), Some(contact)) if whose.id == contact.id => true,
        _ if !is_soon => false,
        (Some(whose), Some(contact)) => {
            compare_names(Some(&whose.name), Some(&contact.name)) != NameAgreement::Others
        }
        (Some(whose), None) => compare_names(Some(&whose.name), wish.name) != NameAgreement::Others,
        (None, _) => true,
    })
}

fn is_same_contact(tx: &mut Tx<'_>, told: &LedgerEntry, contact: &Contact) -> Result<bool> {
    let whose = told.contact.map(|whose| contacts::get(tx, whose)).transpose()?;
    Ok(whose.is_some_and(|whose| whose.id == contact.id))
}

impl BookingKind {
    /// The act with nothing but the amount and the person; it is looked at and never booked.
    pub(super) fn minimal_transaction(
        self,
        amount: Money,
        party: Option<ContactId>,
    ) -> Option<ShopTransaction> {
        use crate::books::{CreditAsset, PaymentMeans, PaymentTerms};
        let (settled, means, lines) = (PaymentTerms::Now(PaymentMeans::Cash), PaymentMeans::Cash, Vec::new());
        Some(match self {
            Self::Sale => ShopTransaction::Sale { amount, settled, party, lines },
            Self::Purchase => ShopTransaction::Purchase { amount, settled, party, lines },
            Self::Expense => {
                ShopTransaction::Expense { amount, category: "expense".to_owned(), settled, party }
            }
            Self::CreditGiven => {
                ShopTransaction::CreditGiven { party: party?, amount, lent: CreditAsset::Goods, lines }
            }
            Self::CreditTaken => {
                ShopTransaction::CreditTaken { party: party?, amount, lent: CreditAsset::Goods, lines }
            }
            Self::Received => ShopTransaction::PaymentReceived { party, amount, means },
            Self::Paid => ShopTransaction::PaymentMade { party, amount, means },
        })
    }
}
