//! Whether the books have a payment already: told by another message of the bank or app, or by the owner.
//!
//! The payment's number decides where both have one. Else it is the amount, the way it went, the time and who it was with:
//! what agrees in all of it is the same, what differs in one is another, and what leaves one open is asked about.

use std::time::Duration;

use munshi_store::Tx;
use munshi_types::{Timestamp, Zone};

use super::moment::Moment;
use crate::books::dedup::{self, words_key};
use crate::books::{Act, Day, Entry, Kind, Means, Source, contacts, entry};
use crate::error::Result;
use crate::sms::{self, Payment, Sms};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
/// Two messages of one payment come within this.
const TOGETHER: Duration = Duration::from_secs(10 * 60);
/// The owner tells of a payment that somebody made within this, or asks oneself whether it is another.
const SOON: Duration = Duration::from_secs(2 * 3600);
const LATE: Duration = Duration::from_secs(24 * 3600);

/// A payment as a message tells of it.
pub(super) struct Telling<'a> {
    pub payment: &'a Payment,
    pub act: &'a Act,
    pub fingerprint: &'a str,
    pub words: &'a str,
    pub moment: Moment,
    pub zone: &'a Zone,
}

pub(super) enum Met {
    New,
    /// It is this entry.
    Same(Entry),
    /// It may be this entry; a person knows.
    Maybe(Entry),
}

/// How alike two are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Alike {
    Maybe,
    Same,
}

pub(super) fn meet(tx: &mut Tx<'_>, telling: &Telling<'_>) -> Result<Met> {
    if let Some(known) = dedup::known(tx, telling.fingerprint)? {
        return Ok(Met::Same(known));
    }
    let around = if telling.moment.is_exact { LATE } else { LATE + LATE };
    let mut near = dedup::payments(tx, telling.act, telling.moment.at, around)?;
    // Credit and opening figures move no money either, and are no transfer.
    if let Act::Transfer { .. } = telling.act {
        near.retain(|entry| entry.kind == Kind::Transfer);
    }
    let mut best: Option<(Alike, Entry)> = None;
    for entry in near {
        if let Some(alike) = alike(tx, telling, &entry)?
            && best.as_ref().is_none_or(|(known, _)| alike > *known)
        {
            best = Some((alike, entry));
        }
    }
    Ok(match best {
        Some((Alike::Same, entry)) => Met::Same(entry),
        Some((Alike::Maybe, entry)) => Met::Maybe(entry),
        None => Met::New,
    })
}

fn alike(tx: &mut Tx<'_>, telling: &Telling<'_>, entry: &Entry) -> Result<Option<Alike>> {
    let theirs =
        entry.contact.map(|contact| contacts::get(tx, contact)).transpose()?.map(|contact| contact.id);
    let party = match (telling.act.party(), theirs) {
        (Some(one), Some(other)) if one == other => Party::Same,
        (Some(_), Some(_)) => return Ok(None),
        (None, None) => Party::Nobody,
        _ => Party::Open,
    };
    let seen = dedup::sightings(tx, entry.id)?;
    let has_number = entry.source == Source::Sms && entry.reference.is_some();
    let is_numbered = has_number || seen.iter().any(|mark| Payment::is_by_reference(mark));
    if telling.payment.reference.is_some() && is_numbered {
        return Ok(None);
    }
    let gap = gap(telling, entry.happened_at);
    if entry.source == Source::Sms {
        return Ok(of_messages(telling, entry, gap));
    }
    if !went_by_bank(tx, entry)? && is_trade(entry.kind) {
        return Ok(None);
    }
    // What the owner said was seen in another message: this one would have to be a second of the same payment.
    if !seen.is_empty() {
        return Ok((gap <= TOGETHER).then_some(Alike::Maybe));
    }
    Ok(match party {
        Party::Same if gap <= SOON && went_by_bank(tx, entry)? => Some(Alike::Same),
        Party::Same if gap <= LATE => Some(Alike::Maybe),
        Party::Open if gap <= SOON => Some(Alike::Maybe),
        Party::Nobody if gap <= 30 * MINUTE => Some(Alike::Maybe),
        _ => None,
    })
}

/// Who two payments were with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Party {
    Same,
    /// One of them says nobody.
    Open,
    Nobody,
}

/// Two messages, of which at most one has a number.
fn of_messages(telling: &Telling<'_>, entry: &Entry, gap: Duration) -> Option<Alike> {
    let is_same_text = words_key(telling.words) == words_key(&entry.words);
    if is_same_text {
        return match gap {
            gap if gap <= TOGETHER => Some(Alike::Same),
            gap if gap <= LATE && !telling.moment.is_exact => Some(Alike::Maybe),
            _ => None,
        };
    }
    let day = Day::of(entry.happened_at, telling.zone).to_date();
    let reading = sms::read(&Sms { text: &entry.words, sender: None, day: Some(day) });
    let known = reading.payment()?;
    let differs = |one: &Option<String>, other: &Option<String>| matches!((one, other), (Some(one), Some(other)) if !ends_alike(one, other));
    if differs(&telling.payment.account, &known.account) {
        return None;
    }
    if let (Some(one), Some(other)) = (telling.payment.balance, known.balance) {
        return (one == other && gap <= LATE).then_some(Alike::Same);
    }
    let is_same_name = match (&telling.payment.counterparty, &known.counterparty) {
        (Some(one), Some(other)) => sms::bare(one) == sms::bare(other),
        _ => false,
    };
    match gap {
        gap if gap <= TOGETHER && is_same_name => Some(Alike::Same),
        gap if gap <= TOGETHER => Some(Alike::Maybe),
        gap if gap <= LATE && !telling.moment.is_exact && is_same_name => Some(Alike::Maybe),
        _ => None,
    }
}

/// Whether two tails of an account may be one: 471 and 4471.
fn ends_alike(one: &str, other: &str) -> bool {
    one.ends_with(other) || other.ends_with(one)
}

/// How far apart they are; where only the day is known, some hours if it is the same day.
fn gap(telling: &Telling<'_>, other: Timestamp) -> Duration {
    let own = telling.moment.at;
    if !telling.moment.is_exact {
        let days = Day::of(own, telling.zone).after(Day::of(other, telling.zone)).unsigned_abs();
        return if days == 0 {
            3 * HOUR
        } else {
            LATE * u32::try_from(days).unwrap_or(u32::MAX).min(9) + HOUR
        };
    }
    Duration::from_micros(own.as_micros().abs_diff(other.as_micros()))
}

const fn is_trade(kind: Kind) -> bool {
    matches!(kind, Kind::Sale | Kind::Purchase | Kind::Expense)
}

fn went_by_bank(tx: &mut Tx<'_>, entry: &Entry) -> Result<bool> {
    let bank = Means::Bank.as_str();
    let postings = entry::postings(tx, entry.id)?;
    Ok(postings.iter().any(|posting| posting.debit.code() == bank || posting.credit.code() == bank))
}
