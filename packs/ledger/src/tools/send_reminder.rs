//! Sends a reminder by mail, in the very words that were approved.

use munshi_identity::{ContactAddress, persons};
use munshi_pack::outgoing::{self, PackMessage};
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};
use munshi_types::tier::Channel;
use munshi_types::{Id, OutboundMessage, OutboundPurpose, ReplyAddress};
use serde_json::json;

use super::call::{LedgerServices, LedgerToolCall, build_changed_failure};
use super::remind::{draft, ensure_not_reminded, ensure_owes, find_undrafted};
use super::result::LedgerToolResult;
use super::{contact_match, upi};
use crate::books::contacts::Contact;
use crate::books::details::{self, ContactDetails};
use crate::books::profile;
use crate::books::reminders::{self, Reminder, ReminderOutcome};
use crate::check;
use crate::error::Error;

/// Longer ones are no reminders.
const MOST_WORDS: usize = 1_000;

pub(crate) struct SendReminderTool(pub(crate) LedgerServices);

impl WriteToolHandler for SendReminderTool {
    /// The books note it as sent when it is handed to the outbox, whose own rules hold for it, and as long as it did not fail there.
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let contact = contact_match::resolve_contact(tx, &call)?;
        ensure_owes(&contact)?;
        ensure_not_reminded(tx, (&self.0, &contact), call.now)?;
        let known = details::get(tx, contact.id)?;
        // Whoever has no address is written to by the owner themself.
        if call.text("words").is_none() && known.email.is_none() {
            return draft(tx, &call, &contact);
        }
        let words = read_words(&call, &contact)?;
        let address = find_address(&contact, &known)?;
        ensure_agreed(&call, &address)?;
        send(tx, (&self.0, &call), (&contact, known), (&address, words))
    }

    fn read_back(
        &self,
        _: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        match done.value.get("draft") {
            Some(_) => find_undrafted(done, tx),
            None => find_unkept(done, tx),
        }
    }
}

/// Notes a reminder as sent and hands it to the outbox: it counts for as long as the message did not fail.
pub(super) fn send(
    tx: &mut Tx<'_>,
    (desk, call): (&LedgerServices, &LedgerToolCall<'_>),
    (contact, known): (&Contact, ContactDetails),
    (address, words): (&ContactAddress, &str),
) -> Result<ToolOutput, ToolFailure> {
    ensure_email_served(tx, desk, call)?;
    let reminder = record(tx, call, contact, words)?;
    let message = build_message(tx, call, (contact, known), (address, words))?;
    let id = message.outbound.id;
    reminders::note_message(tx, reminder.id, id)?;
    outgoing::send(tx, &desk.clock, &desk.ids, &message).map_err(Error::from)?;
    let told = LedgerToolResult::default()
        .with("reminder", json!({ "id": reminder.id, "name": contact.name }))
        .with("name", contact.name.as_str())
        .with("message", id.to_string())
        .with("words", words);
    Ok(told.phrase("reminder-sent").build())
}

/// Whether what was sent does not stand in the books.
pub(super) fn find_unkept(done: &ToolOutput, tx: &mut Tx<'_>) -> Result<Option<String>, ToolFailure> {
    let id = done.value.pointer("/reminder/id").and_then(|id| id.as_str()?.parse().ok());
    let found = id.map(|id| reminders::find(tx, id)).transpose()?.flatten();
    let told = done.value.get("words").and_then(|words| words.as_str());
    let is_kept = found.is_some_and(|kept| told == Some(kept.words.as_str()) && kept.state == "sent");
    Ok((!is_kept).then(|| "the reminder was not kept".to_owned()))
}

/// Those that were asked for, else those of ours that were approved.
fn read_words<'c>(call: &'c LedgerToolCall<'_>, contact: &Contact) -> Result<&'c str, ToolFailure> {
    let Some(given) = call.text("words") else {
        let approved = check::find_agreed_words(&call.agreed, contact);
        return approved.ok_or_else(|| build_changed_failure("what they owe is not what was approved"));
    };
    let what = format!("say what is to be sent, in at most {MOST_WORDS} letters");
    Some(given)
        .filter(|words| words.chars().count() <= MOST_WORDS)
        .ok_or_else(|| ToolFailure::permanent("bad_words", what))
}

pub(super) fn find_address(contact: &Contact, known: &ContactDetails) -> Result<ContactAddress, ToolFailure> {
    let email = known.email.as_deref().and_then(|email| ContactAddress::email(email).ok());
    let what = format!("{} has no e-mail address in the books", contact.name);
    email.ok_or_else(|| ToolFailure::permanent("ledger_no_email", what))
}

/// Nobody hears that it is on its way where nothing can send it.
fn ensure_email_served(
    tx: &mut Tx<'_>,
    desk: &LedgerServices,
    call: &LedgerToolCall<'_>,
) -> Result<(), ToolFailure> {
    let Some(outbox) = &desk.outbox else { return Ok(()) };
    if outbox.is_served(tx, Channel::Email, call.binding).map_err(Error::from)? {
        return Ok(());
    }
    let what = "no channel sends e-mail here, and nothing was sent: the owner adds one with `munshi channel add`, or draft_reminder \
                makes a draft that they send themselves";
    Err(ToolFailure::permanent("ledger_no_email_channel", what))
}

/// A yes is for the address that stood in the question: the books may have got another since, or the name may mean somebody else by now.
fn ensure_agreed(call: &LedgerToolCall<'_>, address: &ContactAddress) -> Result<(), ToolFailure> {
    match check::find_agreed_address(&call.agreed) {
        Some(agreed) if agreed == address.as_str() => Ok(()),
        _ => Err(build_changed_failure("the e-mail address is not the one that was approved")),
    }
}

/// A draft in these words is the one that is sent; any other draft is no longer what was said.
fn record(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    contact: &Contact,
    words: &str,
) -> Result<Reminder, ToolFailure> {
    let waiting = reminders::find_waiting(tx, contact.id)?.filter(|draft| draft.words == words);
    let reminder = match waiting {
        Some(draft) => draft,
        None => {
            reminders::drop_waiting(tx, contact.id, call.now)?;
            reminders::add(tx, call.booking_context().ids, call.now, contact.id, words, call.now)?
        }
    };
    reminders::end(tx, reminder.id, ReminderOutcome::Sent, call.now)?;
    Ok(reminder)
}

fn build_message(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    (contact, known): (&Contact, ContactDetails),
    (address, words): (&ContactAddress, &str),
) -> Result<PackMessage, ToolFailure> {
    let profile = profile::get(tx)?;
    let person = persons::find_by_address(tx, address).map_err(Error::from)?;
    let to = ReplyAddress::new(Channel::Email, address.as_str().to_owned());
    let id = call.booking_context().ids.next();
    Ok(PackMessage {
        outbound: OutboundMessage {
            purpose: OutboundPurpose::Reminder,
            subject: Some(upi::payee_name(&profile).to_owned()),
            language: known.language,
            ..OutboundMessage::new(id, to, words.to_owned())
        },
        person: person.map(|person| person.id),
        subject: Some(contact.id.as_uuid()),
        binding: call.binding,
        about: Some(format!("ledger/contact/{}", contact.id)),
    })
}
