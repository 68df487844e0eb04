//! Booking a payment that a bank's message tells of.

use munshi_safety::acts::Permit;
use munshi_sms::{NonPaymentReason, PaymentDirection};
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};
use serde_json::Value;

use super::call::{LedgerServices, LedgerToolCall, build_changed_failure};
use super::owner_authority;
use super::result::LedgerToolResult;
use crate::books::{LedgerEntryKind, entry};
use crate::check::LIKE;
use crate::messages::{self, BookedPayment, IncomingSms, PaymentQuestion, SmsConsent, SmsOutcome};

pub(crate) struct BookSmsTool(pub(crate) LedgerServices);

impl WriteToolHandler for BookSmsTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let is_asked = !call.agreed.is_empty();
        let consent = match is_asked {
            true => SmsConsent::Shown { like: call.agreed_entry(LIKE) },
            false => SmsConsent::Open,
        };
        match messages::book(tx, &call.booking_context(), &build_incoming_sms(&call), consent)? {
            SmsOutcome::Booked(booked) => {
                owner_authority::ensure_authorized(tx, &call, &booked.entry)?;
                let told = LedgerToolResult::default().entry(&booked.entry).phrase(phrase(&booked));
                Ok(match (&booked.party, &booked.payment.counterparty) {
                    (Some(party), _) => told.balance_of(tx, party.id)?,
                    (None, Some(name)) => told.with("name", name.as_str()),
                    (None, None) => told,
                }
                .build())
            }
            SmsOutcome::Nothing(why @ NonPaymentReason::Own) => {
                Err(ToolFailure::permanent("ledger_sms_own", why.as_str()))
            }
            SmsOutcome::Known(known) => {
                Ok(LedgerToolResult::default().entry(&known).phrase("sms-known").build())
            }
            SmsOutcome::Question(_) if is_asked => Err(build_changed_failure(LIKE)),
            SmsOutcome::Question(question) => {
                Err(ToolFailure::permanent("ledger_sms_unsure", doubt(&question)))
            }
            SmsOutcome::Nothing(why) => Err(ToolFailure::permanent("ledger_sms_none", why.as_str())),
        }
    }

    fn read_back(
        &self,
        permit: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let told = done.value.get("amount").and_then(Value::as_i64);
        let Some(entry) = entry::find_by_key(tx, call.key)? else { return Ok(None) };
        let agrees = entry.is_active() && told == Some(entry.amount.as_paise());
        Ok((!agrees).then(|| "the entry has another amount than the message".to_owned()))
    }
}

/// What is said of a booked message.
fn phrase(booked: &BookedPayment) -> &'static str {
    let is_named = booked.party.is_some() || booked.payment.counterparty.is_some();
    match (booked.entry.kind, booked.payment.direction) {
        (LedgerEntryKind::Transfer, PaymentDirection::Debit) => "to-cash",
        (LedgerEntryKind::Transfer, PaymentDirection::Credit) => "to-bank",
        // An account's own number or the bank is nobody who was paid.
        (LedgerEntryKind::PaymentReceived, _) if !is_named => "came",
        (LedgerEntryKind::PaymentReceived, _) => "received",
        _ if !is_named => "went",
        _ => "paid",
    }
}

/// A message that somebody has just forwarded.
fn build_incoming_sms<'c>(call: &'c LedgerToolCall<'_>) -> IncomingSms<'c> {
    IncomingSms {
        key: call.key,
        text: call.text("text").unwrap_or_default(),
        sender: None,
        // A yes may come the day after.
        at: call.asked_at.min(call.now),
        told: messages::SmsTimeSource::ByPerson,
        by: call.by,
    }
}

fn doubt(question: &PaymentQuestion) -> String {
    if let Some(like) = &question.like {
        return format!("entry {} may be this payment: ask whether it is another one", like.number);
    }
    question.payment.doubts.iter().map(|doubt| doubt.as_str()).collect::<Vec<_>>().join("; ")
}
