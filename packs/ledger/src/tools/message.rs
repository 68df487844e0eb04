//! Booking a payment that a bank's message tells of.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{Done, Failure, Write};
use serde_json::Value;

use super::call::{Call, Desk};
use super::told::Told;
use crate::books::{Kind, entry};
use crate::messages::{self, Arrived, Booked, Consent, Outcome, Question};
use crate::sms::{Direction, Nothing, Payment};

pub(crate) struct BookSms(pub(crate) Desk);

impl Write for BookSms {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let consent = if call.is_confirmed { Consent::Given } else { Consent::Open };
        match messages::take(tx, &call.writing(), &arrived(&call), consent)? {
            Outcome::Booked(booked) => {
                let told = Told::default().entry(&booked.entry).say(phrase(&booked));
                Ok(match booked.party {
                    Some(party) => told.standing(tx, party.id)?,
                    None => told.with("name", other_side(&booked.payment)),
                }
                .done())
            }
            Outcome::Nothing(why @ Nothing::Own) => Err(Failure::surely("ledger_sms_own", why.as_str())),
            Outcome::Known(known) => Ok(Told::default().entry(&known).say("sms-known").done()),
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
    match (booked.entry.kind, booked.payment.direction) {
        (Kind::Transfer, Direction::Debit) => "to-cash",
        (Kind::Transfer, Direction::Credit) => "to-bank",
        (Kind::PaymentReceived, _) => "received",
        _ => "paid",
    }
}

/// A message that somebody has just forwarded.
fn arrived<'c>(call: &'c Call<'_>) -> Arrived<'c> {
    Arrived {
        key: call.key,
        text: call.text("text").unwrap_or_default(),
        sender: None,
        at: call.now,
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

/// What a person knows the other side by.
pub(crate) fn other_side(payment: &Payment) -> &str {
    let known = payment.counterparty.as_deref().or(payment.bank).or(payment.account.as_deref());
    known.unwrap_or("?")
}
