//! Messages of banks as entries: the one way in for what is forwarded in a chat and for a phone's messages all at once.
//!
//! A payment that is read surely and is new is booked. What the books have already is noted as seen once more. What is not
//! sure is a question with the reading proposed, and is booked only when a person has said yes to it.
//!
//! # Layout
//! - [`take`]: one message; [`SmsOutcome`]: what came of it
//! - `duplicates`: whether the books have the payment already, from another message or from the owner's own words
//! - `payment_time`: when it happened; `party`: whose it is; `names`: whether two names may be one person's
//! - [`phone`]: a phone's messages from a file; [`import`](fn@import): all of them, with a report

mod duplicates;
mod import;
pub(crate) mod names;
mod party;
mod payment_time;
pub mod phone;

pub use import::{
    SmsImport, SmsImportLine, SmsImportMode, SmsImportOutcome, SmsImportReport, SmsImportTotals, import,
};

use munshi_sms::{
    Currency, NonPaymentReason, OwnTransfer, Payment, PaymentCertainty, PaymentDirection, Sms, SmsReading,
};
use munshi_store::Tx;
use munshi_types::{PersonId, Timestamp, Zone};

use crate::books::{
    self, BookingContext, Contact, EntryKey, EntryProvenance, LedgerEntry, LedgerEntrySource, NewLedgerEntry,
    PaymentMeans, ShopTransaction, entry,
};
use crate::books::{dedup, profile};
use crate::error::Result;
use duplicates::{PaymentMatch, ReportedPayment};
use payment_time::PaymentTime;

/// One message as it came.
#[derive(Clone, Debug)]
pub struct IncomingSms<'a> {
    /// Under which it is booked: the same for the same message.
    pub key: EntryKey,
    pub text: &'a str,
    pub sender: Option<&'a str>,
    /// When the phone got it, or when it was forwarded.
    pub at: Timestamp,
    pub told: SmsTimeSource,
    pub by: Option<PersonId>,
}

/// What the time of a message is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmsTimeSource {
    /// The phone's own, to the second.
    ByPhone,
    /// Somebody forwarded it, some time after.
    ByPerson,
}

/// Whether a person has seen the reading and said yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmsConsent {
    Open,
    /// To the reading; and, where the books may have the payment already, that it is another one.
    Given,
    /// To the reading, and that it is another payment than the entry of this number, which stood beside it.
    Shown {
        like: Option<i64>,
    },
}

impl SmsConsent {
    /// Whether what is asked needs no further word.
    fn covers(self, question: &PaymentQuestion) -> bool {
        let PaymentQuestion { payment, like, is_large, .. } = question;
        match self {
            Self::Open => like.is_none() && !is_large && is_sure(payment),
            Self::Shown { like: shown } => like.as_ref().is_none_or(|like| shown == Some(like.number)),
            Self::Given => true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmsOutcome {
    Booked(Box<BookedPayment>),
    /// The books have it.
    Known(Box<LedgerEntry>),
    Question(Box<PaymentQuestion>),
    Nothing(NonPaymentReason),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookedPayment {
    pub entry: LedgerEntry,
    pub payment: Payment,
    pub party: Option<Contact>,
}

/// What a person has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentQuestion {
    pub payment: Payment,
    pub party: Option<Contact>,
    /// The entry that may be this payment; none where the reading itself is in doubt.
    pub like: Option<LedgerEntry>,
    /// It is above what the owner wants to be asked about.
    pub is_large: bool,
}

/// Books the payment that a message tells of, once.
pub fn book(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    arrived: &IncomingSms<'_>,
    consent: SmsConsent,
) -> Result<SmsOutcome> {
    let Seen { payment, moment, party } = match read_payment(tx, writing.zone, arrived)? {
        Ok(seen) => seen,
        Err(nothing) => return Ok(SmsOutcome::Nothing(nothing)),
    };
    if let Some(own) = entry::find_by_key(tx, arrived.key)? {
        return Ok(SmsOutcome::Known(Box::new(own)));
    }
    let fingerprint = payment.fingerprint();
    let act = build_transaction(&payment, party.as_ref());
    let telling = ReportedPayment {
        payment: &payment,
        act: &act,
        fingerprint: &fingerprint,
        words: arrived.text,
        moment,
        zone: writing.zone,
    };
    let like = match duplicates::match_payment(tx, &telling)? {
        PaymentMatch::Same(known) => {
            dedup::record_sighting(tx, known.id, &fingerprint, LedgerEntrySource::Sms, writing.now)?;
            return Ok(SmsOutcome::Known(Box::new(known)));
        }
        PaymentMatch::Maybe(like) => Some(like),
        PaymentMatch::New => None,
    };
    let is_large = payment.amount > profile::get(tx)?.confirm_above;
    let question = PaymentQuestion { payment, party, like, is_large };
    if !consent.covers(&question) {
        return Ok(SmsOutcome::Question(Box::new(question)));
    }
    let PaymentQuestion { payment, party, .. } = question;
    let said = EntryProvenance {
        by: arrived.by,
        reference: payment.reference.clone(),
        fingerprint: Some(fingerprint),
        ..EntryProvenance::new(LedgerEntrySource::Sms, arrived.text, moment.at)
    };
    let booked = books::book(tx, writing, &NewLedgerEntry { key: arrived.key, act, said })?;
    Ok(SmsOutcome::Booked(Box::new(BookedPayment { entry: booked.entry, payment, party })))
}

/// What would come of a message, without booking anything; a question is one though it may be answered later.
pub fn preview(tx: &mut Tx<'_>, zone: &Zone, arrived: &IncomingSms<'_>) -> Result<SmsPreview> {
    let Seen { payment, moment, party } = match read_payment(tx, zone, arrived)? {
        Ok(seen) => seen,
        Err(nothing) => return Ok(SmsPreview::Nothing(nothing)),
    };
    let (fingerprint, act) = (payment.fingerprint(), build_transaction(&payment, party.as_ref()));
    let telling = ReportedPayment {
        payment: &payment,
        act: &act,
        fingerprint: &fingerprint,
        words: arrived.text,
        moment,
        zone,
    };
    let like = match duplicates::match_payment(tx, &telling)? {
        PaymentMatch::Same(known) => return Ok(SmsPreview::Known(Box::new(known))),
        PaymentMatch::Maybe(like) => Some(like),
        PaymentMatch::New => None,
    };
    let is_large = payment.amount > profile::get(tx)?.confirm_above;
    Ok(SmsPreview::Payment(Box::new(PaymentQuestion { payment, party, like, is_large })))
}

/// Writes down that a message tells of the payment of an entry, as a person has said.
pub(crate) fn link_to_entry(
    tx: &mut Tx<'_>,
    (zone, now): (&Zone, Timestamp),
    arrived: &IncomingSms<'_>,
    number: i64,
) -> Result<()> {
    let Ok(Seen { payment, .. }) = read_payment(tx, zone, arrived)? else { return Ok(()) };
    match entry::find_by_number(tx, number)?.filter(LedgerEntry::is_active) {
        Some(entry) => {
            dedup::record_sighting(tx, entry.id, &payment.fingerprint(), LedgerEntrySource::Sms, now)
        }
        None => Ok(()),
    }
}

/// What [`look`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmsPreview {
    Known(Box<LedgerEntry>),
    Payment(Box<PaymentQuestion>),
    Nothing(NonPaymentReason),
}

/// A message that tells of a payment.
struct Seen {
    payment: Payment,
    moment: PaymentTime,
    party: Option<Contact>,
}

fn read_payment(
    tx: &mut Tx<'_>,
    zone: &Zone,
    arrived: &IncomingSms<'_>,
) -> Result<std::result::Result<Seen, NonPaymentReason>> {
    let local = arrived.at.to_jiff().to_zoned(zone.to_jiff());
    let sms = Sms { text: arrived.text, sender: arrived.sender, day: Some(local.date()) };
    let mut payment = match munshi_sms::read(&sms) {
        // The books have one account for all that is in banks and wallets.
        SmsReading::Payment(payment) if payment.purse == Some(OwnTransfer::Account) => {
            return Ok(Err(NonPaymentReason::Own));
        }
        SmsReading::Payment(payment) => *payment,
        SmsReading::Nothing(why) => return Ok(Err(why)),
    };
    let moment = PaymentTime::resolve(&payment, arrived, zone);
    payment_time::fill_missing_time(&mut payment, arrived, &local);
    let party = if payment.purse.is_none() { party::find_contact(tx, &payment)? } else { None };
    Ok(Ok(Seen { payment, moment, party }))
}

/// Whether it is booked without asking. The books are in rupees. Cash that was put into the account may have been a
/// customer's.
pub(crate) fn is_sure(payment: &Payment) -> bool {
    let may_be_anothers =
        payment.purse == Some(OwnTransfer::Cash) && payment.direction == PaymentDirection::Credit;
    payment.certainty == PaymentCertainty::Sure && payment.currency == Currency::INR && !may_be_anothers
}

/// Money of the bank: taken out of it or put into it as cash, of somebody known, or of nobody yet.
fn build_transaction(payment: &Payment, party: Option<&Contact>) -> ShopTransaction {
    let (party, amount, means) = (party.map(|party| party.id), payment.amount, PaymentMeans::Bank);
    match (payment.purse, payment.direction) {
        (Some(OwnTransfer::Cash), PaymentDirection::Debit) => {
            ShopTransaction::Transfer { amount, from: PaymentMeans::Bank }
        }
        (Some(OwnTransfer::Cash), PaymentDirection::Credit) => {
            ShopTransaction::Transfer { amount, from: PaymentMeans::Cash }
        }
        (_, PaymentDirection::Credit) => ShopTransaction::PaymentReceived { party, amount, means },
        (_, PaymentDirection::Debit) => ShopTransaction::PaymentMade { party, amount, means },
    }
}
