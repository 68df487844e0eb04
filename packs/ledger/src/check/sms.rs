//! What is put before a person of a bank's message: what was read in it, and whether the books may have it already.

use munshi_lang::format;
use munshi_pack::PackTurnContext;
use munshi_safety::acts::Act;
use munshi_safety::pipeline::ActConcern;
use munshi_sms::{OwnTransfer, PaymentDirection};
use munshi_store::Tx;
use munshi_types::Timestamp;

use super::resolve_locale;
use crate::books::{EntryKey, LedgerDay, LedgerEntry};
use crate::error::Result;
use crate::messages::{self, IncomingSms, PaymentQuestion, SmsPreview, is_sure};
use crate::tools::{parse_concern_number, text};

const GUESS: &str = "ledger-sms-guess";
/// That an entry may be this payment.
pub(crate) const LIKE: &str = "ledger-sms-like";

/// A message that is only looked at.
fn build_incoming_sms(text: &str, at: Timestamp) -> IncomingSms<'_> {
    let key = EntryKey::from_parts(&[b"looked at"]);
    IncomingSms { key, text, sender: None, at, told: messages::SmsTimeSource::ByPerson, by: None }
}

pub(super) fn concerns(tx: &mut Tx<'_>, scene: &PackTurnContext, text: &str) -> Result<Vec<ActConcern>> {
    Ok(match messages::preview(tx, &scene.zone, &build_incoming_sms(text, scene.now))? {
        SmsPreview::Known(known) => vec![build_entry_concern("ledger-sms-seen", &known)],
        SmsPreview::Payment(question) => build_question_concerns(scene, &question),
        // The tool says why there is nothing.
        SmsPreview::Nothing(_) => Vec::new(),
    })
}

/// Whoever says no to "is this another payment?" has said that it is the one in the books: the message is known from now
/// on. Where the reading itself was in doubt, the no may be to that.
pub(super) fn record_refusal(tx: &mut Tx<'_>, act: &Act, now: Timestamp) -> Result<()> {
    let (caller, concerns) = (&act.rests_on.caller, &act.rests_on.concerns);
    let is_guess = concerns.iter().any(|concern| concern.phrase == GUESS);
    let like = concerns.iter().find(|concern| concern.phrase == LIKE).and_then(parse_concern_number);
    let (Some(number), Some(text), false) = (like, text(&act.arguments, "text"), is_guess) else {
        return Ok(());
    };
    if act.tool == "book_sms" {
        messages::link_to_entry(tx, (&caller.zone, now), &build_incoming_sms(text, act.began_at), number)?;
    }
    Ok(())
}

fn build_question_concerns(scene: &PackTurnContext, question: &PaymentQuestion) -> Vec<ActConcern> {
    let payment = &question.payment;
    let name = question.party.as_ref().map(|party| &party.name).or(payment.counterparty.as_ref());
    let phrase = match (payment.purse, payment.direction, name) {
        (Some(OwnTransfer::Cash), PaymentDirection::Debit, _) => "ledger-sms-cash-out",
        (Some(OwnTransfer::Cash), PaymentDirection::Credit, _) => "ledger-sms-cash-in",
        (_, PaymentDirection::Credit, Some(_)) => "ledger-sms-in",
        (_, PaymentDirection::Credit, None) => "ledger-sms-came",
        (_, PaymentDirection::Debit, Some(_)) => "ledger-sms-out",
        (_, PaymentDirection::Debit, None) => "ledger-sms-went",
    };
    let name = name.map(|name| ("name".to_owned(), name.clone()));
    let slots = [("amount".to_owned(), format::rupees(payment.amount))].into_iter().chain(name).collect();
    let mut found = vec![ActConcern { phrase: phrase.to_owned(), slots }];
    if !is_sure(payment) && payment.purse.is_none() {
        found.insert(0, ActConcern { phrase: GUESS.to_owned(), slots: Vec::new() });
    }
    let today = LedgerDay::of(scene.now, &scene.zone).to_date();
    if let Some(date) = payment.date.filter(|date| *date != today) {
        let slots = vec![("date".to_owned(), format::date(date, resolve_locale(scene)))];
        found.push(ActConcern { phrase: "ledger-dated".to_owned(), slots });
    }
    found.extend(question.like.as_ref().map(build_duplicate_concern));
    found
}

/// That an entry of nobody may be this payment of somebody's, and how to say so.
pub(super) fn build_unassigned_concern(entry: &LedgerEntry, name: &str) -> ActConcern {
    let mut concern = build_entry_concern("ledger-sms-whose", entry);
    concern.slots.push(("name".to_owned(), name.to_owned()));
    concern
}

/// That an entry may be the same payment.
pub(super) fn build_duplicate_concern(entry: &LedgerEntry) -> ActConcern {
    build_entry_concern(LIKE, entry)
}

fn build_entry_concern(phrase: &str, entry: &LedgerEntry) -> ActConcern {
    let slots = vec![
        ("amount".to_owned(), format::rupees(entry.amount)),
        ("number".to_owned(), entry.number.to_string()),
    ];
    ActConcern { phrase: phrase.to_owned(), slots }
}
