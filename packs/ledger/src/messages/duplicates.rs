//! Whether the books have a payment already: told by another message of the bank or app, or by the owner.
//!
//! The payment's number decides where both have one. Else it is the amount, the way it went, the time and who it was with:
//! what agrees in all of it is the same, what differs in one is another, and what leaves one open is asked about. A message
//! of a sort that has told of the entry already is one of another payment, unless it came right after.

use std::time::Duration;

use munshi_sms::{Payment, Sms};
use munshi_store::Tx;
use munshi_types::{Timestamp, Zone};

use super::names::{self, NameAgreement};
use super::payment_time::PaymentTime;
use crate::books::dedup::{self, words_key};
use crate::books::{
    LedgerDay, LedgerEntry, LedgerEntryKind, LedgerEntrySource, PaymentMeans, ShopTransaction, contacts,
    entry,
};
use crate::error::Result;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
/// Two messages of one payment come within this, unless one of them was long on its way.
const TOGETHER: Duration = Duration::from_secs(10 * 60);
/// What was sold is paid for within this.
const AT_ONCE: Duration = Duration::from_secs(30 * 60);
/// The owner tells of a payment within this.
const SOON: Duration = Duration::from_secs(2 * 3600);
/// A message may be so long on its way, and the owner so late.
const LATE: Duration = Duration::from_secs(24 * 3600);
/// Of somebody who is named, the owner may tell days after.
const DAYS: Duration = Duration::from_secs(3 * 24 * 3600);

/// A payment as a message tells of it.
pub(super) struct ReportedPayment<'a> {
    pub payment: &'a Payment,
    pub act: &'a ShopTransaction,
    pub fingerprint: &'a str,
    pub words: &'a str,
    pub moment: PaymentTime,
    pub zone: &'a Zone,
}

pub(super) enum PaymentMatch {
    New,
    /// It is this entry.
    Same(LedgerEntry),
    /// It may be this entry; a person knows.
    Maybe(LedgerEntry),
}

/// How alike two are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Alike {
    Maybe,
    Same,
}

pub(super) fn match_payment(tx: &mut Tx<'_>, telling: &ReportedPayment<'_>) -> Result<PaymentMatch> {
    if let Some(known) = dedup::find_known_payment(tx, telling.fingerprint)? {
        return Ok(PaymentMatch::Same(known));
    }
    let mut near = dedup::list_payments_near(tx, telling.act, telling.moment.at, DAYS)?;
    near.extend(dedup::list_corrected_near(tx, telling.act, telling.moment.at, DAYS)?);
    // Credit and opening figures move no money either, and are no transfer.
    if let ShopTransaction::Transfer { .. } = telling.act {
        near.retain(|entry| entry.kind == LedgerEntryKind::Transfer);
    }
    let mut best: Option<(Alike, LedgerEntry)> = None;
    for entry in near {
        if let Some(alike) = compare_entry(tx, telling, &entry)?
            && best.as_ref().is_none_or(|(known, _)| alike > *known)
        {
            best = Some((alike, entry));
        }
    }
    Ok(match best {
        Some((Alike::Same, entry)) => PaymentMatch::Same(entry),
        Some((Alike::Maybe, entry)) => PaymentMatch::Maybe(entry),
        None => PaymentMatch::New,
    })
}

fn compare_entry(
    tx: &mut Tx<'_>,
    telling: &ReportedPayment<'_>,
    entry: &LedgerEntry,
) -> Result<Option<Alike>> {
    let told = Told::load(tx, entry)?;
    let gap = gap(telling, entry.happened_at);
    match (telling.payment.reference.is_some(), entry.source) {
        (true, _) if told.by_number => Ok(None),
        (_, LedgerEntrySource::Sms) => Ok(compare_messages(telling, entry, &told, gap)),
        _ => compare_owner_entry(tx, telling, entry, &told, gap),
    }
}

/// By which sorts of messages an entry was told of.
struct Told {
    by_number: bool,
    /// By one without a number, beside the one that it was booked by.
    by_the_rest: bool,
}

impl Told {
    fn load(tx: &mut Tx<'_>, entry: &LedgerEntry) -> Result<Self> {
        let seen = dedup::sightings(tx, entry.id)?;
        let has_number = entry.source == LedgerEntrySource::Sms && entry.reference.is_some();
        Ok(Self {
            by_number: has_number || seen.iter().any(|seen| Payment::is_by_reference(&seen.fingerprint)),
            by_the_rest: seen.iter().any(|seen| !Payment::is_by_reference(&seen.fingerprint)),
        })
    }

    /// Whether a message like this one has told of it.
    const fn has_kind_of(&self, telling: &ReportedPayment<'_>) -> bool {
        if telling.payment.reference.is_some() { self.by_number } else { self.by_the_rest }
    }
}

/// What the owner said, and a message.
fn compare_owner_entry(
    tx: &mut Tx<'_>,
    telling: &ReportedPayment<'_>,
    entry: &LedgerEntry,
    told: &Told,
    gap: Duration,
) -> Result<Option<Alike>> {
    let maybe = |within: Duration| (gap <= within).then_some(Alike::Maybe);
    let by_bank = went_by_bank(tx, entry)?;
    let party = compare_party(tx, telling, entry)?;
    if party == Party::Another {
        return Ok(None);
    }
    if told.has_kind_of(telling) {
        return Ok(maybe(TOGETHER));
    }
    if !by_bank && is_trade(entry.kind) {
        return Ok(maybe(AT_ONCE));
    }
    Ok(match party {
        Party::Same if gap <= SOON && by_bank && !told.by_number && !told.by_the_rest => Some(Alike::Same),
        Party::Same => maybe(DAYS),
        Party::Open => maybe(LATE),
        Party::Stranger => maybe(SOON),
        Party::Another => None,
    })
}

/// Who two payments were with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Party {
    Same,
    /// One of them says nobody, or the names are near.
    Open,
    /// The bank names somebody who is not in the books; people pay from each other's telephones.
    Stranger,
    Another,
}

fn compare_party(tx: &mut Tx<'_>, telling: &ReportedPayment<'_>, entry: &LedgerEntry) -> Result<Party> {
    let theirs = entry.contact.map(|contact| contacts::get(tx, contact)).transpose()?;
    let own = telling.act.party().map(|contact| contacts::get(tx, contact)).transpose()?;
    let told = telling.payment.counterparty.as_deref();
    Ok(match (own, theirs) {
        (Some(one), Some(other)) if one.id == other.id => Party::Same,
        (Some(one), Some(other)) => match names::compare_names(Some(&one.name), Some(&other.name)) {
            NameAgreement::Others => Party::Another,
            NameAgreement::Same | NameAgreement::Near => Party::Open,
        },
        (None, Some(other)) => match names::compare_names(told, Some(&other.name)) {
            NameAgreement::Others => Party::Stranger,
            NameAgreement::Same | NameAgreement::Near => Party::Open,
        },
        (_, None) => Party::Open,
    })
}

/// Two messages, of which at most one has a number.
fn compare_messages(
    telling: &ReportedPayment<'_>,
    entry: &LedgerEntry,
    told: &Told,
    gap: Duration,
) -> Option<Alike> {
    if words_key(telling.words) == words_key(&entry.words) {
        return compare_same_words(telling, gap);
    }
    let day = LedgerDay::of(entry.happened_at, telling.zone).to_date();
    let reading = munshi_sms::read(&Sms { text: &entry.words, sender: None, day: Some(day) });
    let known = reading.payment()?;
    let differs = |one: &Option<String>, other: &Option<String>| matches!((one, other), (Some(one), Some(other)) if !ends_alike(one, other));
    if differs(&telling.payment.account, &known.account) {
        return None;
    }
    if let (Some(one), Some(other)) = (telling.payment.balance, known.balance) {
        return (one == other && gap <= LATE).then_some(Alike::Same);
    }
    let is_late = gap > TOGETHER;
    // Both say when it was, and not the same; or both sorts of messages have told of the entry.
    if is_late && (telling.moment.is_said && known.time.is_some() || told.has_kind_of(telling)) {
        return None;
    }
    let names = names::compare_names(telling.payment.counterparty.as_deref(), known.counterparty.as_deref());
    match (names, is_late) {
        (NameAgreement::Same, false) if !told.has_kind_of(telling) => Some(Alike::Same),
        (_, false) => Some(Alike::Maybe),
        (NameAgreement::Others, true) => None,
        (_, true) => (gap <= LATE).then_some(Alike::Maybe),
    }
}

/// The very same words once more. They are the same payment where they say the minute or what is left; else somebody may
/// have paid the same twice.
fn compare_same_words(telling: &ReportedPayment<'_>, gap: Duration) -> Option<Alike> {
    let says_which = telling.moment.is_said || telling.payment.balance.is_some();
    match gap {
        gap if says_which && gap <= LATE => Some(Alike::Same),
        gap if gap <= MINUTE => Some(Alike::Same),
        gap if gap <= TOGETHER => Some(Alike::Maybe),
        gap if gap <= LATE && !telling.moment.is_exact => Some(Alike::Maybe),
        _ => None,
    }
}

/// Whether two tails of an account may be one: 471 and 4471.
fn ends_alike(one: &str, other: &str) -> bool {
    one.ends_with(other) || other.ends_with(one)
}

/// How far apart they are; where only the day is known, some hours if it is the same day.
fn gap(telling: &ReportedPayment<'_>, other: Timestamp) -> Duration {
    let own = telling.moment.at;
    if !telling.moment.is_exact {
        let days =
            LedgerDay::of(own, telling.zone).days_since(LedgerDay::of(other, telling.zone)).unsigned_abs();
        return if days == 0 { 3 * HOUR } else { LATE * u32::try_from(days).unwrap_or(u32::MAX).min(9) };
    }
    Duration::from_micros(own.as_micros().abs_diff(other.as_micros()))
}

const fn is_trade(kind: LedgerEntryKind) -> bool {
    matches!(kind, LedgerEntryKind::Sale | LedgerEntryKind::Purchase | LedgerEntryKind::Expense)
}

fn went_by_bank(tx: &mut Tx<'_>, entry: &LedgerEntry) -> Result<bool> {
    let bank = PaymentMeans::Bank.as_str();
    let postings = entry::postings(tx, entry.id)?;
    Ok(postings.iter().any(|posting| posting.debit.code() == bank || posting.credit.code() == bank))
}
