//! Booking a payment that a bank's message tells of.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{Done, Failure, Write};

use super::call::{Call, Desk};
use super::told::Told;
use crate::books::dedup::{self, Likeness, Seen, Windows};
use crate::books::{self, Act, Found, Means, NewEntry, Said, Source, contacts, entry};
use crate::sms::{self, Certainty, Currency, Direction, Payment, Sms};

pub(crate) struct BookSms(pub(crate) Desk);

impl Write for BookSms {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let text = call.text("text").unwrap_or_default().to_owned();
        let payment = payment(&call, &text)?;
        let party = match payment.counterparty.as_deref().map(|name| contacts::find(tx, name)).transpose()? {
            Some(Found::One(contact)) => Some(contact),
            Some(Found::Nobody | Found::Choices(_)) | None => None,
        };
        let (id, amount, means) = (party.as_ref().map(|party| party.id), payment.amount, Means::Bank);
        let (act, phrase) = match payment.direction {
            Direction::Credit => (Act::PaymentReceived { party: id, amount, means }, "received"),
            Direction::Debit => (Act::PaymentMade { party: id, amount, means }, "paid"),
        };
        let fingerprint = payment.fingerprint();
        let seen = Seen {
            act: &act,
            words: "",
            fingerprint: Some(&fingerprint),
            happened_at: call.now,
            now: call.now,
        };
        if let Some(Likeness::Fingerprint(known)) = dedup::look(tx, &seen, Windows::default())?
            && entry::by_key(tx, call.key)?.is_none_or(|own| own.id != known.id)
        {
            dedup::saw(tx, known.id, &fingerprint, Source::Sms, call.now)?;
            return Ok(Told::default().entry(&known).say("sms-known").done());
        }
        let said = Said {
            by: call.by,
            reference: payment.reference.clone(),
            fingerprint: Some(fingerprint),
            ..Said::new(Source::Sms, text, call.now)
        };
        let booked = books::book(tx, &call.writing(), &NewEntry { key: call.key, act, said })?;
        let told = Told::default().entry(&booked.entry).say(phrase);
        Ok(match party {
            Some(party) => told.standing(tx, party.id)?,
            None => told.with("name", other_side(&payment)),
        }
        .done())
    }

    fn read_back(&self, permit: &Permit, done: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let call = self.0.call(permit, tx)?;
        let payment = payment(&call, call.text("text").unwrap_or_default())?;
        let told = done.value.get("amount").and_then(serde_json::Value::as_i64);
        let booked = entry::by_key(tx, call.key)?.is_none_or(|entry| entry.amount == payment.amount);
        let agrees = booked && told == Some(payment.amount.as_paise());
        Ok((!agrees).then(|| "the entry has another amount than the message".to_owned()))
    }
}

/// The payment in a message. What is not sure is not booked from here: a person says what it was.
fn payment(call: &Call<'_>, text: &str) -> Result<Payment, Failure> {
    let sms = Sms { text, sender: None, day: Some(call.today().to_date()) };
    match sms::read(&sms) {
        sms::Reading::Payment(payment)
            if payment.certainty == Certainty::Sure && payment.currency == Currency::INR =>
        {
            Ok(*payment)
        }
        sms::Reading::Payment(payment) => {
            let doubts: Vec<&str> = payment.doubts.iter().map(|doubt| doubt.as_str()).collect();
            Err(Failure::surely("ledger_sms_unsure", doubts.join("; ")))
        }
        sms::Reading::Nothing(why) => Err(Failure::surely("ledger_sms_none", why.as_str())),
    }
}

fn other_side(payment: &Payment) -> &str {
    let known = payment.counterparty.as_deref().or(payment.bank).or(payment.account.as_deref());
    known.unwrap_or("?")
}
