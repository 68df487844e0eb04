//! Messages of banks as entries: the one way in for what is forwarded in a chat and for a phone's messages all at once.
//!
//! A payment that is read surely and is new is booked. What the books have already is noted as seen once more. What is not
//! sure is a question with the reading proposed, and is booked only when a person has said yes to it.
//!
//! # Layout
//! - [`take`]: one message; [`Outcome`]: what came of it
//! - `same`: whether the books have the payment already, from another message or from the owner's own words
//! - `moment`: when it happened; `party`: whose it is; `names`: whether two names may be one person's
//! - [`phone`]: a phone's messages from a file; [`import`](fn@import): all of them, with a report

mod import;
mod moment;
pub(crate) mod names;
mod party;
pub mod phone;
mod same;

pub use import::{Count, Import, Line, Mode, Report, Taken, import};

use munshi_store::Tx;
use munshi_types::{PersonId, Timestamp, Zone};

use crate::books::{self, Act, Contact, Entry, EntryKey, Means, NewEntry, Said, Source, Writing, entry};
use crate::books::{dedup, profile};
use crate::error::Result;
use crate::sms::{self, Certainty, Currency, Direction, Nothing, Payment, Purse, Sms};
use moment::Moment;
use same::{Met, Telling};

/// One message as it came.
#[derive(Clone, Debug)]
pub struct Arrived<'a> {
    /// Under which it is booked: the same for the same message.
    pub key: EntryKey,
    pub text: &'a str,
    pub sender: Option<&'a str>,
    /// When the phone got it, or when it was forwarded.
    pub at: Timestamp,
    pub told: Told,
    pub by: Option<PersonId>,
}

/// What the time of a message is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The phone's own, to the second.
    ByPhone,
    /// Somebody forwarded it, some time after.
    ByPerson,
}

/// Whether a person has seen the reading and said yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    Open,
    /// To the reading; and, where the books may have the payment already, that it is another one.
    Given,
    /// To the reading, and that it is another payment than the entry of this number, which stood beside it.
    Shown {
        like: Option<i64>,
    },
}

impl Consent {
    /// Whether what is asked needs no further word.
    fn covers(self, question: &Question) -> bool {
        let Question { payment, like, is_large, .. } = question;
        match self {
            Self::Open => like.is_none() && !is_large && is_sure(payment),
            Self::Shown { like: shown } => like.as_ref().is_none_or(|like| shown == Some(like.number)),
            Self::Given => true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Booked(Box<Booked>),
    /// The books have it.
    Known(Box<Entry>),
    Question(Box<Question>),
    Nothing(Nothing),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booked {
    pub entry: Entry,
    pub payment: Payment,
    pub party: Option<Contact>,
}

/// What a person has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub payment: Payment,
    pub party: Option<Contact>,
    /// The entry that may be this payment; none where the reading itself is in doubt.
    pub like: Option<Entry>,
    /// It is above what the owner wants to be asked about.
    pub is_large: bool,
}

/// Books the payment that a message tells of, once.
pub fn take(
    tx: &mut Tx<'_>,
    writing: &Writing<'_>,
    arrived: &Arrived<'_>,
    consent: Consent,
) -> Result<Outcome> {
    let Seen { payment, moment, party } = match see(tx, writing.zone, arrived)? {
        Ok(seen) => seen,
        Err(nothing) => return Ok(Outcome::Nothing(nothing)),
    };
    if let Some(own) = entry::by_key(tx, arrived.key)? {
        return Ok(Outcome::Known(Box::new(own)));
    }
    let fingerprint = payment.fingerprint();
    let act = act(&payment, party.as_ref());
    let telling = Telling {
        payment: &payment,
        act: &act,
        fingerprint: &fingerprint,
        words: arrived.text,
        moment,
        zone: writing.zone,
    };
    let like = match same::meet(tx, &telling)? {
        Met::Same(known) => {
            dedup::saw(tx, known.id, &fingerprint, Source::Sms, writing.now)?;
            return Ok(Outcome::Known(Box::new(known)));
        }
        Met::Maybe(like) => Some(like),
        Met::New => None,
    };
    let is_large = payment.amount > profile::get(tx)?.confirm_above;
    let question = Question { payment, party, like, is_large };
    if !consent.covers(&question) {
        return Ok(Outcome::Question(Box::new(question)));
    }
    let Question { payment, party, .. } = question;
    let said = Said {
        by: arrived.by,
        reference: payment.reference.clone(),
        fingerprint: Some(fingerprint),
        ..Said::new(Source::Sms, arrived.text, moment.at)
    };
    let booked = books::book(tx, writing, &NewEntry { key: arrived.key, act, said })?;
    Ok(Outcome::Booked(Box::new(Booked { entry: booked.entry, payment, party })))
}

/// What would come of a message, without booking anything; a question is one though it may be answered later.
pub fn look(tx: &mut Tx<'_>, zone: &Zone, arrived: &Arrived<'_>) -> Result<Looked> {
    let Seen { payment, moment, party } = match see(tx, zone, arrived)? {
        Ok(seen) => seen,
        Err(nothing) => return Ok(Looked::Nothing(nothing)),
    };
    let (fingerprint, act) = (payment.fingerprint(), act(&payment, party.as_ref()));
    let telling = Telling {
        payment: &payment,
        act: &act,
        fingerprint: &fingerprint,
        words: arrived.text,
        moment,
        zone,
    };
    let like = match same::meet(tx, &telling)? {
        Met::Same(known) => return Ok(Looked::Known(Box::new(known))),
        Met::Maybe(like) => Some(like),
        Met::New => None,
    };
    let is_large = payment.amount > profile::get(tx)?.confirm_above;
    Ok(Looked::Payment(Box::new(Question { payment, party, like, is_large })))
}

/// Writes down that a message tells of the payment of an entry, as a person has said.
pub(crate) fn is_known(
    tx: &mut Tx<'_>,
    (zone, now): (&Zone, Timestamp),
    arrived: &Arrived<'_>,
    number: i64,
) -> Result<()> {
    let Ok(Seen { payment, .. }) = see(tx, zone, arrived)? else { return Ok(()) };
    match entry::by_number(tx, number)?.filter(Entry::stands) {
        Some(entry) => dedup::saw(tx, entry.id, &payment.fingerprint(), Source::Sms, now),
        None => Ok(()),
    }
}

/// What [`look`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    Known(Box<Entry>),
    Payment(Box<Question>),
    Nothing(Nothing),
}

/// A message that tells of a payment.
struct Seen {
    payment: Payment,
    moment: Moment,
    party: Option<Contact>,
}

fn see(tx: &mut Tx<'_>, zone: &Zone, arrived: &Arrived<'_>) -> Result<std::result::Result<Seen, Nothing>> {
    let local = arrived.at.to_jiff().to_zoned(zone.to_jiff());
    let sms = Sms { text: arrived.text, sender: arrived.sender, day: Some(local.date()) };
    let mut payment = match sms::read(&sms) {
        // The books have one account for all that is in banks and wallets.
        sms::Reading::Payment(payment) if payment.purse == Some(Purse::Account) => {
            return Ok(Err(Nothing::Own));
        }
        sms::Reading::Payment(payment) => *payment,
        sms::Reading::Nothing(why) => return Ok(Err(why)),
    };
    let moment = Moment::of(&payment, arrived, zone);
    moment::complete(&mut payment, arrived, &local);
    let party = if payment.purse.is_none() { party::of(tx, &payment)? } else { None };
    Ok(Ok(Seen { payment, moment, party }))
}

/// Whether it is booked without asking. The books are in rupees. Cash that was put into the account may have been a
/// customer's.
pub(crate) fn is_sure(payment: &Payment) -> bool {
    let may_be_anothers = payment.purse == Some(Purse::Cash) && payment.direction == Direction::Credit;
    payment.certainty == Certainty::Sure && payment.currency == Currency::INR && !may_be_anothers
}

/// Money of the bank: taken out of it or put into it as cash, of somebody known, or of nobody yet.
fn act(payment: &Payment, party: Option<&Contact>) -> Act {
    let (party, amount, means) = (party.map(|party| party.id), payment.amount, Means::Bank);
    match (payment.purse, payment.direction) {
        (Some(Purse::Cash), Direction::Debit) => Act::Transfer { amount, from: Means::Bank },
        (Some(Purse::Cash), Direction::Credit) => Act::Transfer { amount, from: Means::Cash },
        (_, Direction::Credit) => Act::PaymentReceived { party, amount, means },
        (_, Direction::Debit) => Act::PaymentMade { party, amount, means },
    }
}
