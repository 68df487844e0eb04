//! Words to somebody who pays late. They are drafted and shown to the owner, who sends them, or has them sent: see `send_reminder`.

use munshi_identity::ContactAddress;
use munshi_lang::{Language, Locale, Phrasebook, PlaceholderValue, ScriptForm};
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};
use munshi_types::attachment::{Attachment, FIELD};
use munshi_types::tier::LanguageCode;
use munshi_types::{Money, Timestamp};
use serde_json::json;

use super::call::{LedgerServices, LedgerToolCall};
use super::result::LedgerToolResult;
use super::{contact_match, upi};
use crate::books::contacts::Contact;
use crate::books::details::{self, ContactDetails};
use crate::books::profile;
use crate::books::reminders::{self, ReminderOutcome};
use crate::error::Error;

pub(crate) struct DraftReminderTool(pub(crate) LedgerServices);

impl WriteToolHandler for DraftReminderTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let contact = contact_match::resolve_contact(tx, &call)?;
        ensure_owes(&contact)?;
        ensure_not_reminded(tx, (&self.0, &contact), call.now)?;
        draft(tx, &call, &contact)
    }

    fn read_back(
        &self,
        _: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        find_undrafted(done, tx)
    }
}

/// Writes a draft, and shows it to whoever asks.
pub(super) fn draft(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    contact: &Contact,
) -> Result<ToolOutput, ToolFailure> {
    let voice = resolve_locale(tx, call, contact)?;
    let words = render_reminder(tx, call, contact, voice)?;
    // One draft at a time: what was drafted before is no longer what is owed.
    reminders::drop_waiting(tx, contact.id, call.now)?;
    let reminder = reminders::add(tx, call.booking_context().ids, call.now, contact.id, &words, call.now)?;
    let told = LedgerToolResult::default()
        .with("reminder", json!({ "id": reminder.id, "name": contact.name }))
        .with("name", contact.name.as_str())
        .with("draft", words.as_str())
        .money("balance", contact.balance)
        .phrase("draft");
    Ok(match number(contact) {
        Some(number) => {
            told.with(FIELD, build_send_link(&number, &words, &contact.name)?).phrase("draft-send").build()
        }
        None => told.phrase("no-number").build(),
    })
}

/// Whether what was drafted does not stand in the books.
pub(super) fn find_undrafted(done: &ToolOutput, tx: &mut Tx<'_>) -> Result<Option<String>, ToolFailure> {
    let id = done.value.pointer("/reminder/id").and_then(|id| id.as_str()?.parse().ok());
    let found = id.map(|id| reminders::find(tx, id)).transpose()?.flatten();
    let told = done.value.get("draft").and_then(|draft| draft.as_str());
    let is_kept = found.is_some_and(|kept| told == Some(kept.words.as_str()) && kept.state == "waiting");
    Ok((!is_kept).then(|| "the draft was not kept".to_owned()))
}

/// In which words somebody is reminded who is to be sent a reminder without any: those of the draft that waits, where they owe the same
/// still, else the shop's own. In their language, or else in this one.
pub(crate) fn find_reminder_words(
    tx: &mut Tx<'_>,
    book: &Phrasebook,
    contact: &Contact,
    otherwise: Locale,
) -> crate::error::Result<String> {
    let drafted = reminders::find_waiting(tx, contact.id)?;
    if let Some(draft) = drafted.filter(|draft| draft.amount == contact.balance && !draft.words.is_empty()) {
        return Ok(draft.words);
    }
    let theirs = details::get(tx, contact.id)?.language;
    let theirs = theirs.and_then(|code| Some((code.language()?, code.is_latin())));
    let voice = theirs.map_or(otherwise, to_locale);
    render_dues(tx, book, contact, voice)
}

/// Nobody is reminded twice in three days.
pub(super) fn ensure_not_reminded(
    tx: &mut Tx<'_>,
    (desk, contact): (&LedgerServices, &Contact),
    now: Timestamp,
) -> Result<(), ToolFailure> {
    if reminders::may_remind(tx, contact.id, now, desk.outbox.as_deref())? {
        return Ok(());
    }
    let what = format!("{} was reminded within the last three days", contact.name);
    Err(ToolFailure::permanent("ledger_reminded_lately", what))
}

/// Whoever owes nothing is not reminded.
pub(super) fn ensure_owes(contact: &Contact) -> Result<(), ToolFailure> {
    if contact.balance > Money::ZERO {
        return Ok(());
    }
    let what = format!("{} owes nothing, so there is nothing to remind of", contact.name);
    Err(ToolFailure::permanent("ledger_owes_nothing", what))
}

/// The language that was asked for, from then on theirs; or theirs; or that of the one who asks.
pub(super) fn resolve_locale(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    contact: &Contact,
) -> Result<Locale, ToolFailure> {
    let said = call.text("language").and_then(|code| code.parse::<LanguageCode>().ok());
    if let Some(language) = &said {
        let said = ContactDetails { language: Some(language.clone()), ..ContactDetails::default() };
        details::update(tx, contact.id, &said, call.now)?;
    }
    let theirs = match said {
        Some(code) => Some(code),
        None => details::get(tx, contact.id)?.language,
    };
    let theirs = theirs.and_then(|code| Some((code.language()?, code.is_latin())));
    Ok(theirs.map_or_else(|| call.locale(), to_locale))
}

fn to_locale((language, is_latin): (Language, bool)) -> Locale {
    Locale::new(language, if is_latin { ScriptForm::Latin } else { ScriptForm::Native })
}

pub(super) fn render_reminder(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    contact: &Contact,
    voice: Locale,
) -> Result<String, ToolFailure> {
    Ok(render_dues(tx, call.book(), contact, voice)?)
}

fn render_dues(
    tx: &mut Tx<'_>,
    book: &Phrasebook,
    contact: &Contact,
    voice: Locale,
) -> crate::error::Result<String> {
    let profile = profile::get(tx)?;
    let fills = [
        ("name", PlaceholderValue::Text(&contact.name)),
        ("shop", PlaceholderValue::Text(upi::payee_name(&profile))),
        ("balance", PlaceholderValue::Money(contact.balance)),
    ];
    let render = |name: &str, fills: &[(&str, PlaceholderValue<'_>)]| {
        book.render(name, voice, fills).map_err(|error| Error::invalid(error.to_string()))
    };
    let dues = render("ledger-dues", &fills)?;
    match profile.upi.as_deref() {
        Some(upi) => {
            let how = render("ledger-dues-upi", &[("upi", PlaceholderValue::Text(upi))])?;
            Ok(format!("{dues} {how}"))
        }
        None => Ok(dues),
    }
}

/// The contact's number, if it is one that can be written to.
fn number(contact: &Contact) -> Option<String> {
    let phone = contact.phone.as_deref()?;
    ContactAddress::phone(phone).ok().map(|phone| phone.as_str().trim_start_matches('+').to_owned())
}

/// Opens the owner's own messenger with the words in it; sending them is the owner's act.
fn build_send_link(number: &str, words: &str, name: &str) -> Result<serde_json::Value, ToolFailure> {
    let url = format!("https://wa.me/{number}?text={}", upi::percent_encode(words));
    let link = [Attachment::Link { url, title: format!("WhatsApp: {name}") }];
    serde_json::to_value(link).map_err(|error| ToolFailure::permanent("not_shown", error.to_string()))
}

pub(crate) struct ReminderSentTool(pub(crate) LedgerServices);

impl WriteToolHandler for ReminderSentTool {
    /// The owner says that they have sent it, in the draft's words or others.
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let contact = contact_match::resolve_contact(tx, &call)?;
        let waiting = reminders::find_waiting(tx, contact.id)?;
        if waiting.is_none() {
            ensure_owes(&contact)?;
        }
        let reminder = match waiting {
            Some(reminder) => reminder,
            None => reminders::add(tx, call.booking_context().ids, call.now, contact.id, "", call.now)?,
        };
        reminders::end(tx, reminder.id, ReminderOutcome::Sent, call.now)?;
        let told =
            LedgerToolResult::default().with("contact", json!({ "id": contact.id, "name": contact.name }));
        Ok(told.with("name", contact.name.as_str()).phrase("reminded").build())
    }

    fn read_back(
        &self,
        permit: &Permit,
        _: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let contact = contact_match::resolve_contact(tx, &call)?;
        let is_kept = !reminders::may_remind(tx, contact.id, call.now, self.0.outbox.as_deref())?;
        Ok((!is_kept).then(|| "that they were reminded was not kept".to_owned()))
    }
}
