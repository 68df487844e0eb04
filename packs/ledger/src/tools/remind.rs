//! Words to somebody who pays late. They are drafted and shown to the owner, who sends them; nothing leaves from here.

use munshi_identity::Address;
use munshi_lang::{Fill, Form, Voice};
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{Done, Failure, Write};
use munshi_types::Money;
use munshi_types::attachment::{Attachment, FIELD};
use munshi_types::tier::LanguageCode;
use serde_json::json;

use super::call::{Call, Desk};
use super::told::Told;
use super::{person, upi};
use crate::books::contacts::Contact;
use crate::books::details::{self, Details};
use crate::books::profile;
use crate::books::reminders::{self, End};

pub(crate) struct DraftReminder(pub(crate) Desk);

impl Write for DraftReminder {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let contact = person::known(tx, &call)?;
        owes(&contact)?;
        if !reminders::may_remind(tx, contact.id, call.now)? {
            let what = format!("{} was reminded within the last three days", contact.name);
            return Err(Failure::surely("ledger_reminded_lately", what));
        }
        let voice = voice(tx, &call, &contact)?;
        let words = words(tx, &call, &contact, voice)?;
        // One draft at a time: what was drafted before is no longer what is owed.
        reminders::drop_waiting(tx, contact.id, call.now)?;
        let reminder = reminders::add(tx, call.writing().ids, call.now, contact.id, &words, call.now)?;
        let told = Told::default()
            .with("reminder", json!({ "id": reminder.id, "name": contact.name }))
            .with("name", contact.name.as_str())
            .with("draft", words.as_str())
            .money("balance", contact.balance)
            .say("draft");
        Ok(match number(&contact) {
            Some(number) => {
                told.with(FIELD, to_send(&number, &words, &contact.name)?).say("draft-send").done()
            }
            None => told.say("no-number").done(),
        })
    }

    fn read_back(&self, _: &Permit, done: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let id = done.value.pointer("/reminder/id").and_then(|id| id.as_str()?.parse().ok());
        let found = id.map(|id| reminders::find(tx, id)).transpose()?.flatten();
        let told = done.value.get("draft").and_then(|draft| draft.as_str());
        let is_kept = found.is_some_and(|kept| told == Some(kept.words.as_str()) && kept.state == "waiting");
        Ok((!is_kept).then(|| "the draft was not kept".to_owned()))
    }
}

/// Whoever owes nothing is not reminded.
fn owes(contact: &Contact) -> Result<(), Failure> {
    if contact.balance > Money::ZERO {
        return Ok(());
    }
    let what = format!("{} owes nothing, so there is nothing to remind of", contact.name);
    Err(Failure::surely("ledger_owes_nothing", what))
}

/// The language that was asked for, from then on theirs; or theirs; or that of the one who asks.
fn voice(tx: &mut Tx<'_>, call: &Call<'_>, contact: &Contact) -> Result<Voice, Failure> {
    let said = call.text("language").and_then(|code| code.parse::<LanguageCode>().ok());
    if let Some(language) = &said {
        let said = Details { language: Some(language.clone()), ..Details::default() };
        details::put(tx, contact.id, &said, call.now)?;
    }
    let theirs = match said {
        Some(code) => Some(code),
        None => details::of(tx, contact.id)?.language,
    };
    let theirs = theirs.and_then(|code| Some((code.language()?, code.is_latin())));
    Ok(theirs.map_or_else(
        || call.voice(),
        |(language, latin)| Voice::new(language, if latin { Form::Latin } else { Form::Native }),
    ))
}

fn words(tx: &mut Tx<'_>, call: &Call<'_>, contact: &Contact, voice: Voice) -> Result<String, Failure> {
    let profile = profile::get(tx)?;
    let fills = [
        ("name", Fill::Text(&contact.name)),
        ("shop", Fill::Text(upi::shop(&profile))),
        ("balance", Fill::Money(contact.balance)),
    ];
    let dues = call.phrase(voice, "dues", &fills)?;
    match profile.upi.as_deref() {
        Some(upi) => {
            let how = call.phrase(voice, "dues-upi", &[("upi", Fill::Text(upi))])?;
            Ok(format!("{dues} {how}"))
        }
        None => Ok(dues),
    }
}

/// The contact's number, if it is one that can be written to.
fn number(contact: &Contact) -> Option<String> {
    let phone = contact.phone.as_deref()?;
    Address::phone(phone).ok().map(|phone| phone.as_str().trim_start_matches('+').to_owned())
}

/// Opens the owner's own messenger with the words in it; sending them is the owner's act.
fn to_send(number: &str, words: &str, name: &str) -> Result<serde_json::Value, Failure> {
    let url = format!("https://wa.me/{number}?text={}", upi::encoded(words));
    let link = [Attachment::Link { url, title: format!("WhatsApp: {name}") }];
    serde_json::to_value(link).map_err(|error| Failure::surely("not_shown", error.to_string()))
}

pub(crate) struct ReminderSent(pub(crate) Desk);

impl Write for ReminderSent {
    /// The owner says that they have sent it, in the draft's words or others.
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let contact = person::known(tx, &call)?;
        let waiting = reminders::waiting(tx, contact.id)?;
        if waiting.is_none() {
            owes(&contact)?;
        }
        let reminder = match waiting {
            Some(reminder) => reminder,
            None => reminders::add(tx, call.writing().ids, call.now, contact.id, "", call.now)?,
        };
        reminders::end(tx, reminder.id, End::Sent, call.now)?;
        let told = Told::default().with("contact", json!({ "id": contact.id, "name": contact.name }));
        Ok(told.with("name", contact.name.as_str()).say("reminded").done())
    }

    fn read_back(&self, permit: &Permit, _: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let call = self.0.call(permit, tx)?;
        let contact = person::known(tx, &call)?;
        let is_kept = !reminders::may_remind(tx, contact.id, call.now)?;
        Ok((!is_kept).then(|| "that they were reminded was not kept".to_owned()))
    }
}
