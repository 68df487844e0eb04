//! Booking a payment that a bank's message tells of.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{Done, Failure, Write};
use serde_json::Value;

use super::call::{Call, Desk, changed};
use super::told::Told;
use super::word;
use crate::books::{Kind, entry};
use crate::check::LIKE;
use crate::messages::{self, Arrived, Booked, Consent, Outcome, Question};
use crate::sms::{Direction, Nothing};

pub(crate) struct BookSms(pub(crate) Desk);

impl Write for BookSms {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let is_asked = !call.agreed.is_empty();
        let consent = match is_asked {
            true => Consent::Shown { like: call.agreed_to(LIKE) },
            false => Consent::Open,
        };
        match messages::take(tx, &call.writing(), &arrived(&call), consent)? {
            Outcome::Booked(booked) => {
                word::allows(tx, &call, &booked.entry)?;
                let told = Told::default().entry(&booked.entry).say(phrase(&booked));
                Ok(match (&booked.party, &booked.payment.counterparty) {
                    (Some(party), _) => told.standing(tx, party.id)?,
                    (None, Some(name)) => told.with("name", name.as_str()),
                    (None, None) => told,
                }
                .done())
            }
            Outcome::Nothing(why @ Nothing::Own) => Err(Failure::surely("ledger_sms_own", why.as_str())),
            Outcome::Known(known) => Ok(Told::default().entry(&known).say("sms-known").done()),
            Outcome::Question(_) if is_asked => Err(changed(LIKE)),
            Outcome::Question(question) => Err(Failure::surely("ledger_sms_unsure", doubt(&question))),
            Outcome::Nothing(why) => Err(Failure::surely("ledger_sms_none", why.as_str())),
        }
    }

    fn read_back(&self, permit: &Permit, done: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let call = self.0.call(permit, tx)?;
        let told = done.value.get("amount").and_then(Value::as_i64);
        let Some(entry) = entry::by_key(tx, call.key)? else { return Ok(None) };
        let agrees = entry.stands() && told == Some(entry.amount.as_paise());
        Ok((!agrees).then(|| "the entry has another amount than the message".to_owned()))
    }
}

/// What is said of a booked message.
fn phrase(booked: &Booked) -> &'static str {
    let is_named = booked.party.is_some() || booked.payment.counterparty.is_some();
    match (booked.entry.kind, booked.payment.direction) {
        (Kind::Transfer, Direction::Debit) => "to-cash",
        (Kind::Transfer, Direction::Credit) => "to-bank",
        // An account's own number or the bank is nobody who was paid.
        (Kind::PaymentReceived, _) if !is_named => "came",
        (Kind::PaymentReceived, _) => "received",
        _ if !is_named => "went",
        _ => "paid",
    }
}

/// A message that somebody has just forwarded.
fn arrived<'c>(call: &'c Call<'_>) -> Arrived<'c> {
    Arrived {
        key: call.key,
        text: call.text("text").unwrap_or_default(),
        sender: None,
        // A yes may come the day after.
        at: call.asked_at.min(call.now),
        told: messages::Told::ByPerson,
        by: call.by,
    }
}

fn doubt(question: &Question) -> String {
    if let Some(like) = &question.like {
        return format!("entry {} may be this payment: ask whether it is another one", like.number);
    }
    question.payment.doubts.iter().map(|doubt| doubt.as_str()).collect::<Vec<_>>().join("; ")
}
